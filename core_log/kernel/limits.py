"""Bounds on what a peer can make us do, each with its unit and its reason."""

from typing import Final

FRAME_BYTES_MAX: Final = 100 * 2**20
"""One request: Kafka's ``socket.request.max.bytes``."""

FRAME_BYTES_MAX_UNAUTHENTICATED: Final = 64 * 2**10
"""One request before its sender is known. A handshake fits a hundred times."""

DECODE_ELEMENTS_MAX: Final = 100_000
"""Array elements and tagged fields in one message. A fetch of 10,000 partitions has 20,000; the
objects for this many take some 30 MB, whatever the request's size."""

DECODE_ELEMENTS_MAX_UNAUTHENTICATED: Final = 1_000
"""The same before the sender is known: ApiVersions and SASL requests have next to none."""

assert FRAME_BYTES_MAX_UNAUTHENTICATED < FRAME_BYTES_MAX
assert DECODE_ELEMENTS_MAX_UNAUTHENTICATED < DECODE_ELEMENTS_MAX
