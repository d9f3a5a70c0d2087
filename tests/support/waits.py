"""Runs an example server, and prints when a call begins to wait for an elicitation, and when the wait ends."""

import functools
import os
import runpy
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


UrlMode.wait_for_completion = wait  # type: ignore[method-assign]
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
