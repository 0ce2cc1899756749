"""Progress, speed and remaining time of a job, on stderr; the summary goes to stdout."""

import sys
import time

from nmspeller.messages import _

_TERMINAL_SECONDS = 0.2
_LOG_SECONDS = 30.0


class JobProgress:
    """One line that is rewritten on a terminal, and an occasional line in a log."""

    def __init__(self, quiet: bool = False) -> None:
        self._terminal = sys.stderr.isatty()
        self._quiet = quiet
        self._shown = time.monotonic()
        self._open = False

    def show(self, sentence: str) -> None:
        """Show the line, unless one was shown a moment ago."""
        now = time.monotonic()
        if self._quiet or now - self._shown < (_TERMINAL_SECONDS if self._terminal else _LOG_SECONDS):
            return
        self._shown = now
        if self._terminal:
            print(f"\r\x1b[K{sentence}", end="", file=sys.stderr, flush=True)
            self._open = True
        else:
            print(sentence, file=sys.stderr, flush=True)

    def say(self, sentence: str) -> None:
        """Print a message that must not be overwritten."""
        self.clear()
        print(sentence, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the progress line from the terminal."""
        if self._open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._open = False


class Rate:
    """The progress of a job; the speed is that of this run, without earlier ones."""

    def __init__(self, rows: int, done_before: int) -> None:
        self._rows = rows
        self._before = done_before
        self._done = 0
        self._sentences = 0
        self._began = time.monotonic()

    def add(self, rows: int, sentences: int) -> None:
        """Count a finished shard."""
        self._done += rows
        self._sentences += sentences

    def __str__(self) -> str:
        share = 100 * (self._before + self._done) / self._rows
        if not self._done:
            return f"{share:.1f} %"
        spent = time.monotonic() - self._began
        left = spent * (self._rows - self._before - self._done) / self._done
        speed = self._sentences / max(spent, 1e-9)
        return _("{share:.1f} %  {sentences:,} sentences  {speed:,.0f}/s  {duration} left").format(
            share=share, sentences=self._sentences, speed=speed, duration=duration(left)
        )


def duration(seconds: float) -> str:
    """A duration in readable units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return _("{days} d {hours} h").format(days=hours // 24, hours=hours % 24)
    if hours:
        return _("{hours} h {minutes:02d} min").format(hours=hours, minutes=minutes)
    if minutes:
        return _("{minutes} min {seconds:02d} s").format(minutes=minutes, seconds=rest)
    return _("{seconds} s").format(seconds=rest)
