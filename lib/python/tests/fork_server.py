"""Servers over standard streams that are forks of one process for each environment: to import a framework takes 1.4 s of the
processor, which is more than a test does with its server. The command of a server passes its streams, arguments and
environment on to that process, and ends when the fork does."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

IMPORTED = ["urlmode.vault", "urlmode.oauth", "urlmode.mcp", "urlmode.fastmcp"]


@functools.cache
def _server(python: Path, path: str) -> tuple[str, TemporaryDirectory[str]]:
    """The socket of a process, which ends when this one does. It is there before the process is."""
    folder = TemporaryDirectory()
    at = str(Path(folder.name) / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(at)
        listener.listen(64)
        process = subprocess.Popen(
            [python, __file__, str(listener.fileno())], stdin=subprocess.PIPE, pass_fds=[listener.fileno()],
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
    atexit.register(process.communicate)
    return at, folder


def command(python: Path, path: str, *args: str) -> list[str]:
    """What to run in place of `python ARGS…` with this PYTHONPATH."""
    return [sys.executable, "-I", "-S", __file__, _server(python, path)[0], *args]


def _pass_on(at: str, args: list[str]) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(at)
        socket.send_fds(connection, [json.dumps([args, dict(os.environ)]).encode()], [0, 1, 2])
        connection.recv(1)  # nothing comes but its end


def _serve(listener: socket.socket) -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    while 0 not in select.select([0, listener.fileno()], [], [])[0]:
        connection, _ = listener.accept()
        message, streams, *_ = socket.recv_fds(connection, 1 << 18, 3)
        if os.fork() == 0:
            listener.close()
            _become(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        connection.close()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _become(wanted: tuple[list[str], dict[str, str]], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Those of before may know that they were files.
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), open(2, "w", closefd=False)
    sys.argv, environment = wanted
    os.environ.clear()
    os.environ.update(environment)
    status = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _pass_on(sys.argv[1], sys.argv[2:])
    else:
        _serve(socket.socket(fileno=int(sys.argv[1])))
