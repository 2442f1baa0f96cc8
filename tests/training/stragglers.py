"""Trains with slow or stalling workers, and writes tables and a plot.

Compares the time to an accuracy and the final accuracy of all-reduces that wait
for every rank (Gloo), bounded all-reduces (OptiReduce), and averages of the
models that are ready (Partial Reduce). A step sleeps instead of computing.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from command import listed, number, parser, read, run_main, say, tell, write_failed
from stragglers_results import markdown, plot

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = """Examples:
  tests/training/stragglers --quick               # a sample: some minutes
  tests/training/stragglers --out tests/training  # a quarter of an hour
  tests/training/stragglers --conditions slow4 --workers 4 --seeds 10
  tests/training/stragglers --read target/training/stragglers.jsonl

Exit codes:
  0  done
  1  a run failed; the tables show the others
  2  could not run: bad arguments, no root, missing programs"""

STEP_MS = 20
#: Network with tail latency: arguments of badnet, with the delays of tests/compare.
TAIL = ["--loss", "0.01", "--delay-us", "200", "--delay-hold-ms", "10", "--delay-p99-over-p50", "3"]
#: Slowness of the last worker, share of stalled steps of each worker, seconds of a run, and
#: arguments of badnet; `None`: the loopback interface.
CONDITIONS: dict[str, tuple[float, float, float, list[str] | None]] = {
    "even": (1.0, 0.0, 2.0, None),
    "slow2": (2.0, 0.0, 3.0, None),
    "slow4": (4.0, 0.0, 5.0, None),
    "stalls": (1.0, 0.02, 3.0, None),
    "tail": (1.0, 0.0, 2.0, TAIL),
    "slow4-tail": (4.0, 0.0, 4.0, TAIL),
}
STALL_MS = 200
#: Backend and settings.
CONTENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "all-reduce": ("gloo", {}),
    "bounded": ("optireduce", {}),
    "bounded-25ms": ("optireduce", {"bound_ms": 25}),
    "partial": ("partial", {"weights": "dynamic"}),
    "partial-constant": ("partial", {"weights": "constant"}),
}
WORKERS = [4, 8]
#: Seconds of a run beyond its training, and of the start of the processes.
MORE_S, START_S = 60, 120

Run = dict[str, Any]


def plan(args: argparse.Namespace) -> list[tuple[int, list[str] | None, list[Run]]]:
    """Returns jobs: number of workers, network, and the runs on it."""
    jobs = []
    for workers in args.workers:
        for network in [None, TAIL]:
            runs = []
            for condition in [one for one in args.conditions if CONDITIONS[one][3] == network]:
                slowness, stall_share, seconds, _ = CONDITIONS[condition]
                for seed in range(args.seeds):
                    for contender in args.contenders:
                        backend, how = CONTENDERS[contender]
                        named = {"condition": condition, "contender": contender, "backend": backend, "seed": seed}
                        group = {"group_size": workers // 2, "weights": how["weights"]} if backend == "partial" else {"settings": how}
                        pace = {"slowness": slowness, "stall_share": stall_share, "stall_ms": STALL_MS, "step_ms": STEP_MS}
                        runs.append({**named, **group, **pace, "seconds": seconds * args.stretch})
            # With eight network namespaces the machine would be the bottleneck.
            if runs and not (network and workers > 4):
                jobs.append((workers, network, runs))
    return jobs


def start(args: argparse.Namespace, workers: int, network: list[str] | None, limit: float, trainer: list[str], said: Any) -> list[Any]:
    """Starts the processes of a job."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "bn0" if network else "lo"}
    if network:
        command = [args.badnet, "run", "--hosts", str(workers), "--timeout-s", str(round(limit)), *network, "--seed", "1", "--"]
        return [subprocess.Popen([*command, *trainer], stdout=subprocess.DEVNULL, stderr=said, env=environment)]
    environment |= {"WORLD_SIZE": str(workers), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "24999"}
    ranks = [{**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(workers)]
    return [subprocess.Popen(trainer, stdout=subprocess.DEVNULL, stderr=said, env=one) for one in ranks]


def end(processes: list[Any]) -> None:
    for one in processes:
        if one.poll() is None:
            # badnet ends its processes and removes its hosts.
            one.send_signal(signal.SIGINT)
    for one in processes:
        try:
            one.wait(10)
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()


def attempt(args: argparse.Namespace, workers: int, network: list[str] | None, runs: list[Run], rows: pathlib.Path) -> tuple[int, str]:
    """Makes the runs in one job, and appends their rows to `rows`.

    Returns the number of runs made, and the error of the next one or an empty text.
    """
    limit = START_S + sum(run["seconds"] + MORE_S for run in runs)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        todo, done = pathlib.Path(folder, "runs.json"), pathlib.Path(folder, "rows.jsonl")
        todo.write_text(json.dumps(runs))
        done.touch()
        trainer = [sys.executable, str(HERE / "straggler_trainer.py"), str(todo), str(done)]
        processes, told, since = start(args, workers, network, limit, trainer, said), 0, time.monotonic()
        try:
            while True:
                codes = [one.poll() for one in processes]
                has_ended = any(codes) or all(code == 0 for code in codes)
                # The last line may be incomplete.
                lines = [one for one in done.read_text().splitlines(keepends=True) if one.endswith("\n")]
                for line in lines[told:]:
                    with rows.open("a") as file:
                        file.write(line)
                    say(progress(json.loads(line)))
                    since = time.monotonic()
                told = len(lines)
                if has_ended or told == len(runs):
                    break
                if time.monotonic() - since > START_S + runs[told]["seconds"] + MORE_S:
                    raise TimeoutError(f"{runs[told]} did not end")
                time.sleep(0.2)
        except TimeoutError as error:
            return told, str(error)
        finally:
            end(processes)
        said.seek(0)
        return told, "" if told == len(runs) else said.read().strip() or f"the processes ended with {codes}"


def progress(row: Run) -> str:
    named = f"{row['workers']} workers, {row['condition']:10} {row['contender']:18} seed {row['seed']}"
    return f"{named}: {100 * row['accuracy']:.2f} % after {row['seconds']:.1f} s, steps {row['steps']}"


def study(args: argparse.Namespace, path: pathlib.Path) -> bool:
    """Makes all runs; returns whether all succeeded.

    A failed run ends its job and is marked as failed. The other runs continue in a new job.
    """
    all_well = True
    for workers, network, runs in plan(args):
        say(f"== {workers} workers on {'badnet ' + ' '.join(network) if network else 'the loopback interface'}: {len(runs)} runs")
        while runs:
            made, error = attempt(args, workers, network, runs, path)
            runs = runs[made:]
            if error and runs:
                all_well = False
                write_failed(path, runs[0], {"workers": workers}, error)
                runs = runs[1:]
    return all_well


def parse() -> argparse.Namespace:
    arguments = parser("tests/training/stragglers", __doc__, EXAMPLES)
    add = arguments.add_argument
    add("--quick", action="store_true", help="4 workers, 1 seed and half the duration, unless set otherwise")
    add("--out", type=pathlib.Path, metavar="DIR", help="folder for stragglers.md, .png and .jsonl (default: target/training)")
    add("--json", action="store_true", help="print stragglers.jsonl instead of tables")
    add("--read", type=pathlib.Path, metavar="FILE", help="train nothing; show tables and plot of the runs in this file")
    add("--conditions", type=listed(*CONDITIONS), default=list(CONDITIONS), help=f"conditions: {','.join(CONDITIONS)} (default: all)")
    add("--contenders", type=listed(*CONTENDERS), default=list(CONTENDERS), help=f"contenders: {','.join(CONTENDERS)} (default: all)")
    add("--workers", type=listed(*map(str, WORKERS)), help="numbers of workers: 4,8 (default: both)")
    add("--seeds", type=number(1, 100), help="number of seeds of weights, batches and stalls (default: 3)")
    add("--stretch", type=number(0.01, 100.0, float), help="factor on the duration of each run (default: 1)")
    add("--note", default="", help="sentence about the machine, for stragglers.md")
    add("--badnet", type=pathlib.Path, help=argparse.SUPPRESS)
    add("--default-out", type=pathlib.Path, default=pathlib.Path("training"), help=argparse.SUPPRESS)
    args = arguments.parse_args()
    args.workers = [int(one) for one in args.workers or (["4"] if args.quick else map(str, WORKERS))]
    args.seeds = args.seeds or (1 if args.quick else 3)
    args.stretch = args.stretch or (0.5 if args.quick else 1.0)
    args.out = args.out or args.default_out
    return args


def main() -> bool:
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    path, all_well = args.read or args.out / "stragglers.jsonl", True
    if args.read is None:
        path.write_text("")
        all_well = study(args, path)
    rows = read(path, "stragglers.jsonl", "tests/training/stragglers")
    text = markdown(rows, args.note)
    (args.out / "stragglers.md").write_text(text)
    plot([row for row in rows if "failed" not in row], args.out / "stragglers.png")
    tell(args, path, text, "stragglers.md", "stragglers.png")
    return all_well


if __name__ == "__main__":
    run_main(main, "tests/training/stragglers")
