"""The study of training on bad networks (tests/training/run), shortened, on badnet's hosts."""

import argparse
import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BADNET = next((path for path in (TARGET / "release" / "badnet", TARGET / "debug" / "badnet") if path.exists()), None)


@pytest.mark.skipif(os.geteuid() != 0 or not pathlib.Path("/dev/net/tun").exists(), reason="hosts need root and /dev/net/tun")
@pytest.mark.skipif(BADNET is None, reason="badnet is not built: cargo build -p optireduce-badnet")
def test_each_contender_trains_is_in_the_tables_and_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "training")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "bn0")
    import study
    from tables import markdown

    contenders = ["optireduce-tcp", "optireduce", "gloo"]
    args = argparse.Namespace(badnet=str(BADNET), what=["accuracy", "time"], models=["mlp"], losses=["5 %"], conditions=["loss0.1"])
    vars(args).update(contenders=contenders, ranks=2, seeds=1, epochs=1, bound_ms=200, add=True)
    path = tmp_path / "runs.jsonl"
    path.touch()
    assert study.study(args, path), path.read_text()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["contender"] for row in rows] == [*(f"optireduce, {name}" for name in study.BOUNDED), *contenders]
    for row in rows:
        assert (row["ranks"], row["steps"], row["differing_ranks"]) == (2, 23, 0) and row["accuracy"] > 0.3, row
        # A loss of 0.1 % may affect no packet of a short run.
        assert (row["lost"] > 0) == (row["what"] == "accuracy") or row["contender"] == "optireduce", row
    text = markdown(rows, "")
    assert f"| model | packets dropped | seeds | {' | '.join(study.BOUNDED)} | lost |" in text and "| mlp | 5 % | 1 |" in text, text
    assert "| model | network | optireduce-tcp | optireduce | gloo | use |" in text and "| mlp | loss0.1 |" in text, text

    # Only missing and failed runs are made.
    args.seeds = 2
    missing = [[run for run in runs if study.key({"ranks": 2, **run}) not in set(map(study.key, rows))] for _, runs in study.plan(args)]
    assert {run["seed"] for runs in missing for run in runs} == {1}
    path.write_text(path.read_text() + json.dumps({**rows[0], "seed": 7, "failed": "as if"}) + "\n")
    assert study.kept(args, path).splitlines() == [json.dumps(row) for row in rows]
    args.seeds = 1
    assert study.study(args, path) and len(path.read_text().splitlines()) == len(rows) + 1
