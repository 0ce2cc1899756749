"""Single keys and lines from the terminal, of any system that prompt_toolkit knows."""

import asyncio
import io
import os
import signal
import sys
import unicodedata
from contextlib import ExitStack
from types import TracebackType

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.output import DummyOutput

from nmspeller.errors import InputError
from nmspeller.messages import _

CLOSED = ""
"""What is read when the terminal has gone, for instance with its connection."""
REDRAW = "redraw"
"""What is read when the process continues after Ctrl-Z."""
_SUSPEND = "suspend"


class Keyboard:
    """Reads keys as they are pressed, without echo; Ctrl-C raises KeyboardInterrupt."""

    def __init__(self) -> None:
        if sys.stdin is None or not sys.stdout.isatty():
            raise _no_terminal()
        if isinstance(sys.stdin, io.TextIOWrapper):
            # Chinese can be typed in any locale, as it is printed in any.
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        # As after `xargs`, standard input may be something else; then the terminal itself is read.
        self._input = create_input(always_prefer_tty=True)
        self._bindings = _bindings()
        self._modes = ExitStack()

    def __enter__(self) -> "Keyboard":
        # Between two keys as well, so that what is typed early is neither echoed nor lost.
        self._modes.enter_context(self._input.raw_mode())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._modes.close()

    def key(self, seconds: float | None = None) -> str | None:
        """The next key, or None if none is pressed in this time.

        Full-width letters and capitals, which a mode of the keyboard may cause, are as usual ones.
        """
        # It draws nothing: what the user sees is written by the screen.
        reader: Application[str | None] = Application(
            Layout(Window()), key_bindings=self._bindings, input=self._input, output=DummyOutput()
        )

        def give_up() -> None:
            if reader.is_running and not reader.is_done:
                reader.exit(result=None)

        def limit_time() -> None:
            if seconds is not None:
                asyncio.get_running_loop().call_later(seconds, give_up)

        try:
            key = reader.run(pre_run=limit_time)
        except (EOFError, OSError):
            return CLOSED
        return self._suspend() if key == _SUSPEND else key

    def line(self, prompt: str, offered: str) -> str:
        """A line that the user edits, with `offered` to begin with; empty if there is none."""
        session: PromptSession[str] = PromptSession(input=self._input)
        try:
            return session.prompt(prompt, default=offered).strip()
        except EOFError:
            return ""

    def _suspend(self) -> str | None:
        """Stop the process, as Ctrl-Z does where the terminal itself reads it; none of Windows stops."""
        stop = getattr(signal, "SIGTSTP", None)
        if stop is None:
            return None
        with self._input.cooked_mode():
            os.kill(0, stop)
        return REDRAW


def _bindings() -> KeyBindings:
    bindings = KeyBindings()
    bindings.add(Keys.Any)(lambda event: event.app.exit(result=_plain(event.data)))
    bindings.add("c-c")(lambda event: event.app.exit(exception=KeyboardInterrupt))
    bindings.add("c-d")(lambda event: event.app.exit(result=CLOSED))
    bindings.add("c-z")(lambda event: event.app.exit(result=_SUSPEND))
    return bindings


def _plain(key: str) -> str:
    return unicodedata.normalize("NFKC", key).casefold()


def _no_terminal() -> InputError:
    return InputError(_("`review` asks in a terminal, and there is none; use `check`."))
