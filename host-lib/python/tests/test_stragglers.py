"""The study of slow workers (tests/training/stragglers), shortened."""

import argparse
import json
import pathlib

TRAINING = pathlib.Path(__file__).resolve().parents[3] / "tests" / "training"


def test_each_contender_trains_and_is_in_the_tables(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TRAINING)
    import stragglers
    from stragglers_results import markdown

    # In reverse: no contender may depend on settings of an earlier one.
    contenders = list(reversed(stragglers.CONTENDERS))
    args = argparse.Namespace(workers=[4], conditions=["slow4"], contenders=contenders, seeds=1, stretch=0.15)
    path = tmp_path / "stragglers.jsonl"
    path.touch()
    assert stragglers.study(args, path), path.read_text()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["contender"] for row in rows] == contenders
    for row in rows:
        steps, is_partial = row["steps"], row["backend"] == "partial"
        assert min(steps) > 0 and row["curve"][-1][3] == row["accuracy"], row
        # With Partial Reduce no rank waits for the last one; with Gloo all do.
        assert sum(steps) > 4 * steps[-1] + 4 or not is_partial, row
        assert max(steps) - min(steps) <= 1 or row["backend"] != "gloo", row
        assert not is_partial or all(noted["groups"] >= one for noted, one in zip(row["noted"], steps)), row
    deadlines = {row["contender"]: row["noted"][0]["deadline_ms"] for row in rows if row["backend"] == "optireduce"}
    assert deadlines["bounded-25ms"] == 25 != deadlines["bounded"], deadlines
    text = markdown(rows, "")
    assert f"| workers | condition | {' | '.join(contenders)} | use |" in text and text.count("| 4 | slow4 |") == 3, text
