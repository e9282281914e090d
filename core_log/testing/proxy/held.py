"""One request that a test keeps back: caught, let go when the test says, answered or not.

A shell: the proxy's thread and the test's meet here.
"""

import threading
from concurrent.futures import Future
from typing import Final, final

from ...protocol.frame import PREFIX_BYTES

HELD_SECONDS_MAX: Final = 120.0
"""Then a request goes on by itself: a test that died must not leave a connection for ever."""


class NotCaught(Exception):
    """No request of the kind came in time."""


@final
class Held:
    """A request to keep back. Made by ``FaultProxy.hold``; safe to use from any thread."""

    def __init__(self, api_key: int, *, cuts_client: bool) -> None:
        self.api_key = api_key
        self.cuts_client = cuts_client
        self.request = b""
        """Its frame without the size, once it is caught: header and body."""
        self.goes_on: Future[bool] = Future()
        """For the proxy: whether to deliver it, or lose it."""
        self._caught = threading.Event()
        self._answer: Future[bytes | None] = Future()

    def wait_until_caught(self, timeout_seconds: float) -> None:
        """Raises NotCaught when no such request came in time."""
        if not self._caught.wait(timeout_seconds):
            raise NotCaught(f"no request with API key {self.api_key} in {timeout_seconds} s")

    def release(self) -> None:
        """Let it arrive, on the connection on which it was sent."""
        if not self.goes_on.done():
            self.goes_on.set_result(True)

    def drop(self) -> None:
        """Lose it, with its connection."""
        if not self.goes_on.done():
            self.goes_on.set_result(False)

    def answer(self, timeout_seconds: float) -> bytes | None:
        """What the broker answered after ``release``: a frame without its size.

        None when the broker closed the connection instead, or it was lost. Raises TimeoutError.
        """
        return self._answer.result(timeout_seconds)

    # For the proxy's thread.

    def catch(self, frame: bytes) -> None:
        self.request = frame[PREFIX_BYTES:]
        self._caught.set()

    def offer(self, answer: bytes | None) -> None:
        """A frame that the broker sent on the connection; None when there will be no more."""
        is_its_own = answer is None or answer[:4] == self.request[4:8]  # the correlation id
        if is_its_own and not self._answer.done():
            self._answer.set_result(answer)
