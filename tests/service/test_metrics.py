"""Names say their unit, pages read back, and watched numbers are read when asked."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headwater.service.metrics import Metrics, Sort


def samples(metrics: Metrics) -> dict[str, float]:
    """What somebody else's parser reads off our page."""
    text = metrics.exposition().decode()
    return {
        sample.name + "".join(f"|{k}={v}" for k, v in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_is_counted_is_on_the_page() -> None:
    """Counter, gauge and histogram, each once, without extra series."""
    metrics = Metrics(with_process=False)
    metrics.counter("received_bytes_total", "Bytes.", labels=["listener"]).labels("A").inc(5)
    metrics.gauge("open_connections", "Connections.").set(3)
    flush = metrics.histogram("log_flush_ms", "Flush.", buckets=[1, 10])
    flush.observe(1)
    flush.observe(11)
    assert samples(metrics) == {
        "headwater_received_bytes_total|listener=A": 5,
        "headwater_open_connections": 3,
        "headwater_log_flush_ms_bucket|le=1.0": 1,
        "headwater_log_flush_ms_bucket|le=10.0": 1,
        "headwater_log_flush_ms_bucket|le=+Inf": 2,
        "headwater_log_flush_ms_count": 2,
        "headwater_log_flush_ms_sum": 12,
    }


def test_watched_numbers_are_read_at_each_scrape() -> None:
    """With and without labels; label values come from peers, so they are escaped."""
    numbers: dict[tuple[str, ...], float] = {("a",): 1.0}
    metrics = Metrics(with_process=False)
    metrics.watch("log_bytes", "Bytes.", lambda: numbers, labels=["topic"])
    metrics.watch("requests_total", "Requests.", lambda: 7, sort=Sort.COUNTER)
    assert samples(metrics) == {"headwater_log_bytes|topic=a": 1, "headwater_requests_total": 7}
    numbers[('b"\n\\',)] = 2
    del numbers[("a",)]
    assert samples(metrics)['headwater_log_bytes|topic=b"\n\\'] == 2
    assert "headwater_log_bytes|topic=a" not in samples(metrics)


def test_the_process_is_measured() -> None:
    """Memory, CPU and open files under our prefix."""
    metrics = samples(Metrics())
    assert not metrics or metrics["headwater_process_resident_memory_bytes"] > 0


def test_two_registries_share_nothing() -> None:
    """Two nodes in one process have numbers of their own."""
    one, other = Metrics(with_process=False), Metrics(with_process=False)
    one.gauge("open_connections", "Connections.").set(1)
    other.gauge("open_connections", "Connections.").set(2)
    assert samples(one) != samples(other)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("requests", "counters end in _total"),
        ("flush_latency_total", "does not say its unit"),
        ("Flush_total", "not lower_snake"),
    ],
)
def test_a_counter_is_named_like_one(name: str, problem: str) -> None:
    """A name without its unit is a mistake of the programmer."""
    with pytest.raises(AssertionError, match=problem):
        Metrics(with_process=False).counter(name, "x")


@pytest.mark.parametrize("name", ["log_size", "flush_time", "requests_total", "age"])
def test_a_gauge_says_its_unit(name: str) -> None:
    """Bytes, milliseconds, records; ``_total`` is for counters."""
    with pytest.raises(AssertionError):
        Metrics(with_process=False).gauge(name, "x")


def test_declared_metrics_can_be_documented() -> None:
    """By name, with labels and sentence; a name is declared once."""
    metrics = Metrics()
    metrics.gauge("b_bytes", "Second.")
    metrics.watch("a_total", "First.", lambda: 1, sort=Sort.COUNTER, labels=["x"])
    assert [(d.name, d.sort, d.labels, d.sentence) for d in metrics.described()] == [
        ("headwater_a_total", "counter", ("x",), "First."),
        ("headwater_b_bytes", "gauge", (), "Second."),
    ]
    with pytest.raises(AssertionError, match="twice"):
        metrics.gauge("b_bytes", "Again.")
