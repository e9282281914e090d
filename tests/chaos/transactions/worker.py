"""A client library in all its roles, as a process: one thread and one history file for each.

``python -m tests.chaos.transactions.worker confluent|kafka-python NAME BOOTSTRAP DIRECTORY SEED``

It ends in good order when its standard input ends, which also happens when its owner dies. A role
that does not come back from its library then is told of on standard error, by ``roles.HUNG``.
"""

import faulthandler
import os
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

from . import roles
from .confluent import Confluent
from .journal import Journal
from .kafka_python import KafkaPython

LAST_SECONDS: Final = 60.0

CLIENTS: Final[dict[str, Callable[[str], roles.Client]]] = {
    "confluent": Confluent,
    "kafka-python": KafkaPython,
}
ROLES: Final[dict[str, Callable[[roles.Worker], None]]] = {
    "write": roles.write,
    "transform": roles.transform,
    "mix": roles.mix,
    "idempotent": lambda worker: roles.send_plainly(worker, idempotent=True),
    "plain": lambda worker: roles.send_plainly(worker, idempotent=False),
    "committed": lambda worker: roles.tail(worker, read_committed=True),
    "uncommitted": lambda worker: roles.tail(worker, read_committed=False),
}


def main(library: str, name: str, bootstrap: str, directory: str, seed: str) -> int:
    """*name* is LIBRARY#NUMBER; roles in it are ``library-role/number``."""
    stopping = threading.Event()
    failures: list[str] = []
    client = CLIENTS[library](bootstrap)
    _, _, number = name.partition("#")

    def run(role: str) -> None:
        worker_name = f"{library}-{role}/{number}"
        journal = Journal(Path(directory) / f"{library}-{role}-{number}.jsonl")
        dice = random.Random(f"{seed} {worker_name}")
        worker = roles.Worker(worker_name, client, journal, dice, stopping.is_set)
        try:
            ROLES[role](worker)
        except Exception:  # noqa: BLE001 - the root of a thread: it reports
            failures.append(f"{worker_name}:\n{traceback.format_exc()}")
            stopping.set()
        finally:
            journal.close()

    threads = [threading.Thread(target=run, args=(role,), name=role) for role in ROLES]
    watch = threading.Thread(target=_stop_at_end_of_input, args=(stopping,))
    for thread in (*threads, watch):
        thread.daemon = True  # a library that hangs must not keep the process
        thread.start()
    stopping.wait()
    deadline = time.monotonic() + LAST_SECONDS
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    hung = [f"{library}-{thread.name} hangs\n" for thread in threads if thread.is_alive()]
    sys.stderr.write("\n".join([*failures, *hung]))
    sys.stderr.flush()
    if hung and not failures:
        faulthandler.dump_traceback()
        os._exit(roles.HUNG)
    return 1 if failures else 0


def _stop_at_end_of_input(stopping: threading.Event) -> None:
    sys.stdin.read()
    stopping.set()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
