"""Single keys and lines from the terminal."""

import os
import select
import signal
import sys
import unicodedata
from contextlib import suppress
from types import FrameType, TracebackType

from nmspeller.errors import InputError
from nmspeller.messages import _

CLOSED = ""
"""What is read when the terminal has gone, for instance with its connection."""
REDRAW = "redraw"
"""What is read when the process continues after Ctrl-Z."""

_ESCAPE = "\x1b"


class Keyboard:
    """Reads keys as they are pressed, without echo; Ctrl-C raises KeyboardInterrupt as usual."""

    def __init__(self) -> None:
        try:
            import termios
            import tty
        except ImportError:
            raise InputError(_("--review needs a terminal of Linux, macOS or another Unix.")) from None
        self._termios, self._tty = termios, tty
        self._reads_keys = self._continued = False
        if not sys.stdout.isatty() or sys.stdin is None:
            raise _no_terminal()
        if not os.isatty(0):
            # As after `xargs`: standard input is something else, and the keys come from the terminal itself.
            try:
                terminal = os.open("/dev/tty", os.O_RDWR)
            except OSError:
                raise _no_terminal() from None
            os.dup2(terminal, 0)
            os.close(terminal)
        self._usual = termios.tcgetattr(0)

    def __enter__(self) -> "Keyboard":
        self._usual_handler = signal.signal(signal.SIGCONT, self._after_stop)
        self._use_keys()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._use_lines()
        signal.signal(signal.SIGCONT, self._usual_handler)

    def key(self, seconds: float) -> str | None:
        """The next key, or None if none is pressed in this time.

        Full-width letters and capitals, which a mode of the keyboard may cause, are as usual ones.
        """
        ready, _writable, _wrong = select.select([0], [], [], seconds)
        if self._continued:
            self._continued = False
            return REDRAW
        if not ready:
            return None
        try:
            first = os.read(0, 1)
            rest = b"".join(os.read(0, 1) for _ in range(_following_bytes(first)))
        except OSError:
            return CLOSED
        if first in (b"", b"\x04"):  # Ctrl-D
            return CLOSED
        character = unicodedata.normalize("NFKC", (first + rest).decode(errors="replace")).casefold()
        if character == _ESCAPE:
            self._skip_sequence()
        return character

    def line(self, prompt: str, offered: str) -> str:
        """A line that the user edits, with `offered` to begin with; empty if there is none."""
        self._use_lines()
        try:
            import readline
        except ImportError:
            return self._input(prompt)
        readline.set_auto_history(False)
        readline.set_startup_hook(lambda: readline.insert_text(offered))
        try:
            return self._input(prompt)
        finally:
            readline.set_startup_hook(None)

    def _input(self, prompt: str) -> str:
        try:
            return input(prompt).strip()
        except (EOFError, UnicodeDecodeError):
            print()
            return ""
        finally:
            self._use_keys()

    def _use_keys(self) -> None:
        self._reads_keys = True
        with suppress(self._termios.error):  # the terminal has gone
            self._tty.setcbreak(0, self._termios.TCSADRAIN)

    def _use_lines(self) -> None:
        self._reads_keys = False
        with suppress(self._termios.error):
            self._termios.tcsetattr(0, self._termios.TCSADRAIN, self._usual)

    def _skip_sequence(self) -> None:
        """Read the rest of what an arrow or another special key sends: `[`, parameters, a final letter."""
        if select.select([0], [], [], 0.02)[0] and os.read(0, 1) in (b"[", b"O"):
            while b"" < os.read(0, 1) < b"@":
                pass

    def _after_stop(self, number: int, frame: FrameType | None) -> None:
        if self._reads_keys:
            self._use_keys()
            self._continued = True


def _following_bytes(first: bytes) -> int:
    """How many bytes of a UTF-8 character follow its first one."""
    return sum(first >= least for least in (b"\xc0", b"\xe0", b"\xf0"))


def _no_terminal() -> InputError:
    return InputError(_("--review asks in a terminal, and there is none; use --fix or --diff."))
