"""Checks a machine for OptiReduce jobs."""

import argparse
import json
import sys

from . import doctor

EXAMPLES = """
examples:
  python -m optireduce doctor
  python -m optireduce doctor --root 10.0.0.1:29517 --json
  torchrun --nproc-per-node 4 --no-python python -m optireduce doctor --job
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m optireduce", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    examine = commands.add_parser(
        "doctor",
        help="check this machine and its network before a job",
        description="Checks this machine and its network, and shows the settings that a job\n"
        "would choose.\n\nexit codes:\n  0  a job can run\n  1  a job cannot run\n  2  bad arguments",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    examine.add_argument("--root", metavar="HOST:PORT", help="address of rank 0 (default: from the launcher)")
    examine.add_argument("--job", action="store_true", help="measure between the ranks of the launcher's job (default: between 2 ranks here)")
    examine.add_argument("--json", action="store_true", help="print one line of JSON instead of a table")
    arguments = parser.parse_args()

    findings = doctor.examine(arguments.root, arguments.job)
    if arguments.json:
        line = json.dumps({"can_run": doctor.can_run(findings), "findings": [finding.as_dict() for finding in findings]})
        # One write, since the ranks of a job share a pipe and Python may not buffer it.
        print(line + "\n", end="")
    else:
        print("\n".join(str(finding) for finding in findings))
    return 0 if doctor.can_run(findings) else 1


sys.exit(main())
