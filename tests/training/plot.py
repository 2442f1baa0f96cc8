"""Loss and accuracy over time, of all contenders."""

import pathlib
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

#: Told apart by the colour-blind.
COLOURS = {"optireduce": "#0072B2", "optireduce-tcp": "#CC79A7", "gloo": "#D55E00", "gloo-tuned": "#009E73"}


def plot(rows: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Writes a picture: a column per network, two lines of panels per model; a thin line per seed. Nothing if there are no rows."""
    if not rows:
        path.unlink(missing_ok=True)
        return
    networks, models = (list(dict.fromkeys(row[key] for row in rows)) for key in ("condition", "model"))
    lines = [(model, value) for model in models for value in ("loss", "accuracy")]
    size = (3.2 * len(networks) + 1, 2.3 * len(lines) + 0.6)
    figure, panels = plt.subplots(len(lines), len(networks), figsize=size, squeeze=False, sharey="row")
    for number, ((model, value), line) in enumerate(zip(lines, panels)):
        for network, panel, above in zip(networks, line, panels[number - 1]):
            # A model's loss and accuracy have one time; another model takes longer.
            if value == "accuracy":
                panel.sharex(above)
            shown = [one for one in rows if (one["model"], one["condition"]) == (model, network)]
            panel.set_visible(bool(shown))
            for row in shown:
                seconds = [point[1] for point in row["curve"]]
                values = [point[2] if value == "loss" else 100 * point[3] for point in row["curve"]]
                panel.plot(seconds, values, color=COLOURS[row["contender"]], linewidth=0.9, alpha=0.8, label=row["contender"])
            if value == "loss":
                panel.set_yscale("log")
                panel.set_title(f"{model}, {network}", fontsize=9)
            panel.set_xlabel("seconds", fontsize=8)
            panel.tick_params(labelsize=7)
            panel.grid(alpha=0.3)
        line[0].set_ylabel("loss in tests" if value == "loss" else "accuracy in tests, %", fontsize=8)
    handles = {label: handle for panel in panels.flat for handle, label in zip(*panel.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=len(handles), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    figure.savefig(path, dpi=110)
    plt.close(figure)
