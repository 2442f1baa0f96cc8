"""Phases of a test run: commands that overlap, their times, and the slowest tests.

A phase starts once those that it waits for have passed and its lock is free. The first failure
stops all. Output of a phase goes to a file; it is shown live, or after a failure.
"""

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from xml.etree import ElementTree


LIBTEST = r"^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored"


class Failed(Exception):
    """A command failed, or a tool is missing."""


class Phase:
    """One phase. `work(phase)` runs its commands, with `idle` in time that others leave."""

    def __init__(self, phases, name, work, after, lock, live, idle):
        self.phases, self.name, self.work, self.after, self.lock, self.live, self.idle = phases, name, work, after, lock, live, idle
        self.state, self.why, self.began_s, self.took_s = "not run", "", None, 0.0
        self.cpu_s, self.peak_kib = 0.0, 0
        self.log = phases.folder / f"{name.replace(' ', '-')}.log"
        self.log.unlink(missing_ok=True)

    def run(self, *words, passes=(0,), **settings):
        """Runs a command, with environment variables `settings`, and returns its exit code.

        Raises `Failed` unless the code is one of `passes`.
        """
        words = [*(["nice", "-n", "19"] if self.idle else []), *(str(word) for word in words)]
        environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
        with self.phases.changed:
            if self.phases.failed:
                raise Failed("stopped")
            # A new process group, so that signals reach the command's children.
            child = subprocess.Popen(
                words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
            )
            self.phases.children.add(child.pid)
            if self.idle:
                lower_session(child.pid)
        reader = threading.Thread(target=self._keep, args=(child.stdout,), daemon=True)
        reader.start()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        # A process that outlives the command may hold its output open.
        reader.join(5)
        with self.phases.changed:
            self.phases.children.discard(child.pid)
        self.cpu_s += used.ru_utime + used.ru_stime
        self.peak_kib = max(self.peak_kib, used.ru_maxrss)
        if child.returncode not in passes:
            raise Failed(f"`{' '.join(words)}` ended with {child.returncode}")
        return child.returncode

    def leave_out(self, why):
        self.why = why

    def said(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def closing(self):
        """Returns the test runner's closing line: of libtest's many lines, their sum."""
        lines = self.said().splitlines()
        counts = [[int(count) for count in match] for line in lines for match in re.findall(LIBTEST, line)]
        if counts:
            passed, failed, ignored = (sum(column) for column in zip(*counts))
            return f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed; {ignored} ignored"
        return next((line for line in reversed(lines) if re.match(r" *Summary \[|\d+ (passed|failed)", line)), None)

    def _keep(self, output):
        with output, self.log.open("ab") as log:
            for line in output:
                log.write(line)
                log.flush()
                if self.live:
                    say(line.decode(errors="replace").rstrip("\n"))

    def _whole(self):
        begin = time.monotonic()
        try:
            self.work(self)
            state, why = "left out" if self.why else "passed", self.why
        except Failed as error:
            state, why = "failed", str(error)
        except Exception as error:
            state, why = "failed", f"{type(error).__name__}: {error}"
        self.phases._ended(self, state, why, time.monotonic() - begin)


class Phases:
    """All phases, in order of preference."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.all, self.running, self.children = [], set(), set()
        self.changed = threading.Condition(threading.RLock())
        self.failed, self.seconds = None, 0.0

    def add(self, name, work, after=(), lock=None, live=False, idle=False):
        self.all.append(Phase(self, name, work, after, lock, live, idle))

    def run(self):
        """Runs all phases. Returns whether none has failed."""
        begin = time.monotonic()
        with self.changed:
            try:
                while not self.failed:
                    self._start(begin)
                    if not self.running:
                        break
                    silent = [phase for phase in self.running if not phase.live]
                    if not self.changed.wait(60) and silent:
                        now = time.monotonic() - begin
                        say("== still: " + ", ".join(f"{phase.name} for {now - phase.began_s:.0f} s" for phase in silent))
            except KeyboardInterrupt:
                self.failed = "interrupt"
            self._stop()
        self.seconds = time.monotonic() - begin
        return not self.failed

    def _start(self, begin):
        done = {phase.name for phase in self.all if phase.state in ("passed", "left out")}
        for phase in self.all:
            locks = {other.lock for other in self.running} - {None}
            if phase.state == "not run" and done.issuperset(phase.after) and phase.lock not in locks:
                phase.state, phase.began_s = "running", time.monotonic() - begin
                self.running.add(phase)
                say(f"== {phase.name}")
                threading.Thread(target=phase._whole, daemon=True).start()

    def _ended(self, phase, state, why, seconds):
        with self.changed:
            state = "stopped" if state == "failed" and self.failed else state
            phase.state, phase.why, phase.took_s = state, why, seconds
            self.running.discard(phase)
            if state in ("passed", "left out"):
                say(f"== {phase.name}: {seconds:.1f} s{f', left out: {why}' if why else ''}")
            elif state == "failed":
                self.failed = phase
                say(f"{'' if phase.live else phase.said()}== {phase.name}: FAILED after {seconds:.1f} s: {why}")
            self.changed.notify_all()

    def _stop(self):
        """Ends what still runs; some commands need a moment to clean up."""
        for number, seconds in ((signal.SIGTERM, 20), (signal.SIGKILL, 5)):
            for child in self.children:
                try:
                    os.killpg(child, number)
                except ProcessLookupError:
                    pass
            deadline = time.monotonic() + seconds
            while self.running and (left := deadline - time.monotonic()) > 0:
                self.changed.wait(left)

    def table(self):
        rows = [f"  {'phase':32} {'state':9} {'from s':>7} {'s':>7} {'CPU s':>7} {'MiB':>6}"]
        for phase in self.all:
            if phase.began_s is not None:
                figures = f"{phase.began_s:7.1f} {phase.took_s:7.1f} {phase.cpu_s:7.1f} {phase.peak_kib >> 10:6}"
                rows.append(f"  {phase.name:32} {phase.state:9} {figures}")
        cpu_s, peak = sum(phase.cpu_s for phase in self.all), max(phase.peak_kib for phase in self.all) >> 10
        rows.append(f"  {'all':32} {'':9} {'':7} {self.seconds:7.1f} {cpu_s:7.1f} {peak:6}")
        return "\n".join(rows)

    def record(self, slowest):
        """Returns the table and the slowest tests for JSON."""
        names = ("name", "state", "why", "began_s", "took_s", "cpu_s", "peak_kib")
        phases = [{name: getattr(phase, name) for name in names} for phase in self.all]
        return json.dumps({"seconds": self.seconds, "cores": os.cpu_count(), "phases": phases, "slowest": slowest}, indent=1)


def lower_session(leader):
    """Where Linux shares the processors among sessions, `nice` counts only within one."""
    try:
        Path(f"/proc/{leader}/autogroup").write_text("19")
    except OSError:
        pass


def slowest_tests(reports, count):
    """Returns the slowest tests of JUnit reports."""
    found = []
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
            found.append({"test": f"{case.get('classname')} {case.get('name')}", "s": float(case.get("time") or 0)})
    return sorted(found, key=lambda one: -one["s"])[:count]


def say(text):
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader has gone, the tests go on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
