"""Counters of a broker, kept as plain integers and read when somebody scrapes.

Per-topic figures are bounded: beyond a number of topics further ones count together, so that a
peer who invents topics cannot make the metrics page grow.
"""

from typing import Final, final

TOPICS_MAX: Final = 1000
OTHER_TOPICS: Final = "__other"


@final
class Stats:
    """What a broker did since it started; every field only grows."""

    __slots__ = (
        "api_requests",
        "batches_produced",
        "bytes_fetched",
        "topic_bytes_produced",
        "topic_records_produced",
        "unhandled",
        "violations",
    )

    def __init__(self) -> None:
        self.api_requests: dict[int, int] = {}
        self.topic_bytes_produced: dict[str, int] = {}
        self.topic_records_produced: dict[str, int] = {}
        self.batches_produced = 0
        self.bytes_fetched = 0
        self.violations = 0
        self.unhandled = 0

    def requested(self, api_key: int) -> None:
        self.api_requests[api_key] = self.api_requests.get(api_key, 0) + 1

    def produced(self, topic: str, size_bytes: int, record_count: int) -> None:
        if topic not in self.topic_bytes_produced:
            if len(self.topic_bytes_produced) >= TOPICS_MAX:
                topic = OTHER_TOPICS
            self.topic_bytes_produced.setdefault(topic, 0)
            self.topic_records_produced.setdefault(topic, 0)
        self.topic_bytes_produced[topic] += size_bytes
        self.topic_records_produced[topic] += record_count
        self.batches_produced += 1

    def fetched(self, size_bytes: int) -> None:
        self.bytes_fetched += size_bytes
