"""Loads an example server once, and forks for each instance of it, since a framework takes longer to load than most scenarios.

A line on standard input is the port to which the next instance sends its output. Standard output says `PID on PORT`, and later
`PID ended STATUS`. Instances print when a call begins to wait for an elicitation, and when the wait ends.
"""

import functools
import os
import runpy
import select
import signal
import socket
import sys
from typing import Any

from urlmode import UrlMode

original = UrlMode.wait_for_completion


@functools.wraps(original)
async def wait(self: UrlMode, id: Any, *, timeout: Any = 300, **options: Any) -> Any:
    of_call = timeout is not None and timeout > 0
    if of_call:
        print(f"waits for {id}", flush=True)
    try:
        return await original(self, id, timeout=timeout, **options)
    finally:
        if of_call:
            print(f"no longer waits for {id}", flush=True)


def tell_about_ended() -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        print(f"{pid} ended {os.waitstatus_to_exitcode(status)}", flush=True)


def fork_for_each_port() -> int:
    """Returns in each instance, and nowhere else."""
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    while True:
        ready, _, _ = select.select([sys.stdin, wake], [], [])
        if wake in ready:
            os.read(wake, 1_000)
            tell_about_ended()
        if sys.stdin not in ready:
            continue
        lines = os.read(0, 10_000)
        if not lines:
            sys.exit()
        for port in map(int, lines.split()):
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return port
            print(f"{pid} on {port}", flush=True)


UrlMode.wait_for_completion = wait  # type: ignore[method-assign]
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="loaded")
output = socket.create_connection(("127.0.0.1", fork_for_each_port()))
for number, file in enumerate([os.open(os.devnull, os.O_RDONLY), output.fileno(), output.fileno()]):
    os.dup2(file, number)
runpy.run_path(sys.argv[0], run_name="__main__")
