"""What a node shows at /metrics and /health, read from counters it keeps anyway."""

from collections.abc import Callable, Mapping
from typing import Final

from headwater.service.health import Health, Question
from headwater.service.metrics import Metrics, Sort

from ..broker.broker import Broker
from ..protocol.apis import API_BY_KEY
from .node import Node

LATE_MS: Final = 5 * 60_000
"""As Kafka's partitions-with-late-transactions-count has it."""


def watch_node(node: Node, metrics: Metrics, health: Health) -> None:
    """Declare every metric and check of a broker."""

    def of_broker(read: Callable[[Broker], float]) -> Callable[[], float]:
        return lambda: 0.0 if node.broker is None else read(node.broker)

    def by_topic(
        read: Callable[[Broker], Mapping[str, int]],
    ) -> Callable[[], dict[tuple[str, ...], float]]:
        return lambda: (
            {}
            if node.broker is None
            else {(topic,): value for topic, value in read(node.broker).items()}
        )

    metrics.watch(
        "broker_requests_total",
        "Requests served, by API.",
        lambda: (
            {}
            if node.broker is None
            else {
                (API_BY_KEY[key].name,): count
                for key, count in node.broker.stats.api_requests.items()
            }
        ),
        sort=Sort.COUNTER,
        labels=("api",),
    )
    metrics.watch(
        "broker_violations_total",
        "Requests that no Kafka client sends; each closed its connection.",
        of_broker(lambda broker: broker.stats.violations),
        sort=Sort.COUNTER,
    )
    metrics.watch(
        "broker_unhandled_errors_total",
        "Requests that met a fault of the broker; each closed its connection.",
        of_broker(lambda broker: broker.stats.unhandled),
        sort=Sort.COUNTER,
    )
    metrics.watch(
        "broker_produced_bytes_total",
        "Bytes of record batches appended by producers, by topic.",
        by_topic(lambda broker: broker.stats.topic_bytes_produced),
        sort=Sort.COUNTER,
        labels=("topic",),
    )
    metrics.watch(
        "broker_produced_records_total",
        "Records appended by producers, by topic.",
        by_topic(lambda broker: broker.stats.topic_records_produced),
        sort=Sort.COUNTER,
        labels=("topic",),
    )
    metrics.watch(
        "broker_fetched_bytes_total",
        "Bytes of record batches sent to consumers.",
        of_broker(lambda broker: broker.stats.bytes_fetched),
        sort=Sort.COUNTER,
    )
    metrics.watch(
        "broker_partitions",
        "Partitions hosted by this node.",
        of_broker(lambda broker: len(broker.partitions)),
    )
    metrics.watch(
        "broker_offline_partitions",
        "Partitions of this node that cannot be served because their directory failed.",
        of_broker(
            lambda broker: sum(
                1 for hosted in broker.partitions if hosted.offline_reason is not None
            )
        ),
    )
    metrics.watch(
        "broker_connections",
        "Connections open now.",
        lambda: float(len(node.connections.open)),
    )
    metrics.watch(
        "broker_connections_accepted_total",
        "Connections accepted.",
        lambda: float(node.connections.accepted_count),
        sort=Sort.COUNTER,
    )
    metrics.watch(
        "broker_connections_refused_total",
        "Connections refused because of a limit.",
        lambda: float(node.connections.refused_count),
        sort=Sort.COUNTER,
    )
    _watch_transactions(metrics, node, of_broker)
    _watch_compaction(metrics, of_broker)
    health.add(
        "serving",
        lambda: None if node.broker is not None else "not started",
        question=Question.LIVE,
    )
    health.add("data_directories", lambda: _offline(node))


def _watch_transactions(
    metrics: Metrics,
    node: Node,
    of_broker: Callable[[Callable[[Broker], float]], Callable[[], float]],
) -> None:
    metrics.watch(
        "broker_transactions_ended_total",
        "Transactions that this node coordinates and has decided, by outcome.",
        lambda: (
            {}
            if node.broker is None
            else {
                ("commit" if is_commit else "abort",): float(count)
                for is_commit, count in node.broker.transactions.ended.items()
            }
        ),
        sort=Sort.COUNTER,
        labels=("outcome",),
    )
    metrics.watch(
        "broker_transaction_markers_unwritten",
        "Markers of decided transactions that are not in their partitions yet.",
        of_broker(lambda broker: broker.transactions.orders.unwritten),
    )
    metrics.watch(
        "broker_late_transactions",
        "Transactions open in a partition without a record for longer than any may take and five "
        "minutes: readers of what is committed wait behind each.",
        of_broker(_late_transactions),
    )


def _late_transactions(broker: Broker) -> int:
    bound_ms = broker.transactions.config.transaction_timeout_ms_max + LATE_MS
    since_ms = broker.clock.now_ms() - bound_ms
    return sum(hosted.log.late_transactions(since_ms=since_ms) for hosted in broker.partitions)


def _watch_compaction(
    metrics: Metrics,
    of_broker: Callable[[Callable[[Broker], float]], Callable[[], float]],
) -> None:
    for name, sentence, read in (
        ("passes", "Compactions that ended well.", lambda broker: broker.compaction.stats.passes),
        (
            "read_bytes",
            "Bytes of log that compaction has rewritten.",
            lambda broker: broker.compaction.stats.bytes_in,
        ),
        (
            "written_bytes",
            "Bytes of log that compaction has left of them.",
            lambda broker: broker.compaction.stats.bytes_out,
        ),
    ):
        metrics.watch(
            f"broker_compaction_{name}_total", sentence, of_broker(read), sort=Sort.COUNTER
        )
    for name, sentence, read in (
        (
            "compaction_last_bytes",
            "Bytes of log that the last compaction rewrote.",
            lambda broker: broker.compaction.stats.last.bytes_in,
        ),
        (
            "compaction_last_records",
            "Records that the last compaction rewrote.",
            lambda broker: broker.compaction.stats.last.records_in,
        ),
        (
            "compaction_last_seconds",
            "How long the last compaction took, by its own clock.",
            lambda broker: broker.compaction.stats.last_seconds,
        ),
        (
            "compaction_dirty_ratio_max",
            "The largest share of a compacted log that could be compacted, at the last look.",
            lambda broker: broker.compaction.dirty_ratio_max,
        ),
        (
            "uncleanable_partitions",
            "Partitions that are not compacted any more because their log is damaged.",
            lambda broker: len(broker.compaction.uncleanable),
        ),
    ):
        metrics.watch(f"broker_{name}", sentence, of_broker(read))


def _offline(node: Node) -> str | None:
    if node.broker is None:
        return "not started"
    offline = [
        f"{directory.path}: {directory.offline_reason}"
        for directory in node.broker.directories
        if directory.offline_reason is not None
    ]
    return "; ".join(offline) or None
