"""Trains with each contender on each network, and writes tables and a plot.

Three studies:
  accuracy  accuracy under packet loss with a fixed bound, with and without
            Hadamard transform and repair; compared with Gloo without loss
  time      time to an accuracy on bad networks with a measured bound; compared
            with OptiReduce's TCP engine and Gloo
  steps     time of a step with buckets of 25 MiB on a clean network

Open MPI is compared by tests/compare, since torch's wheels have no MPI backend.
"""

import argparse
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from command import listed, number, parser, read, run_main, say, tell, write_failed
from tables import markdown

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = """Examples:
  tests/training/run --quick                            # a sample: minutes
  tests/training/run --out tests/training               # everything
  tests/training/run --what accuracy --seeds 10 --models mlp
  tests/training/run --add --losses "10 %" --seeds 5    # only missing runs
  tests/training/run --read target/training/runs.jsonl  # trains nothing

Exit codes:
  0  done
  1  a run failed; the tables show the others
  2  could not run: bad arguments, no root, missing programs"""

WHAT = ["accuracy", "time", "steps"]
MODELS = ["mlp", "conv", "text"]
#: Lossy networks: arguments of badnet. Bursts are outages of a link with a mean of 1 ms.
LOSSES: dict[str, list[str]] = {
    "0 %": [],
    "0.1 %": ["--loss", "0.001"],
    "1 %": ["--loss", "0.01"],
    "1 % in bursts": ["--outage-gap-ms", "99", "--outage-ms", "1"],
    "2 %": ["--loss", "0.02"],
    "2 % in bursts": ["--outage-gap-ms", "49", "--outage-ms", "1"],
    "5 %": ["--loss", "0.05"],
    "5 % in bursts": ["--outage-gap-ms", "19", "--outage-ms", "1"],
    "10 %": ["--loss", "0.1"],
}
REPAIRED = {"repair": "this_update"}
#: Settings of the accuracy study. All have the same keys, because a setting stays for the next run.
BOUNDED: dict[str, dict[str, Any]] = {
    "Hadamard off": {"hadamard": "off", **REPAIRED},
    "Hadamard on": {"hadamard": "on", **REPAIRED},
    "Hadamard auto": {"hadamard": "auto", **REPAIRED},
    "Hadamard on, no repair": {"hadamard": "on", "repair": "off"},
    "Hadamard off, no repair": {"hadamard": "off", "repair": "off"},
}
#: Delays of tests/compare.
DELAYED = ["--delay-us", "200", "--delay-hold-ms", "10", "--delay-p99-over-p50"]
DELAYS = [*DELAYED, "3"]
#: Arguments of badnet, and share of the steps in which a rank is late.
CONDITIONS: dict[str, tuple[list[str], float]] = {
    "clean": ([], 0.0),
    "loss0.1": (["--loss", "0.001"], 0.0),
    "loss1": (["--loss", "0.01"], 0.0),
    "outages": (["--outage-gap-ms", "1000", "--outage-ms", "5"], 0.0),
    "delay1.5": ([*DELAYED, "1.5"], 0.0),
    "delay3": (DELAYS, 0.0),
    "loss1-delay3": (["--loss", "0.01", *DELAYS], 0.0),
    "straggler": ([], 0.1),
    "killed": ([], 0.0),
}
#: Conditions in the plot; more would be unreadable.
PICTURED = ["clean", "loss1", "delay3", "loss1-delay3", "straggler"]
#: Step before which a rank is killed under the condition `killed`.
KILLED_AT = 20
CONTENDERS = ["optireduce", "optireduce-tcp", "gloo", "gloo-tuned"]
#: Settings of contenders that differ from the trainer's defaults.
ENGINES: dict[str, dict[str, Any]] = {"optireduce-tcp": {"engine": "tcp"}}
LATE_MS = 50
#: Seconds of a run, and of the start of the processes.
RUN_S, START_S = 180, 120

Run = dict[str, Any]


def plan(args: argparse.Namespace) -> Iterator[tuple[list[str], list[Run]]]:
    """Yields arguments of `badnet run`, and the runs on that network."""

    def run(what: str, condition: str, contender: str, model: str, seed: int, settings: dict[str, Any], late: float = 0.0) -> Run:
        backend = "optireduce" if contender.startswith("optireduce") else "gloo"
        named = {"what": what, "condition": condition, "contender": contender, "model": model, "seed": seed}
        killed_at = KILLED_AT if condition == "killed" else None
        how = {"epochs": args.epochs, "late_share": late, "late_ms": LATE_MS, "killed_at": killed_at}
        return {**named, "backend": backend, "settings": settings, **how}

    turns = [(seed, model) for seed in range(args.seeds) for model in args.models]
    for loss in args.losses if "accuracy" in args.what else []:
        runs = []
        for seed, model in turns:
            if loss == "0 %":
                runs.append(run("accuracy", loss, "gloo", model, seed, {}))
            for name, settings in BOUNDED.items():
                runs.append(run("accuracy", loss, f"optireduce, {name}", model, seed, {"bound_ms": args.bound_ms, **settings}))
        yield LOSSES[loss], runs
    for condition in args.conditions if "time" in args.what else []:
        network, late = CONDITIONS[condition]
        if condition == "killed":
            # The kill ends the job, so each run needs a new one.
            for one in [one for one in args.contenders if not one.endswith("-tuned")]:
                yield network, [run("time", condition, one, args.models[0], 0, ENGINES.get(one, {}))]
            continue
        for tuned in [False, True]:
            contenders = [one for one in args.contenders if one.endswith("-tuned") == tuned]
            runs = [run("time", condition, one, model, seed, ENGINES.get(one, {}), late) for seed, model in turns for one in contenders]
            yield [*network, *(["--tuned-tcp"] if tuned else [])], runs
    for tuned in [False, True] if "steps" in args.what else []:
        contenders = [one for one in args.contenders if one.endswith("-tuned") == tuned]
        runs = [run("steps", "clean", one, "wide", seed, ENGINES.get(one, {})) for seed in range(args.seeds) for one in contenders]
        yield ["--tuned-tcp"] if tuned else [], runs


def attempt(args: argparse.Namespace, network: list[str], runs: list[Run], rows: pathlib.Path, number: str) -> str:
    """Makes the runs in one job, and appends their rows to `rows`.

    Returns the error of the job, or an empty text.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        todo, done = pathlib.Path(folder, "runs.json"), pathlib.Path(folder, "rows.jsonl")
        todo.write_text(json.dumps(runs))
        done.touch()
        limit = START_S + RUN_S * len(runs)
        command = [args.badnet, "run", "--hosts", str(args.ranks), "--timeout-s", str(limit), *network, "--seed", number, "--"]
        job = subprocess.Popen(
            [*command, sys.executable, HERE / "trainer.py", todo, done], stdout=subprocess.DEVNULL, stderr=said, text=True
        )
        try:
            told = 0
            while True:
                ended = job.poll() is not None
                lines = done.read_text().splitlines(keepends=True)
                # The last line may be incomplete.
                for line in [one for one in lines[told:] if one.endswith("\n")]:
                    with rows.open("a") as file:
                        file.write(line)
                    say(progress(json.loads(line)))
                    told += 1
                if ended:
                    break
                time.sleep(0.2)
        finally:
            if job.poll() is None:
                # badnet ends its processes and removes its hosts.
                job.send_signal(signal.SIGINT)
                job.wait()
        said.seek(0)
        return "" if job.returncode == 0 and told == len(runs) else said.read().strip() or f"badnet ended with {job.returncode}"


def progress(row: Run) -> str:
    if "step_ms" in row:
        return f"steps    {row['contender']:25} seed {row['seed']}: {statistics.median(row['step_ms']):.0f} ms per step"
    if "ended_by" in row:
        return f"{row['what']:8} {row['condition']:10} {row['contender']:25} ended at step {row['steps']}: {row['ended_by']}"
    named = f"{row['what']:8} {row['condition']:10} {row['contender']:25} {row['model']:4} seed {row['seed']}"
    lost = f", {100 * row['lost']:.2f} % lost, {row['skipped']} skipped" if row["backend"] == "optireduce" and "lost" in row else ""
    return f"{named}: {100 * row['accuracy']:.2f} % after {row['seconds']:.1f} s and {row['steps']} steps{lost}"


def study(args: argparse.Namespace, path: pathlib.Path) -> bool:
    """Makes all runs; returns whether all succeeded.

    A failed run ends its job and is marked as failed. The other runs continue in a new job.
    """
    all_well = True
    done = {key(row) for row in read(path, "runs.jsonl", "tests/training/run")} if args.add else set()
    for number, (network, runs) in enumerate(plan(args), 1):
        runs = [run for run in runs if key({"ranks": args.ranks, **run}) not in done]
        if not runs:
            continue
        say(f"== {' '.join(network) or 'a clean network'}: {len(runs)} runs")
        while runs:
            before = len(path.read_text().splitlines())
            error = attempt(args, network, runs, path, str(number))
            runs = runs[len(path.read_text().splitlines()) - before :]
            if error and not runs:
                raise SystemExit(f"tests/training: failed after all runs: {error}")
            if error:
                all_well = False
                write_failed(path, runs[0], {"ranks": args.ranks}, error)
                runs = runs[1:]
    return all_well


def parse() -> argparse.Namespace:
    arguments = parser("tests/training/run", __doc__, EXAMPLES)
    add = arguments.add_argument
    add("--quick", action="store_true", help="one model, 2 seeds and 3 passes over the data, unless set otherwise")
    add("--out", type=pathlib.Path, metavar="DIR", help="folder for results.md, curves.png and runs.jsonl (default: target/training)")
    add("--json", action="store_true", help="print runs.jsonl instead of tables")
    add("--append", action="store_true", help="keep the runs in runs.jsonl, except those that this command repeats")
    add("--add", action="store_true", help="keep the successful runs in runs.jsonl, and make only missing ones")
    add("--read", type=pathlib.Path, metavar="FILE", help="train nothing; show tables and plot of the runs in this file")
    add("--what", type=listed(*WHAT), default=[*WHAT], help=f"studies: {','.join(WHAT)} (default: all)")
    add("--models", type=listed(*MODELS), help="models: mlp,conv,text (default: all)")
    add("--conditions", type=listed(*CONDITIONS), default=list(CONDITIONS), help=f"networks of the time study: {','.join(CONDITIONS)} (default: all)")
    add("--losses", type=listed(*LOSSES), default=list(LOSSES), help=f"networks of the accuracy study: {','.join(LOSSES)} (default: all)".replace("%", "%%"))
    add("--contenders", type=listed(*CONTENDERS), default=CONTENDERS, help=f"contenders of the time and steps studies: {','.join(CONTENDERS)} (default: all)")
    add("--ranks", type=number(2, 64), default=4, help="number of ranks, one per host, 2 to 64 (default: %(default)s)")
    add("--seeds", type=number(1, 100), help="number of seeds of weights, batches and late steps (default: 5)")
    add("--epochs", type=number(1, 1000), help="passes over the data, of 20 steps for text (default: 10)")
    add("--bound-ms", type=number(1, 60_000), default=200, help="bound on each stage in the accuracy study (default: %(default)s ms)")
    add("--note", default="", help="sentence about the machine, for results.md")
    add("--badnet", type=pathlib.Path, help=argparse.SUPPRESS)
    add("--default-out", type=pathlib.Path, default=pathlib.Path("training"), help=argparse.SUPPRESS)
    args = arguments.parse_args()
    args.models = args.models or (MODELS[:1] if args.quick else MODELS)
    args.seeds = args.seeds or (2 if args.quick else 5)
    args.epochs = args.epochs or (3 if args.quick else 10)
    args.out = args.out or args.default_out
    return args


def kind(run: Run) -> tuple[Any, ...]:
    """Line of a table to which a run belongs."""
    return run["what"], run["condition"], run["contender"], run["model"], run["ranks"]


def key(run: Run) -> tuple[Any, ...]:
    """Identity of a run."""
    return *kind(run), run["seed"], run["epochs"], run["settings"].get("bound_ms")


def kept(args: argparse.Namespace, path: pathlib.Path) -> str:
    """Returns the rows of runs that are not made again."""
    rows = read(path, "runs.jsonl", "tests/training/run")
    if args.add:
        left = [row for row in rows if "failed" not in row]
    else:
        again = {kind({"ranks": args.ranks, **one}) for _, runs in plan(args) for one in runs}
        left = [row for row in rows if kind(row) not in again]
    return "".join(json.dumps(row) + "\n" for row in left)


def main() -> bool:
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    path, all_well = args.read or args.out / "runs.jsonl", True
    if args.read is None:
        path.write_text(kept(args, path) if (args.append or args.add) and path.exists() else "")
        all_well = study(args, path)
    rows = read(path, "runs.jsonl", "tests/training/run")
    text = markdown(rows, args.note)
    (args.out / "results.md").write_text(text)
    # Late, because only the plots need matplotlib.
    from plot import front, plot

    # The plot shows one number of ranks.
    curves = [row for row in rows if row["what"] == "time" and "failed" not in row and row["condition"] in PICTURED]
    curves.sort(key=lambda row: (MODELS.index(row["model"]), PICTURED.index(row["condition"])))
    plot([row for row in curves if row["ranks"] == curves[0]["ranks"]], args.out / "curves.png")
    front(curves, args.out / "front.png")
    tell(args, path, text, "results.md", "curves.png")
    return all_well


if __name__ == "__main__":
    run_main(main, "tests/training")
