"""The process that compacts logs: ``python -P -m headwater.core_log.server.cleaner_process``.

A shell: orders on standard input, answers on standard output, see ``cleaner_frames``; what it has
to say to people goes to standard error, which the broker writes into its log. It yields to whatever
else wants the processor, and ends when its input ends, be it in the middle of a job: a broker that
is killed takes it along.
"""

import os
import queue
import sys
import threading
import time
from typing import BinaryIO, Final

from ..kernel.ports import Clock
from ..storage.compaction.job import Pace
from ..storage.fs import OsFileSystem
from .cleaner_frames import (
    LENGTH,
    Answer,
    Done,
    Failed,
    Order,
    decode_order,
    encode_frame,
    frame_size,
)
from .clock import SystemClock
from .pace import BytePace

NICE: Final = 10
"""A tenth of the processor where others want it, all of it where they do not."""


def main() -> None:
    """Do jobs until the input ends."""
    os.nice(NICE)
    # What a library prints must not land between frames.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, orders), daemon=True).start()
    while True:
        answers.write(encode_frame(_work(orders.get())))
        answers.flush()


def _read(source: BinaryIO, orders: "queue.SimpleQueue[Order]") -> None:
    while (head := source.read(LENGTH.size)) and len(head) == LENGTH.size:
        orders.put(decode_order(source.read(frame_size(head))))
    # Nobody waits for the job at hand; half-written files go with the next start of the broker.
    os._exit(0)


def _work(order: Order) -> Answer:
    # numpy is loaded with the first job, not with the process, so that it answers for its start.
    from ..storage.compaction.cleaner import clean  # noqa: PLC0415 - only a job needs numpy

    clock = SystemClock()
    try:
        result = clean(order.job, OsFileSystem(), clock=clock, pace=_pace(order, clock))
    except OSError as error:
        return Failed(reason=f"{error.strerror or error} ({error.filename or order.job.directory})")
    return Done(result=result)


def _pace(order: Order, clock: Clock) -> Pace:
    bound = order.bytes_per_second_max
    pace = None if bound is None else BytePace(bound, now_ms=clock.monotonic_ms())

    def wait(size_bytes: int) -> None:
        if pace is not None:
            time.sleep(pace.wait_ms(size_bytes, now_ms=clock.monotonic_ms()) / 1000)

    return wait


if __name__ == "__main__":
    main()
