"""Programs for tests that start at once: a process that has made their imports forks for each start.

`python forking.py SOCKET PROGRAM` waits for starts at the socket, until its standard input ends.
`python forking.py SOCKET -- ARGUMENTS` starts the program there with these arguments and its own standard
streams, environment and working folder, passes signals on to it and ends with its exit code.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def starting(program: Path, environment: Mapping[str, str] | None = None) -> Iterator[list[str]]:
    """The command that starts a program, to be followed by its arguments.

    environment: while it makes its imports; each start has its own.
    """
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # the name of a socket may not be as long as some paths of tests
        address = os.path.join(folder, "forks")
        command = [sys.executable, __file__, address, str(program)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as forks:
            while not os.path.exists(address):
                assert forks.poll() is None, f"{program} does not start"
                time.sleep(0.01)
            yield [sys.executable, "-S", __file__, address, "--"]


def _wait_for_starts(address: str, program: str) -> None:
    import runpy

    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="imported")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that watch a program
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{address}~")
        listener.listen()
        os.rename(f"{address}~", address)
        while listener in select.select([listener, 0], [], [])[0]:
            caller, _ = listener.accept()
            sent, streams, *_ = socket.recv_fds(caller, 1 << 20, 3)
            if os.fork() == 0:
                listener.close()
                _watch(caller, program, json.loads(sent), streams)
            for open_file in streams:
                os.close(open_file)
            caller.close()


def _watch(caller: socket.socket, program: str, start: dict[str, object], streams: list[int]) -> None:
    """Fork into the program; tell the caller its process id and, in the end, its exit code."""
    import runpy

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        caller.close()
        for number, open_file in enumerate(streams):
            os.dup2(open_file, number)
            os.close(open_file)
        os.environ.clear()
        os.environ.update(start["environment"])
        os.chdir(start["folder"])
        sys.argv = [program, *start["arguments"]]
        runpy.run_path(program, run_name="__main__")
        sys.exit()
    for open_file in (0, 1, 2, *streams):  # so that the program's are the last to be closed
        os.close(open_file)
    caller.send(b"%d\n" % process)
    caller.send(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    os._exit(0)


def _start(address: str, arguments: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until there is a process to pass them on to
    with socket.socket(socket.AF_UNIX) as forks:
        forks.connect(address)
        start = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
        socket.send_fds(forks, [json.dumps(start).encode()], [0, 1, 2])
        answers = forks.makefile()
        process = int(answers.readline())
        for number in _SIGNALS:
            signal.signal(number, lambda received, _: os.kill(process, received))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        for open_file in (0, 1, 2):
            os.close(open_file)
        code = int(answers.readline())
    if code < 0:
        with contextlib.suppress(OSError):  # nobody can handle SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    if sys.argv[2] == "--":
        os._exit(_start(sys.argv[1], sys.argv[3:]))
    _wait_for_starts(*sys.argv[1:])
