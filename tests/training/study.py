"""Trains under each condition with each contender, and writes tables, a plot and the raw runs.

Three questions: which accuracy is left when packets are lost (a fixed deadline, Hadamard transform off, on, auto, repair on, off;
beside Gloo without loss), how soon an accuracy is reached on a bad network (the deadline that the ranks measure; beside this
project's TCP engine and Gloo), and how long a step with buckets of 25 MiB takes on a clean one. torch's wheels have no MPI backend, so
Open MPI is none of the contenders: tests/compare has it, without torch.
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
  tests/training/run --quick                       # a sample of everything: minutes
  tests/training/run --out tests/training          # all; writes results.md, curves.png and runs.jsonl there
  tests/training/run --what accuracy --seeds 10 --models mlp
  tests/training/run --out tests/training --add --losses "10 %" --seeds 5    # only what runs.jsonl lacks there
  tests/training/run --read target/training/runs.jsonl       # trains nothing: tables and plot of earlier runs

Exit codes:
  0  done
  1  a run failed; the tables show the others
  2  nothing could be run: arguments, rights, missing programs"""

WHAT = ["accuracy", "time", "steps"]
MODELS = ["mlp", "conv", "text"]
#: Networks that lose packets: arguments of badnet. Bursts: outages of a link of 1 ms on average.
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
REPAIRED = {"repair": True, "wait_for_repairs": True}
#: Settings of what is compared where packets are lost. The same ones in all: a run leaves its own to the next.
BOUNDED: dict[str, dict[str, Any]] = {
    "Hadamard off": {"hadamard": "off", **REPAIRED},
    "Hadamard on": {"hadamard": "on", **REPAIRED},
    "Hadamard auto": {"hadamard": "auto", **REPAIRED},
    "Hadamard on, no repair": {"hadamard": "on", "repair": False, "wait_for_repairs": False},
    "Hadamard off, no repair": {"hadamard": "off", "repair": False, "wait_for_repairs": False},
}
#: Arguments of badnet, and in which share of the steps a rank is late. Delays are those of tests/compare.
DELAYED = ["--delay-us", "200", "--delay-hold-ms", "10", "--delay-p99-over-p50"]
DELAYS = [*DELAYED, "3"]
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
#: Those of the picture: with more of them nobody could read it.
PICTURED = ["clean", "loss1", "delay3", "loss1-delay3", "straggler"]
#: The step before which a rank is killed, if one is.
KILLED_AT = 20
CONTENDERS = ["optireduce", "optireduce-tcp", "gloo", "gloo-tuned"]
#: All settings of what they train with, as those of `BOUNDED`.
ENGINES: dict[str, dict[str, Any]] = {"optireduce-tcp": {"engine": "tcp"}}
LATE_MS = 50
#: How long a run may take, and the start of the processes.
RUN_S, START_S = 180, 120

Run = dict[str, Any]


def plan(args: argparse.Namespace) -> Iterator[tuple[list[str], list[Run]]]:
    """Arguments of `badnet run`, and what is run on that network, in turns."""

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
            # A job for each.
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
    """Runs all of them in one job, which appends to `rows`, and tells of each. What it says if it fails."""
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
                # The last line may be in the making.
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
    """Makes all runs. One that fails ends its job: it is noted as failed, and the others go on in a new one."""
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
                raise SystemExit(f"tests/training: all runs ended, and then: {error}")
            if error:
                all_well = False
                write_failed(path, runs[0], {"ranks": args.ranks}, error)
                runs = runs[1:]
    return all_well


def parse() -> argparse.Namespace:
    arguments = parser("tests/training/run", __doc__, EXAMPLES)
    add = arguments.add_argument
    add("--quick", action="store_true", help="one model, 2 seeds, 3 passes over the data, unless given otherwise")
    add("--out", type=pathlib.Path, metavar="DIR", help="where results.md, curves.png and runs.jsonl go (default: target/training)")
    add("--json", action="store_true", help="print the runs as lines of JSON instead of tables; runs.jsonl has them in any case")
    add("--append", action="store_true", help="keep the runs that runs.jsonl has, but those of the conditions that are run again")
    add("--add", action="store_true", help="keep all runs that runs.jsonl has and that did not fail, and make those that it lacks")
    add("--read", type=pathlib.Path, metavar="FILE", help="train nothing; tables and plot of the runs of this runs.jsonl")
    add("--what", type=listed(*WHAT), default=[*WHAT], help=f"{','.join(WHAT)} (default: all)")
    add("--models", type=listed(*MODELS), help="mlp,conv,text (default: all)")
    add("--conditions", type=listed(*CONDITIONS), default=list(CONDITIONS), help=f"of time: {','.join(CONDITIONS)} (default: all)")
    add("--losses", type=listed(*LOSSES), default=list(LOSSES), help=f"of accuracy: {','.join(LOSSES)} (default: all)".replace("%", "%%"))
    add("--contenders", type=listed(*CONTENDERS), default=CONTENDERS, help=f"of time and steps: {','.join(CONTENDERS)} (default: all)")
    add("--ranks", type=number(2, 64), default=4, help="one per host (default: %(default)s)")
    add("--seeds", type=number(1, 100), help="of weights, batches and late steps (default: 5)")
    add("--epochs", type=number(1, 1000), help="passes over the data (default: 10), of text 20 steps each")
    add("--bound-ms", type=number(1, 60_000), default=200, help="deadline of a stage where accuracy is asked for (default: %(default)s ms)")
    add("--note", default="", help="a sentence about the machine, for results.md")
    add("--badnet", type=pathlib.Path, help=argparse.SUPPRESS)
    add("--default-out", type=pathlib.Path, default=pathlib.Path("training"), help=argparse.SUPPRESS)
    args = arguments.parse_args()
    args.models = args.models or (MODELS[:1] if args.quick else MODELS)
    args.seeds = args.seeds or (2 if args.quick else 5)
    args.epochs = args.epochs or (3 if args.quick else 10)
    args.out = args.out or args.default_out
    return args


def kind(run: Run) -> tuple[Any, ...]:
    """What is in one line of a table."""
    return run["what"], run["condition"], run["contender"], run["model"], run["ranks"]


def key(run: Run) -> tuple[Any, ...]:
    """What makes a run another one."""
    return *kind(run), run["seed"], run["epochs"], run["settings"].get("bound_ms")


def kept(args: argparse.Namespace, path: pathlib.Path) -> str:
    """The rows that are not run again."""
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
    # Not before: matplotlib is there for the picture only.
    from plot import front, plot

    # Of one number of ranks.
    curves = [row for row in rows if row["what"] == "time" and "failed" not in row and row["condition"] in PICTURED]
    curves.sort(key=lambda row: (MODELS.index(row["model"]), PICTURED.index(row["condition"])))
    plot([row for row in curves if row["ranks"] == curves[0]["ranks"]], args.out / "curves.png")
    front(curves, args.out / "front.png")
    tell(args, path, text, "results.md", "curves.png")
    return all_well


if __name__ == "__main__":
    run_main(main, "tests/training")
