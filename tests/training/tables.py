"""The tables of results.md, from rows."""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

Row = dict[str, Any]

#: Student's t (95 %) for 2 to 10 values: half the interval, in standard errors.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
#: Test accuracy whose time is measured, by model; rows follow this order.
TARGETS = {"mlp": 0.95, "conv": 0.95, "text": 0.28}

HEAD = """# Training on good and bad networks

Written by `tests/training/run`, with `curves.png`, `front.png` and `runs.jsonl`, which has every
run with its curve.
{runs}

{ranks} ranks, unless stated otherwise, on hosts of their own (namespaces) joined by `badnet`, MTU
1500.

- `mlp` (64-128-10) and `conv` (two convolutional layers and a linear one): handwritten digits, 1440
  for training and 357 for testing, 32 per rank and step, SGD with momentum. A bucket is about 30
  packets.
- `text`: a transformer of a million parameters, 4 MiB of gradients in several buckets, on 200 KB of
  READMEs ([frozen](../../host-lib/python/examples/data/README.md)), 4 passages of 64 characters per
  rank and step, AdamW.
"""

ACCURACY = """
## Accuracy when packets are lost

Test accuracy in % after {steps} steps (`text`: of next characters), mean over seeds with its
95 % interval (Student's t). In brackets: mean number of steps without a full
gradient on rank 0, since more than 10 % was lost and not repaired. Runs continue after a halt.
Lost: mean share of bytes that missed the deadline of {bound} ms.

Hadamard encodes gradients, so that lost packets become a little noise everywhere; `auto` does this
once more than 2 % is lost. With repair, a rank fetches the lost parts of a mean. At the end,
`settle` makes replicas equal. See [gradients](../../host-lib/python/README.md#gradients).
"""

TIME = """
## Time to accuracy

Seconds until the test accuracy is {targets}. Median over
seeds, with least and most; in brackets the number of seeds that reached it in {steps} steps, if
not all. The bound is measured, as by default. Seeds:
{seeds}.

Networks: `loss0.1` and `loss1` lose 0.1 and 1 % of the packets. `outages`: each link loses
everything for 5 ms, once a second. `delay1.5` and `delay3`: delays with a median of 200 us and a
P99/P50 of 1.5 and 3. `straggler`: one rank is 50 ms late in 1 of 10 steps.

Contenders: `optireduce-tcp` is our exact TCP engine. `gloo-tuned` is Gloo over TCP with a minimum
retransmission timeout of 5 ms instead of 200 ms. The column `use` names the best exact contender
unless `optireduce` is at least 10 % faster. The factor is the speed-up of `optireduce` over
the best exact contender. "Within the spread": single runs of the two overlap.

![Loss and accuracy over time](curves.png)
"""


STEPS = """
## Time per step, buckets of 25 MiB

A perceptron with two layers of 25 MiB of gradients each, on a clean network. Each of {steps} steps
counts by its slowest rank, without the first {untimed}. A row has {runs} runs, and `steps`
counts the steps of all of them.
"""

KILLED = """
## A rank is killed

One run of {models} each, without torchrun, which would end the job.
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


def seeds(rows: list[Row]) -> str:
    """Number of seeds per row of a table, by model and number of ranks."""
    counts = Counter((row["model"], row["ranks"], row["condition"], row["contender"]) for row in rows)
    found: dict[str, list[str]] = {}
    for group in distinct(key[:2] for key in counts):
        model, ranks = group
        number = either(count for key, count in counts.items() if key[:2] == group)
        found.setdefault(number, []).append(f"`{model}`" if ranks == rows[0]["ranks"] else f"`{model}` with {ranks} ranks")
    return "; ".join(f"{number} ({', '.join(names)})" for number, names in found.items())


def network(row: Row, rows: list[Row]) -> str:
    """Name of the network, with the number of ranks if it differs from the first row's."""
    return row["condition"] if row["ranks"] == rows[0]["ranks"] else f"{row['condition']}, {row['ranks']} ranks"


def accuracy(rows: list[Row]) -> str:
    contenders, lines = distinct(row["contender"] for row in rows), []
    for model, condition in distinct((row["model"], network(row, rows)) for row in rows):
        here = [row for row in rows if (row["model"], network(row, rows)) == (model, condition)]
        cells = []
        for contender in contenders:
            chosen = [row for row in here if row["contender"] == contender]
            skipped = statistics.fmean(row["skipped"] for row in chosen) if chosen else 0
            note = f" [{skipped:.1f}]" if skipped else ""
            cells.append(interval([row["accuracy"] for row in chosen]) + note if chosen else "")
        bounded = [row["lost"] for row in here if row["backend"] == "optireduce"]
        lost = f"{100 * statistics.fmean(bounded):.1f} %" if bounded else ""
        seeds = either(sum(row["contender"] == contender for row in here) for contender in distinct(row["contender"] for row in here))
        lines.append([model, condition, seeds, *cells, lost])
    lines.sort(key=lambda line: (list(TARGETS).index(line[0]), float(line[1].split()[0])))
    heads = [contender.removeprefix("optireduce, ") for contender in contenders]
    text = table(["model", "packets dropped", "seeds", *heads, "lost"], lines)
    repaired, other = ([row for row in rows if row["settings"].get("repair") in values] for values in ((True, "this_update"), (False, "off")))
    before = [max((row["difference_before"] for row in some), default=0) for some in (repaired, other)]
    after = sum(row["difference_max"] > 0 for row in rows)
    few = [f"`{model}`" for model in distinct(line[0] for line in lines if int(line[2].split()[0]) < 3)]
    compare = f"Accuracies of {', '.join(few)} are of fewer than three seeds: too few to compare.\n\n" if few else ""
    return (
        f"{text}\n{compare}Largest difference of a parameter between replicas before `settle`: {before[0]:.1g} with repair,\n{before[1]:.1g} "
        f"without. After `settle` replicas differed in {after} of {len(rows)} runs.\n"
    )


def time(rows: list[Row]) -> str:
    contenders, lines = distinct(row["contender"] for row in rows), []
    for model, condition in distinct((row["model"], network(row, rows)) for row in rows):
        cells = []
        for contender in contenders:
            chosen = [row for row in rows if (row["model"], network(row, rows), row["contender"]) == (model, condition, contender)]
            cells.append(time_cell(chosen) if chosen else "not run")
        here = [row for row in rows if (row["model"], network(row, rows)) == (model, condition)]
        lines.append([model, condition, *cells, advice(here)])
    lines.sort(key=lambda line: list(TARGETS).index(line[0]))
    bounded = [row for row in rows if row["backend"] == "optireduce"]
    before, after = ([row[name] for row in bounded if row[name]] for name in ("difference_before", "difference_max"))
    differing = f"Replicas of optireduce differed in {len(before)} of {len(bounded)} runs before `settle`,\nby at most {max(before, default=0):.1e}"
    return table(["model", "network", *contenders, "use"], lines) + f"\n{differing}, and in {len(after)} after it.\n"


def advice(rows: list[Row]) -> str:
    """Names optireduce if it is 10 % faster than the best exact contender, else that contender."""
    names = distinct(row["contender"] for row in rows)
    times = {name: [seconds_to(row, TARGETS[row["model"]]) for row in rows if row["contender"] == name] for name in names}
    reached = {name: [one for one in of if one is not None] for name, of in times.items() if None not in of}
    exact = [(statistics.median(of), name) for name, of in reached.items() if name != "optireduce"]
    if "optireduce" not in reached or not exact:
        return ""
    if "optireduce-tcp" not in names:
        return "open: optireduce-tcp not run"
    ours, (best, name) = reached["optireduce"], min(exact)
    factor = best / statistics.median(ours)
    if factor < 1.1:
        return f"{name} ({factor:.2f}x)"
    return f"optireduce {factor:.2f}x" + (" (within the spread)" if max(ours) > min(reached[name]) else "")


def error_name(text: str) -> str:
    """The class of an exception, or the cause that Gloo reports."""
    found = re.search(r"\b[A-Z]\w*Error\b", text) or re.search("connection [a-z ]+", text.lower())
    return found[0] if found else text[:60]


def killed(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        ended = f"ended: {error_name(row['ended_by'])}" if "ended_by" in row else f"continued with {row['live_ranks']} ranks"
        accuracy = "" if "ended_by" in row else f"{100 * row['accuracy']:.2f} %"
        lines.append([row["contender"], str(row["killed_at"]), ended, str(row["steps"]), accuracy])
    return table(["all-reduce", "killed before step", "the job", "steps", "accuracy"], lines)


def steps_with_large_buckets(rows: list[Row]) -> str:
    def times(contender: str, name: str) -> list[float]:
        found = (row["step_ms"] for row in rows if (row["contender"], network(row, rows)) == (contender, name))
        return sorted(one for step_ms in found for one in step_ms)

    lines, medians = [], {}
    for contender, name in distinct((row["contender"], network(row, rows)) for row in rows):
        ms, gloo = times(contender, name), times("gloo", name)
        lost = [row["lost"] for row in rows if (row["contender"], network(row, rows)) == (contender, name)]
        ratio = f"{statistics.median(ms) / statistics.median(gloo):.2f}x" if gloo else ""
        p90 = ms[min(len(ms) - 1, int(0.9 * len(ms)))]
        numbers = [f"{one:.0f}" for one in (statistics.median(ms), ms[0], p90)]
        medians[name, contender] = statistics.median(ms)
        lines.append([name, contender, str(len(ms)), *numbers, ratio, f"{100 * statistics.fmean(lost):.2f} %"])
    return table(["network", "all-reduce", "steps", "p50 ms", "least", "p90 ms", "time over Gloo's", "lost"], lines) + f"\nFastest: `{min(medians, key=medians.get)[1]}`.\n"


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
        text += TIME.format(targets=targets, steps=steps(kinds["time"]), seeds=seeds(kinds["time"])) + "\n" + time(kinds["time"])
    if large := [row for row in good if row["what"] == "steps"]:
        untimed = large[0]["steps"] - len(large[0]["step_ms"])
        per_row = distinct((row["contender"], row["ranks"]) for row in large)
        runs = either(sum((row["contender"], row["ranks"]) == line for row in large) for line in per_row)
        text += STEPS.format(steps=steps(large), untimed=untimed, runs=runs) + "\n" + steps_with_large_buckets(large)
    if dead:
        text += KILLED.format(models=either(f"`{row['model']}`" for row in dead)) + "\n" + killed(dead)
    return text + failures(failed)


def failures(rows: list[Row]) -> str:
    if not rows:
        return ""
    lines = [[row["what"], row["condition"], row["contender"], row["model"], str(row["seed"]), cause(row["failed"])] for row in rows]
    return "\n## Failed\n\n" + table(["what", "network", "all-reduce", "model", "seed", "last line"], lines)


def cause(text: str) -> str:
    return (text.splitlines() or [""])[-1].replace("|", "/").strip()[:200]
