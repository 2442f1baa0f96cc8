"""The tables of stragglers.md and its plot, from rows."""

import pathlib
import statistics
from collections.abc import Callable
from typing import Any

from tables import cause, distinct, interval, seconds_to, table

Row = dict[str, Any]

#: How soon this accuracy is reached is measured, on images that were not trained with.
TARGET = 0.92

HEAD = """# Training with slow workers

Written by `tests/training/stragglers`, with `stragglers.png` and `stragglers.jsonl`, which has
every run with its curve.
{note}

Handwritten digits, a perceptron (64-128-10), SGD with momentum, 32 images per worker and step. Four
fifths of a worker's images are of digits that few others have. **Computing is emulated:** a step
sleeps 20 ms. The last worker is 2 or 4 times slower (`slow2`, `slow4`); in `stalls` each worker
sleeps 200 ms more in one of 50 steps. These conditions run over loopback. `tail` and `slow4-tail`
run on `badnet`, with 1 % loss and delays with a P99 of 3 times the median.

| contender | |
| --- | --- |
| all-reduce | DDP over Gloo, exact |
| bounded | DDP over optireduce, measured bound |
| bounded-25ms | the same, with a bound a little longer than a step |
| partial | Partial Reduce in groups of half the workers, dynamic weights |
| partial-constant | the same, constant weights |

Curves and accuracies are of the mean of the workers' models. All runs of a condition take the same
time, not the same steps.
"""

TIME = """
## Seconds to {target:.0f} %

Median over seeds (least to most); in brackets the number of seeds that reached it, if not all.
Behind it, the speed-up over all-reduce. `use`: the fastest contender with all seeds, or all-reduce
if none is 10 % faster.

"""

ACCURACY = """
## Accuracy at the end

Test accuracy in %, mean over seeds with its 95 % interval (Student's t).

"""

STEPS = """
## Steps

Steps of all workers together, mean over seeds. In brackets: steps skipped for too much loss.

"""

#: Told apart by the colour-blind.
COLOURS = {
    "all-reduce": "#D55E00",
    "bounded": "#0072B2",
    "bounded-25ms": "#56B4E9",
    "partial": "#009E73",
    "partial-constant": "#CC79A7",
}


def chosen(rows: list[Row], *key: Any) -> list[Row]:
    return [row for row in rows if (row["workers"], row["condition"], row["contender"]) == key]


def places(rows: list[Row]) -> list[tuple[int, str]]:
    return distinct((row["workers"], row["condition"]) for row in rows)


def median_time(rows: list[Row]) -> float | None:
    """Median over the runs that reached the accuracy; `None` if fewer than half did."""
    reached = [one for one in (seconds_to(row, TARGET) for row in rows) if one is not None]
    return statistics.median(reached) if 2 * len(reached) > len(rows) else None


def time_cell(rows: list[Row], beside: list[Row]) -> str:
    reached = sorted(one for one in (seconds_to(row, TARGET) for row in rows) if one is not None)
    if not rows:
        return "not run"
    if not reached:
        return f"none of {len(rows)}"
    text = f"{statistics.median(reached):.1f}"
    text += f" ({reached[0]:.1f} to {reached[-1]:.1f})" if len(reached) > 1 else ""
    text += "" if len(reached) == len(rows) else f" [{len(reached)} of {len(rows)}]"
    own, other = median_time(rows), median_time(beside)
    return f"{text}; {other / own:.2f}x" if own and other and rows is not beside else text


def times(rows: list[Row]) -> str:
    contenders, lines = distinct(row["contender"] for row in rows), []
    for workers, condition in places(rows):
        found = {contender: chosen(rows, workers, condition, contender) for contender in contenders}
        beside = found.get("all-reduce", [])
        cells = [time_cell(own, beside) for own in found.values()]
        lines.append([str(workers), condition, *cells, advice(found)])
    return table(["workers", "condition", *contenders, "use"], lines)


def advice(found: dict[str, list[Row]]) -> str:
    """The fastest contender with all seeds, or all-reduce if none is 10 % faster."""
    reached = {}
    for contender, own in found.items():
        times = [seconds_to(row, TARGET) for row in own]
        if own and None not in times:
            reached[contender] = statistics.median(times)
    if not reached:
        return ""
    best = min(reached, key=reached.get)
    is_close = "all-reduce" in reached and reached["all-reduce"] < 1.1 * reached[best]
    return "all-reduce" if is_close else best


def across(rows: list[Row], cell: Callable[[list[Row]], str]) -> str:
    """A table of contenders by number of workers and condition."""
    contenders, lines = distinct(row["contender"] for row in rows), []
    for workers, condition in places(rows):
        found = [chosen(rows, workers, condition, contender) for contender in contenders]
        lines.append([str(workers), condition, *(cell(own) if own else "not run" for own in found)])
    return table(["workers", "condition", *contenders], lines)


def accuracies(rows: list[Row]) -> str:
    return across(rows, lambda own: interval([row["accuracy"] for row in own]))


def steps(rows: list[Row]) -> str:
    def cell(own: list[Row]) -> str:
        skipped = statistics.fmean(row["noted"][0]["skipped"] for row in own) if own[0]["backend"] == "optireduce" else 0
        return f"{statistics.fmean(sum(row['steps']) for row in own):.0f}" + (f" [{skipped:.0f}]" if skipped >= 0.5 else "")

    return across(rows, cell)


def markdown(rows: list[Row], note: str) -> str:
    """All of stragglers.md."""
    good, failed = ([row for row in rows if ("failed" in row) == is_failed] for is_failed in (False, True))
    text = HEAD.format(note=note.strip())
    if good:
        text += TIME.format(target=100 * TARGET) + times(good) + "\n![Accuracy over time](stragglers.png)\n"
        text += ACCURACY + accuracies(good) + STEPS + steps(good)
    if failed:
        lines = [[str(row["workers"]), row["condition"], row["contender"], str(row["seed"]), cause(row["failed"])] for row in failed]
        text += "\n## Failed\n\n" + table(["workers", "condition", "contender", "seed", "last line"], lines)
    return text


def plot(rows: list[Row], path: pathlib.Path) -> None:
    """Writes a picture: a column per condition, a row per number of workers, a thin line per seed.

    Without rows, removes the picture.
    """
    if not rows:
        path.unlink(missing_ok=True)
        return
    # So that the tables need no matplotlib.
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sizes, conditions = (list(dict.fromkeys(row[key] for row in rows)) for key in ("workers", "condition"))
    size = (2.7 * len(conditions) + 1, 2.4 * len(sizes) + 0.6)
    figure, panels = plt.subplots(len(sizes), len(conditions), figsize=size, squeeze=False, sharey=True)
    for workers, line in zip(sizes, panels):
        for condition, panel in zip(conditions, line):
            own = [row for row in rows if (row["workers"], row["condition"]) == (workers, condition)]
            panel.set_visible(bool(own))
            for row in own:
                seconds, values = ([point[at] for point in row["curve"]] for at in (1, 3))
                values = [100 * value for value in values]
                panel.plot(seconds, values, color=COLOURS[row["contender"]], linewidth=0.9, alpha=0.8, label=row["contender"])
            panel.axhline(100 * TARGET, color="grey", linewidth=0.6, linestyle=":")
            panel.set_title(f"{workers} workers, {condition}", fontsize=9)
            panel.set_xlabel("seconds", fontsize=8)
            panel.set_ylim(40, 100)
            panel.tick_params(labelsize=7)
            panel.grid(alpha=0.3)
        line[0].set_ylabel("accuracy in tests, %", fontsize=8)
    handles = {label: handle for panel in panels.flat for handle, label in zip(*panel.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=len(handles), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    figure.savefig(path, dpi=110)
    plt.close(figure)
