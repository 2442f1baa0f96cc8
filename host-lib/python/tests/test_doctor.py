"""The command `python -m optireduce doctor`."""

import json
import subprocess
import sys

from ranks import free_root


def run(*arguments, **environment):
    command = [sys.executable, "-m", "optireduce", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment or None)


def test_a_machine_on_which_jobs_run_is_well():
    done = run("--json")
    said = json.loads(done.stdout)
    found = {finding["name"]: finding for finding in said["findings"]}
    assert (done.returncode, said["can_run"]) == (0, True), done
    assert "ms (p50)" in found["2 ranks, loopback"]["found"]
    assert "stage bound of" in found["a job would choose"]["found"]
    assert all(finding["cure"] for finding in said["findings"] if finding["verdict"] != "ok")


def test_a_root_that_nobody_knows_is_an_error_with_its_cure():
    done = run("--root", "nowhere.invalid:1")
    assert done.returncode == 1
    line, cure = [line for line in done.stdout.splitlines() if "nowhere" in line or "->" in line][-2:]
    assert line.startswith("fails  root") and "-> give --root host:port" in cure, done.stdout


def test_a_job_measures_between_its_ranks():
    # Two ranks with torchrun, as in the examples of the help.
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    command += [sys.executable, "-m", "optireduce", "doctor", "--job", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["can_run"] for one in said] == [True, True], done.stdout
    for one in said:
        found = {finding["name"]: finding["found"] for finding in one["findings"]}
        assert "ms (p50)" in found["2 ranks"] and "% lost" in found["2 ranks"], found
        assert "stage bound of" in found["a job would choose"], found


def test_a_job_whose_ranks_do_not_come_is_an_error():
    environment = {"OPTIREDUCE_RANK": "1", "OPTIREDUCE_WORLD_SIZE": "2", "OPTIREDUCE_ROOT": free_root()}
    done = run("--job", **environment)
    assert done.returncode == 1 and "rank 0 was not reached" in done.stdout, done


def test_a_wrong_command_has_exit_code_2():
    assert run("--colour").returncode == 2
