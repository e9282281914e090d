"""Counters, gauges and histograms of one process, in the text format that Prometheus reads.

A shell over ``prometheus_client`` with a registry of its own for each process object, so that two
nodes in one test do not share numbers. Names say their unit as everywhere in the code:
``headwater_log_flush_ms``, ``headwater_network_received_bytes_total``. What a part counts anyway
is *watched*: read when somebody asks, at no cost while nobody does.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

PREFIX: Final = "headwater"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
LATENCY_MS_BUCKETS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 5000)
"""From a cached read to the time after which clients give up waiting for a flush."""

_UNITLESS: Final = frozenset(
    {"age", "delay", "duration", "interval", "lag", "latency", "memory", "size", "time", "timeout"}
)
_Samples: TypeAlias = Mapping[tuple[str, ...], float] | float


class Sort(Enum):
    """What a watched number does: only grow, or go up and down."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One metric, for the reference page."""

    name: str
    sort: str
    labels: tuple[str, ...]
    sentence: str


@final
class Metrics:
    """The registry of one process."""

    def __init__(self, *, with_process: bool = True) -> None:
        # The library adds a "_created" series to each counter otherwise: double the page.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left it so
        self._registry = CollectorRegistry(auto_describe=False)
        self._described: dict[str, Described] = {}
        if with_process:
            ProcessCollector(namespace=PREFIX, registry=self._registry)

    def counter(self, name: str, sentence: str, *, labels: Sequence[str] = ()) -> Counter:
        """A number that only grows; *name* ends in ``_total``."""
        full = self._describe(name, "counter", sentence, labels)
        return Counter(full, sentence, labels, registry=self._registry)

    def gauge(self, name: str, sentence: str, *, labels: Sequence[str] = ()) -> Gauge:
        """A number that goes up and down."""
        full = self._describe(name, "gauge", sentence, labels)
        return Gauge(full, sentence, labels, registry=self._registry)

    def histogram(
        self,
        name: str,
        sentence: str,
        *,
        labels: Sequence[str] = (),
        buckets: Sequence[float] = LATENCY_MS_BUCKETS,
    ) -> Histogram:
        """Counts of observations by size; *buckets* are upper bounds in the unit of the name."""
        full = self._describe(name, "histogram", sentence, labels)
        return Histogram(full, sentence, labels, registry=self._registry, buckets=buckets)

    def watch(
        self,
        name: str,
        sentence: str,
        read: Callable[[], _Samples],
        *,
        sort: Sort = Sort.GAUGE,
        labels: Sequence[str] = (),
    ) -> None:
        """Call *read* at each scrape: a number, or numbers by their label values."""
        full = self._describe(name, sort.value, sentence, labels)
        self._registry.register(_Watched(full, sentence, read, sort=sort, labels=tuple(labels)))

    def exposition(self) -> bytes:
        """All metrics as text. Call it on the loop that owns the numbers."""
        return generate_latest(self._registry)

    def described(self) -> tuple[Described, ...]:
        """What was declared here, by name, for documentation."""
        return tuple(self._described[name] for name in sorted(self._described))

    def _describe(self, name: str, sort: str, sentence: str, labels: Sequence[str]) -> str:
        _check_name(name, sort)
        full = f"{PREFIX}_{name}"
        assert full not in self._described, f"{full} is declared twice"
        self._described[full] = Described(
            name=full, sort=sort, labels=tuple(labels), sentence=sentence
        )
        return full


class _Watched(Collector):
    """Reads numbers that somebody else keeps."""

    def __init__(
        self,
        name: str,
        sentence: str,
        read: Callable[[], _Samples],
        *,
        sort: Sort,
        labels: tuple[str, ...],
    ) -> None:
        self._name = name
        self._sentence = sentence
        self._read = read
        self._labels = labels
        self._family = CounterMetricFamily if sort is Sort.COUNTER else GaugeMetricFamily

    def collect(self) -> Iterable[Metric]:
        family = self._family(self._name, self._sentence, labels=self._labels)
        samples = self._read()
        by_labels = samples if isinstance(samples, Mapping) else {(): samples}
        for values, value in by_labels.items():
            family.add_metric(values, value)
        yield family


def _check_name(name: str, sort: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name), f"{name} is not lower_snake"
    assert (sort == "counter") == name.endswith("_total"), f"{name}: counters end in _total"
    last = name.removesuffix("_total").rpartition("_")[2]
    assert last not in _UNITLESS, f"{name} does not say its unit; end it in _ms, _bytes, _records"
