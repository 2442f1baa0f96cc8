"""The command `python -m optireduce`."""

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
        help="what this machine and its network give, and what a job would choose",
        description="Says what this machine and its network give a job, and what the job would choose. Exit code: 0 if a job can run, "
        "1 if it cannot, 2 for a wrong command.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    examine.add_argument("--root", metavar="HOST:PORT", help="where rank 0 listens (default: as the launcher's environment says)")
    examine.add_argument("--job", action="store_true", help="measure between the ranks of the launcher's job, not on this machine")
    examine.add_argument("--json", action="store_true", help="one line of JSON")
    arguments = parser.parse_args()

    findings = doctor.examine(arguments.root, arguments.job)
    if arguments.json:
        line = json.dumps({"can_run": doctor.can_run(findings), "findings": [finding.as_dict() for finding in findings]})
        # In one piece also where Python does not buffer: the ranks of a job write to the same pipe.
        print(line + "\n", end="")
    else:
        print("\n".join(str(finding) for finding in findings))
    return 0 if doctor.can_run(findings) else 1


sys.exit(main())
