"""Arguments, output and exit codes shared by the commands of this folder."""

import argparse
import json
import pathlib
import signal
import sys
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parser(program: str, about: str | None, examples: str) -> argparse.ArgumentParser:
    how = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(prog=program, description=about, epilog=examples, formatter_class=how)


def listed(*known: str) -> Callable[[str], list[str]]:
    """Parser of an argument: a comma-separated list of known values."""

    def values(text: str) -> list[str]:
        if unknown := [one for one in text.split(",") if one not in known]:
            raise argparse.ArgumentTypeError(f"found {unknown[0]!r}, expected some of {','.join(known)}")
        return text.split(",")

    return values


def number(least: float, most: float, kind: type = int) -> Callable[[str], Any]:
    """Parser of an argument: a number from `least` to `most`; an `int` has digits only."""

    def value(text: str) -> Any:
        try:
            found = kind(text) if kind is not int or text.isdecimal() else None
        except ValueError:
            found = None
        if found is None or not least <= found <= most:
            raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from {least} to {most}")
        return found

    return value


def read(path: pathlib.Path, name: str, program: str) -> list[Row]:
    """Returns the rows of the file `name` that `program` wrote."""
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except ValueError as error:
        raise OSError(f"{path}: found {error}, expected a {name} that {program} wrote") from error


def write_failed(path: pathlib.Path, run: Row, beside: Row, error: str) -> None:
    """Logs a failed run, and appends its row with the values of `beside`."""
    say(f"FAILED: {run}\n  {error}")
    with path.open("a") as file:
        file.write(json.dumps({**run, **beside, "failed": error}) + "\n")


def tell(args: argparse.Namespace, path: pathlib.Path, text: str, *written: str) -> None:
    """Prints the tables or the runs, and logs the paths of the files."""
    print(path.read_text() if args.json else text, end="")
    say(f"== written: {', '.join(str(args.out / name) for name in written)}; runs: {path}")


def run_main(main: Callable[[], bool], program: str) -> None:
    """Runs a command; `main` returns whether all runs succeeded."""
    # A terminated program must also end its job.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(0 if main() else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        say(f"{program}: {error}")
        sys.exit(2)
