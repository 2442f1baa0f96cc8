"""The tables of results.md, from rows."""

import statistics
from collections.abc import Callable, Iterable
from typing import Any

Row = dict[str, Any]

#: Half the width of a 95 % interval of a mean, in standard errors: Student's t for so many values, less one.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
#: How soon this accuracy is reached is measured, on what was not trained with; by model, in their order.
TARGETS = {"mlp": 0.95, "conv": 0.95, "text": 0.28}

HEAD = """# Training on good and bad networks

Written by `tests/training/run`, as are `curves.png` and `runs.jsonl`, which has every run with its curve. {runs}

{ranks} ranks, unless said otherwise, on hosts of their own (namespaces) joined by `badnet`, MTU 1500.

- `mlp` (64-128-10) and `conv` (two convolutional layers and one other): handwritten digits, 8x8, 1440 to train with and 357 to test with, 32 per rank and
  step, SGD with momentum. Both have about ten thousand parameters, so a bucket is some 30 packets, a shard about 7.
- `text`: a transformer of a million parameters (five layers, 4 MiB of gradients in several buckets) that continues this repository's documentation character by
  character, 4 passages of 64 characters per rank and step, AdamW; the last tenth of the text is for testing.
"""

ACCURACY = """
## Accuracy when packets are lost

Accuracy in % (of `text`: of the characters that follow) on what is for testing, after the last of {steps} steps, mean over seeds and its 95 % interval (Student's t). Lost: of the
bytes that ranks were to receive, what did not come before the deadline of {bound} ms; it has the packets that the network
drops, and those that a busy machine delivers too late. Skipped: steps in which rank 0 left something out, since more than 10 % was lost and could not be fetched. Halts:
skipped steps after two others, where a job would have ended; here it goes on. Replicas are made the same after the last step only. Settle: the largest difference of a parameter
between two ranks before `settle`, of all seeds; after: after it. 0 is the same to the bit.
"""

TIME = """
## Time to accuracy

Seconds until {targets} of what is for testing is right, median over seeds (least to most); in brackets how many seeds got
there in {steps} steps, if not all did. Of optireduce the deadline is what the ranks measure, as by default. `loss1`: 1 % of the packets are lost.
`loss0.1`: 0.1 %. `outages`: a link loses everything for 5 ms on average, once a second.
`delay3`: delays with a median of 200 us and a P99 of 3 times that; `delay1.5`: of 1.5 times; `loss1-delay3`: 1 % of loss and `delay3`. `straggler`: a rank is 50 ms late in 1 of 10 steps. `optireduce-tcp`: its TCP engine, which waits for
everything, as Gloo does. `gloo-tuned`: TCP may send again after 5 ms instead of 200 ms.

![Loss and accuracy over time](curves.png)
"""


STEPS = """
## Time per step, buckets of 25 MiB

A perceptron whose two inner layers have 25 MiB of gradients each, which DDP reduces in buckets as they come, on a clean network; of each of {steps} steps the slowest rank,
after the first {untimed}; milliseconds, of all seeds. Goal: no more than Gloo.
"""

KILLED = """
## A rank is killed

The last rank ends without a word; the others are to go on.
"""


def interval(values: list[float]) -> str:
    """Mean and 95 % interval, of shares in percent."""
    values = [100 * one for one in values]
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.2f}"
    quantile = STUDENT[len(values) - 2] if len(values) - 2 < len(STUDENT) else 2.26
    return f"{mean:.2f} ± {quantile * statistics.stdev(values) / len(values) ** 0.5:.2f}"


def seconds_to(row: Row, target: float) -> float | None:
    return next((seconds for _, seconds, _, accuracy in row["curve"] if accuracy >= target), None)


def time_cell(rows: list[Row]) -> str:
    reached = sorted(one for one in (seconds_to(row, TARGETS[row["model"]]) for row in rows) if one is not None)
    if not reached:
        return f"none of {len(rows)}"
    text = f"{statistics.median(reached):.2f}"
    text += f" ({reached[0]:.2f} to {reached[-1]:.2f})" if len(reached) > 1 else ""
    return text if len(reached) == len(rows) else f"{text} [{len(reached)} of {len(rows)}]"


def distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def either(values: Iterable[Any]) -> str:
    return " or ".join(map(str, sorted(distinct(values))))


def steps(rows: list[Row]) -> str:
    return either(row["steps"] for row in rows)


def table(head: list[str], lines: Iterable[list[str]]) -> str:
    written = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in written) + "\n"


def network(row: Row, rows: list[Row]) -> str:
    """What was between the ranks, and how many there were, where that differs."""
    return row["condition"] if row["ranks"] == rows[0]["ranks"] else f"{row['condition']}, {row['ranks']} ranks"


def accuracy(rows: list[Row]) -> str:
    lines = []

    def key(row: Row) -> tuple[str, ...]:
        return row["model"], network(row, rows), row["contender"]

    for model, condition, contender in distinct(map(key, rows)):
        chosen = [row for row in rows if key(row) == (model, condition, contender)]
        said: list[Callable[[str], str]] = [
            lambda key: f"{100 * statistics.fmean(row[key] for row in chosen):.2f} %",
            lambda key: f"{statistics.fmean(row[key] for row in chosen):.1f}",
        ]
        is_bounded = chosen[0]["backend"] == "optireduce"
        losses = [said[0]("lost"), said[1]("skipped"), said[1]("halts")] if is_bounded else ["", "", ""]
        differences = [max(row[name] for row in chosen) for name in ("difference_before", "difference_max")]
        result = [str(len(chosen)), interval([row["accuracy"] for row in chosen]), *losses]
        result += [f"{difference:.1e}" if difference else "0" for difference in differences]
        lines.append([model, condition, contender, *result])
    lines.sort(key=lambda line: (list(TARGETS).index(line[0]), float(line[1].split()[0])))
    return table(["model", "packets dropped", "all-reduce", "seeds", "accuracy", "lost", "skipped", "halts", "settle", "after"], lines)


def time(rows: list[Row]) -> str:
    contenders, lines = distinct(row["contender"] for row in rows), []
    for model, condition in distinct((row["model"], network(row, rows)) for row in rows):
        cells = []
        for contender in contenders:
            chosen = [row for row in rows if (row["model"], network(row, rows), row["contender"]) == (model, condition, contender)]
            cells.append(time_cell(chosen) if chosen else "not run")
        lines.append([model, condition, *cells])
    lines.sort(key=lambda line: list(TARGETS).index(line[0]))
    bounded = [row for row in rows if row["backend"] == "optireduce"]
    before, after = ([row[name] for row in bounded if row[name]] for name in ("difference_before", "difference_max"))
    differing = f"Replicas of optireduce differed in {len(before)} of {len(bounded)} runs before `settle`, by at most {max(before, default=0):.1e}"
    return table(["model", "network", *contenders], lines) + f"\n{differing}; after it in {len(after)}.\n"


def killed(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        ended = f"ended: {row['ended_by']}" if "ended_by" in row else f"went on with {row['live_ranks']} ranks"
        accuracy = "" if "ended_by" in row else f"{100 * row['accuracy']:.2f} %"
        lines.append([row["contender"], str(row["killed_at"]), ended, str(row["steps"]), accuracy])
    return table(["all-reduce", "killed before step", "the job", "steps", "accuracy"], lines)


def steps_with_large_buckets(rows: list[Row]) -> str:
    def times(contender: str, name: str) -> list[float]:
        found = (row["step_ms"] for row in rows if (row["contender"], network(row, rows)) == (contender, name))
        return sorted(one for step_ms in found for one in step_ms)

    lines = []
    for contender, name in distinct((row["contender"], network(row, rows)) for row in rows):
        ms, gloo = times(contender, name), times("gloo", name)
        lost = [row["lost"] for row in rows if (row["contender"], network(row, rows)) == (contender, name)]
        ratio = f"{statistics.median(ms) / statistics.median(gloo):.2f}" if gloo else ""
        p90 = ms[min(len(ms) - 1, int(0.9 * len(ms)))]
        numbers = [f"{one:.0f}" for one in (statistics.median(ms), ms[0], p90)]
        lines.append([name, contender, str(len(ms)), *numbers, ratio, f"{100 * statistics.fmean(lost):.2f} %"])
    return table(["network", "all-reduce", "steps", "p50 ms", "least", "p90 ms", "p50 of Gloo's", "lost"], lines)


def markdown(rows: list[Row], note: str) -> str:
    """All of results.md."""
    good = [row for row in rows if "failed" not in row]
    failed = [row for row in rows if "failed" in row]
    if not good:
        return "# Training on good and bad networks\n\nNo run ended well.\n" + failures(failed)
    kinds = {what: [row for row in good if row["what"] == what and row["killed_at"] is None] for what in ("accuracy", "time")}
    dead = [row for row in good if row["killed_at"] is not None]
    text = HEAD.format(runs=f"{note}".strip(), ranks=good[0]["ranks"])
    if kinds["accuracy"]:
        bounds = distinct(row["settings"]["bound_ms"] for row in kinds["accuracy"] if row["settings"])
        text += ACCURACY.format(bound=either(bounds), steps=steps(kinds["accuracy"])) + "\n" + accuracy(kinds["accuracy"])
    if kinds["time"]:
        targets = ", ".join(f"{100 * TARGETS[model]:.0f} % (`{model}`)" for model in TARGETS if model in {row["model"] for row in kinds["time"]})
        text += TIME.format(targets=targets, steps=steps(kinds["time"])) + "\n" + time(kinds["time"])
    if large := [row for row in good if row["what"] == "steps"]:
        untimed = large[0]["steps"] - len(large[0]["step_ms"])
        text += STEPS.format(steps=steps(large), untimed=untimed) + "\n" + steps_with_large_buckets(large)
    if dead:
        text += KILLED + "\n" + killed(dead)
    return text + failures(failed)


def failures(rows: list[Row]) -> str:
    if not rows:
        return ""
    lines = [[row["what"], row["condition"], row["contender"], row["model"], str(row["seed"]), cause(row["failed"])] for row in rows]
    return "\n## Failed\n\n" + table(["what", "network", "all-reduce", "model", "seed", "last line"], lines)


def cause(text: str) -> str:
    return (text.splitlines() or [""])[-1].replace("|", "/").strip()[:200]
