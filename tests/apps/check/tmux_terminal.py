"""A real terminal for tests: a window of tmux, in which keys are pressed and the screen is read."""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import nmspeller

SECONDS = 60  # a busy machine takes long to start Python


class Terminal:
    """Runs one command in a folder; `environment` is all that it has."""

    def __init__(self, command, folder, *, width=80, height=60, **environment):
        self._sockets = tempfile.mkdtemp(prefix="tmux-")
        self._folder = Path(folder)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(Path(nmspeller.__file__).parents[1]),
            "LANG": "C.UTF-8",
            "TERM": "screen-256color",
            "XDG_STATE_HOME": str(self._folder / "state"),
            **environment,
        }
        words = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in environment.items())])
        shell = f"trap : INT; {words} {shlex.join(map(str, command))}; echo EXIT $?; exec cat"
        self._tmux(
            *("-f", os.devnull, "-u", "new-session", "-d", "-c", folder),
            *("-x", width, "-y", height, "sh", "-c", shell),
        )

    def press(self, *keys):
        """Press keys, by tmux's names (`Enter`, `C-c`); a text is typed character by character."""
        self._tmux("send-keys", *keys)

    def screen(self, *, styled=False):
        """What can be seen, with what has scrolled away."""
        return self._tmux("capture-pane", "-p", "-S", "-2000", *(["-e"] if styled else []))

    def wait_for(self, text, times=1):
        """The screen, once it has the text so many times and no more is being written."""
        deadline = time.monotonic() + SECONDS
        before = None
        while (screen := self.screen()).count(text) < times or screen != before:
            assert time.monotonic() < deadline, f"“{text}” did not come:\n{screen.rstrip()[-3000:]}"
            before = screen
            time.sleep(0.1)
        return screen.rstrip("\n")

    def exit_code(self):
        return int(self.wait_for("EXIT ").rpartition("EXIT ")[2].split()[0])

    def close(self):
        self._tmux("kill-server")
        shutil.rmtree(self._sockets, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _tmux(self, *arguments):
        return subprocess.run(
            ["tmux", "-L", "test", *map(str, arguments)],
            env={**os.environ, "TMUX_TMPDIR": self._sockets},
            capture_output=True,
            check=True,
            text=True,
            encoding="utf-8",
        ).stdout


def is_installed():
    return shutil.which("tmux") is not None
