"""The tables of stragglers.md and its plot, from rows."""

import pathlib
import statistics
from typing import Any

from tables import cause, distinct, interval, seconds_to, table

Row = dict[str, Any]

#: How soon this accuracy is reached is measured, on images that were not trained with.
TARGET = 0.92

HEAD = """# Training with slow workers

Written by `tests/training/stragglers`, as are `stragglers.png` and `stragglers.jsonl`, which has every run with its curve. {note}

Handwritten digits (8x8, 1440 to train with, 357 to test with), a perceptron 64-128-10, SGD with momentum 0.9 and rate 0.1, 32 images
per worker and step. Shards are not alike: four fifths of a worker's images are of digits that few others have. **Computing is
emulated**: a step sleeps 20 ms, the last worker's 2 or 4 times as long (`slow2`, `slow4`); in `stalls` each worker sleeps 200 ms more in one of
50 steps, by its seed. Those run on the loopback interface, `tail` and `slow4-tail` on `badnet`: 1 % of the packets are lost, delays have a median of
200 us and a P99 of 3 times that.

| contender | |
| --- | --- |
| all-reduce | DDP over Gloo: every step waits for everybody |
| bounded | DDP over optireduce as it comes: the ranks measure the deadline of a stage, and more than 10 % of loss skips an update |
| bounded-25ms | the same with a deadline that is a little longer than a step |
| partial | Partial Reduce in groups of half the workers (P = 2 of 4, 4 of 8), dynamic weights, guard on (`sync_bound` 2) |
| partial-constant | the same, all models of a group count the same |

A curve is that of the mean of the workers' models, as they were at that time; all runs of a condition take as long.
"""

TIME = """
## Seconds to {target:.0f} %

Median over seeds (least to most); in brackets how many seeds got there, if not all did. Beside it, how many times sooner than all-reduce.

"""

ACCURACY = """
## Accuracy at the end

In % on the images for testing, mean over seeds and its 95 % interval (Student's t): of the mean of the workers' models; in brackets the
least of the workers' own models, mean over seeds. All after the same time, not the same steps.

"""

STEPS = """
## Steps

Of all workers together, of the slow or last one, and what became of them, mean over seeds. Lost: of the bytes that ranks were to receive.
Halts: of rank 0, updates that were skipped after two others, where a job would have ended; here it goes on. Waited: for a group, by
workers other than the last, per step.

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
    """Of the runs that reached the accuracy; `None`: fewer than half did."""
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
        beside = chosen(rows, workers, condition, "all-reduce")
        cells = []
        for contender in contenders:
            own = beside if contender == "all-reduce" else chosen(rows, workers, condition, contender)
            cells.append(time_cell(own, beside))
        lines.append([str(workers), condition, *cells])
    return table(["workers", "condition", *contenders], lines)


def accuracies(rows: list[Row]) -> str:
    contenders, lines = distinct(row["contender"] for row in rows), []
    for workers, condition in places(rows):
        cells = []
        for contender in contenders:
            own = chosen(rows, workers, condition, contender)
            least = statistics.fmean(min(row["own_accuracies"]) for row in own) if own else 0
            cells.append(f"{interval([row['accuracy'] for row in own])} ({100 * least:.1f})" if own else "not run")
        lines.append([str(workers), condition, *cells])
    return table(["workers", "condition", *contenders], lines)


def steps(rows: list[Row]) -> str:
    lines = []
    for workers, condition, contender in distinct((row["workers"], row["condition"], row["contender"]) for row in rows):
        own = chosen(rows, workers, condition, contender)
        of_all, of_last = (f"{statistics.fmean(one):.0f}" for one in ([sum(row["steps"]) for row in own], [row["steps"][-1] for row in own]))
        first = [row["noted"][0] for row in own]
        lost = skipped = halts = waited = ""
        if own[0]["backend"] == "optireduce":
            lost = f"{100 * statistics.fmean(one['lost'] for row in own for one in row['noted']):.1f} %"
            skipped, halts = (f"{statistics.fmean(one[name] for one in first):.0f}" for name in ("skipped", "halts"))
        if own[0]["backend"] == "partial":
            waited = f"{statistics.fmean(one['waited_ms'] for row in own for one in row['noted'][:-1]):.1f} ms"
        lines.append([str(workers), condition, contender, of_all, of_last, lost, skipped, halts, waited])
    return table(["workers", "condition", "contender", "steps", "of the last", "lost", "skipped", "halts", "waited"], lines)


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
    """Writes a picture: a column per condition, a line of panels per number of workers; a thin line per seed. Nothing if there are no rows."""
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
