"""Unusual reports in a log: the first, then a summary every 10 s."""

import time

from .. import Report

EVERY_S = 10.0
CURE = "a rank that is always late lacks CPU time or network, or the bound is too short: see bound_ms"


class Unusual:
    """Counts skipped updates, late ranks and values that are not finite."""

    def __init__(self) -> None:
        self._next = 0.0
        self._reports: list[Report] = []

    def line(self, report: Report) -> str | None:
        """Returns a line if one is due."""
        if report.is_applied and not report.late_ranks and not report.not_finite:
            return None
        self._reports.append(report)
        return self.rest() if time.monotonic() >= self._next else None

    def rest(self) -> str | None:
        """Returns a line about the reports since the last line, if any."""
        reports, self._reports = self._reports, []
        if not reports:
            return None
        self._next = time.monotonic() + EVERY_S
        if len(reports) == 1:
            return f"{reports[0]}; {CURE}"
        skipped = sum(not one.is_applied for one in reports)
        late = sorted({rank for one in reports for rank in one.late_ranks})
        not_finite = sum(bool(one.not_finite) for one in reports)
        return f"{len(reports)} unusual all-reduces: late ranks {late}, {skipped} skipped, {not_finite} not finite; last: {reports[-1]}; {CURE}"
