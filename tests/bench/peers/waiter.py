"""What waiter.mjs does, with the Python package.

    waiter.py IDS TIMES OPEN
"""

import array
import asyncio
import os
import sys
import time

from urlmode import UrlMode

AHEAD = 512
TOLD_EVERY = 64
READY_S = 1.5


async def main() -> None:
    ids_file, times_file, open_waits = sys.argv[1:]
    with open(ids_file) as lines:
        elicitations = [line.split() for line in lines]
    times = array.array("q", bytes(8 * len(elicitations)))
    numbers = iter(range(len(elicitations)))
    over = 0
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url=os.environ["URLMODE_BASE_URL"], name="Bench",
    ) as urlmode:

        async def wait() -> None:
            """One wait after the other."""
            nonlocal over
            for n in numbers:
                id, subject = elicitations[n]
                await urlmode.wait_for_completion(id, subject=subject, timeout=600)
                times[n] = time.monotonic_ns()
                over += 1
                if over % TOLD_EVERY == 0:
                    print(TOLD_EVERY, flush=True)

        waits = [asyncio.create_task(wait()) for _ in range(int(open_waits))]
        await asyncio.sleep(READY_S)
        print(AHEAD, flush=True)
        await asyncio.gather(*waits)
    with open(times_file, "wb") as file:
        times.tofile(file)


asyncio.run(main())
