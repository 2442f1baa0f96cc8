"""Loss and accuracy over time, of all contenders."""

import pathlib
import statistics
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

#: Told apart by the colour-blind.
COLOURS = {"optireduce": "#0072B2", "optireduce-tcp": "#CC79A7", "gloo": "#D55E00", "gloo-tuned": "#009E73"}


def plot(rows: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Writes a picture: a column per network, two rows of panels per model, a thin line per seed.

    Without rows, removes the picture.
    """
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


#: Panels of the front page: condition and title.
FRONT = {"clean": "clean network", "loss1": "1 % loss", "loss1-delay3": "1 % loss, delays (P99/P50 = 3)"}
NAMES = {
    "optireduce": "OptiReduce (bounded)",
    "optireduce-tcp": "our exact TCP engine",
    "gloo": "Gloo",
    "gloo-tuned": "Gloo, tuned TCP",
}


def front(rows: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Writes the picture of the README: test loss of the transformer over time on three networks.

    A thick line is the median over seeds, at each step; thin lines are single seeds.
    """
    rows = [row for row in rows if row["model"] == "text" and row["condition"] in FRONT]
    if not rows:
        path.unlink(missing_ok=True)
        return
    figure, panels = plt.subplots(1, len(FRONT), figsize=(10.5, 3.4), sharey=True)
    for (condition, title), panel in zip(FRONT.items(), panels):
        for contender, name in NAMES.items():
            curves = [one["curve"] for one in rows if (one["condition"], one["contender"]) == (condition, contender)]
            for curve in curves:
                panel.plot([point[1] for point in curve], [point[2] for point in curve], color=COLOURS[contender], linewidth=0.6, alpha=0.4)
            # Points of equal steps, one of each seed.
            steps = list(zip(*curves))
            seconds, losses = ([statistics.median(point[key] for point in points) for points in steps] for key in (1, 2))
            bold = 2.6 if contender == "optireduce" else 1.8
            panel.plot(seconds, losses, color=COLOURS[contender], linewidth=bold, label=name)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("seconds", fontsize=9)
        panel.set_xlim(left=0)
        panel.tick_params(labelsize=8)
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("test loss of a transformer", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(NAMES), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)
