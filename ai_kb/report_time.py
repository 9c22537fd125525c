"""Claimed times: as seconds, as a person reads them, and counted by calendar.

A signed time is what its author says. It may be before any computer and after everybody's death, so
nothing here takes one for true: what does not fit a chart is counted beside it. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from ai_kb.report_data import BINS, Bin

RECALLED, LEFT_OUT, OTHER = "recalled", "left_out", "other"
DAY = 86_400  # seconds
_UNITS = ("hour", "day", "week", "month", "year")
_LENGTH = {"hour": 3_600, "day": DAY, "week": 7 * DAY}
_OFFSET = {"hour": 0, "day": 0, "week": 3 * DAY}  # 1970 began on a Thursday


def seconds(timestamp: str) -> float:
    """An RFC 3339 time as seconds since the epoch; 0 for what no clock of ours can express."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def shown(timestamp: str) -> str:
    """``2026-11-30 12:00`` in UTC; the text itself where it cannot be converted."""
    try:
        moment = datetime.fromisoformat(timestamp).astimezone(UTC)
    except (ValueError, OverflowError):
        return timestamp
    return f"{moment:%Y-%m-%d %H:%M}" if moment.year >= 1000 else timestamp


def stamp(moment: float) -> str:
    """Seconds since the epoch as RFC 3339 UTC, ``""`` for 0."""
    if not moment:
        return ""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def bins(moments: Iterable[tuple[float, str]], now: float) -> tuple[list[Bin], str, int]:
    """(columns from the oldest to the newest, their unit, how many moments are outside of them).

    ``moments`` are (seconds, RECALLED, LEFT_OUT or OTHER). The unit is the smallest that holds them all in
    BINS columns. What claims to be of after tomorrow, or is older than BINS years, is outside.
    """
    every = list(moments)
    found = [(moment, what) for moment, what in every if 0 < moment <= now + DAY]
    if not found:
        return [], "", len(every)
    first, last = min(found)[0], max(found)[0]
    unit = next((u for u in _UNITS if _number(last, u) - _number(first, u) < BINS), _UNITS[-1])
    end = _number(last, unit)
    start = max(_number(first, unit), end - BINS + 1)
    counts: dict[int, Counter[str]] = {number: Counter() for number in range(start, end + 1)}
    outside = len(every) - len(found)
    for moment, what in found:
        column = counts.get(_number(moment, unit))
        if column is None:
            outside += 1
        else:
            column[what] += 1
    made = [Bin(_label(n, unit), c[RECALLED], c[LEFT_OUT], c[OTHER]) for n, c in counts.items()]
    return made, unit, outside


def _number(moment: float, unit: str) -> int:
    """Which hour, day, week (they start on Mondays), month or year ``moment`` is in, counted from one."""
    if unit in _LENGTH:
        return int((moment + _OFFSET[unit]) // _LENGTH[unit])
    date = datetime.fromtimestamp(moment, UTC)
    return date.year * 12 + date.month - 1 if unit == "month" else date.year


def _label(number: int, unit: str) -> str:
    """The beginning of an hour, a day or a week; a month; a year."""
    if unit == "month":
        return f"{number // 12:04d}-{number % 12 + 1:02d}"
    if unit == "year":
        return f"{number:04d}"
    begin = datetime.fromtimestamp(number * _LENGTH[unit] - _OFFSET[unit], UTC)
    return f"{begin:%Y-%m-%d %H:00}" if unit == "hour" else f"{begin:%Y-%m-%d}"
