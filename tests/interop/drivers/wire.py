"""How a test talks to somebody else's client: JSON lines over the pipes of a small process.

Every client under test is wrapped by a driver, a process that reads one JSON object per line and
answers with one: ``{"id": 7, "op": "produce", …}`` → ``{"id": 7, "result": …}`` or
``{"id": 7, "error": {"code": 3, "message": "…"}}``. ``code`` is Kafka's error code, or null when
the failure is none of Kafka's. Keys, values and header values travel in base64. The operations
are listed in ``tests/interop/README.md``; this module is the part that drivers in Python share.
"""

import base64
import json
import queue
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

Json = dict[str, Any]

MEMBER_POLL_SECONDS = 0.05
MEMBER_CALL_SECONDS = 30.0


class Refused(Exception):
    """The broker, or the client on its behalf, answered with a Kafka error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def serve(operations: object) -> None:
    """Answer requests from standard input with the methods of ``operations`` until it ends."""
    for line in sys.stdin:
        request: Json = json.loads(line)
        answer: Json = {"id": request.pop("id")}
        try:
            answer["result"] = getattr(operations, request.pop("op"))(**request)
        except Refused as refused:
            answer["error"] = {"code": refused.code, "message": str(refused)}
        except Exception as error:  # noqa: BLE001 - the root of the process: the test decides
            text = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
            answer["error"] = {"code": None, "message": text}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def pack(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def unpack(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def unpack_headers(pairs: list[tuple[str, str | None]]) -> list[tuple[str, bytes | None]]:
    return [(name, unpack(value)) for name, value in pairs]


def record(
    *,
    partition: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    headers: list[tuple[str, bytes | None]],
    timestamp_ms: int,
) -> Json:
    """A record as the test reads it."""
    return {
        "partition": partition,
        "offset": offset,
        "key": pack(key),
        "value": pack(value),
        "headers": [[name, pack(content)] for name, content in headers],
        "timestamp_ms": timestamp_ms,
    }


class Member(ABC):
    """A consumer of a group on its own thread: it polls all the time and obeys between polls."""

    def __init__(self) -> None:
        self.records: list[Json] = []
        self.failure: str | None = None
        self._orders: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue()
        self._left = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @abstractmethod
    def open(self) -> None:
        """Make the consumer and subscribe."""

    @abstractmethod
    def poll(self) -> list[Json]:
        """Whatever arrived, after waiting at most a moment."""

    @abstractmethod
    def assignment(self) -> list[tuple[str, int]]: ...

    @abstractmethod
    def commit(self) -> None:
        """Commit what was polled, and wait for the answer."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group, or only the process when the member is static."""

    def order(self, act: Callable[[], Any]) -> Any:
        """Run ``act`` on the member's thread and return what it returns."""
        done: Future[Any] = Future()
        self._orders.put((act, done))
        return done.result(MEMBER_CALL_SECONDS)

    def leave(self) -> None:
        self._left = True
        self._thread.join(MEMBER_CALL_SECONDS)

    def status(self) -> Json:
        """Assignment now, and the records that arrived since the last call."""
        taken, self.records = self.records, []
        return {"assignment": self.assignment(), "records": taken, "failure": self.failure}

    def _run(self) -> None:
        try:
            self.open()
            while not self._left:
                self.records.extend(self.poll())
                while not self._orders.empty():
                    act, done = self._orders.get()
                    try:
                        done.set_result(act())
                    except BaseException as error:  # noqa: BLE001 - travels to the caller
                        done.set_exception(error)
            self.close()
        except Exception as error:  # noqa: BLE001 - the root of the thread: status reports it
            self.failure = f"{type(error).__name__}: {error}"


class Members:
    """The group members of one driver, by name."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}

    def add(self, name: str, member: Member) -> None:
        self._members[name] = member

    def status(self, name: str) -> Json:
        member = self._members[name]
        if member.failure is not None:
            return {"assignment": [], "records": [], "failure": member.failure}
        status: Json = member.order(member.status)
        return status

    def commit(self, name: str) -> None:
        member = self._members[name]
        member.order(member.commit)

    def ask(self, name: str, method: str) -> Any:
        """What a method of the member returns, called on its thread."""
        member = self._members[name]
        return member.order(getattr(member, method))

    def leave(self, name: str) -> None:
        self._members.pop(name).leave()
