"""``headwater broker``: run one node until it is told to stop."""

import asyncio
import errno
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, final

import click

from headwater.service.lifecycle import Lifecycle, StartRefused, run
from headwater.service.logs import Form, Level, Logger, logger
from headwater.service.options import load_settings, settings_options

from ..raft.errors import MetadataLogDamaged, MetadataLogRefused
from ..server.clock import SystemClock
from ..server.config import PREFIX, BrokerSettings
from ..server.node import Node
from ..storage.errors import LogDirectoryFailed, LogDirectoryRefused
from ..storage.fs import OsFileSystem

if TYPE_CHECKING:
    from headwater.service.http import HttpPort

STOP_MS_MAX: Final = 30_000


@click.command(
    epilog="Every setting can also stand in the file, by its name with underscores (data_dirs), or "
    "in a variable (HEADWATER_BROKER_DATA_DIRS). docs/reference has them all."
)
@settings_options(BrokerSettings)
@click.option(
    "--log-level",
    type=click.Choice([level.name.lower() for level in Level]),
    default="info",
    show_default=True,
    help="Least level of log lines.",
)
@click.option(
    "--log-form",
    type=click.Choice([form.value for form in Form]),
    default=Form.AUTO.value,
    show_default=True,
    help="How log lines look; auto is readable on a terminal and JSON elsewhere.",
)
def broker(log_level: str, log_form: str, **arguments: Any) -> None:
    """Run a broker: a cluster of one that Kafka clients take for Kafka.

    Without flags it listens on 127.0.0.1:9092 and keeps its data in ./headwater-data; both are made
    when they are not there. The line "ready" says that clients are served. SIGTERM and Ctrl-C stop
    it cleanly; after a crash the next start repairs what was being written, and says what it did.

    A record is on disk before a producer with acks=all hears of it, unless its topic says
    otherwise (flush.messages). There is no authentication yet: other addresses than loopback are
    open to everyone who reaches them.

    \b
    Examples:
      headwater broker --set num.partitions=3 --set log.retention.hours=72
      headwater broker --data-dir disk1/log --data-dir disk2/log
      headwater broker --monitor 127.0.0.1:9100      # /metrics and /health
      headwater broker --listener PLAINTEXT://0.0.0.0:9092 \\
          --advertised-listener PLAINTEXT://log.example.net:9092
    """  # noqa: D301 - the backspace is how click is told to leave lines as they are
    settings = load_settings(BrokerSettings, arguments, prefix=PREFIX).values
    log = logger(out=sys.stderr, form=Form(log_form), level=Level[log_level.upper()])

    async def start(life: Lifecycle) -> None:
        running = await life.enter("broker", _Running(settings, log, life))
        if settings.monitor_address is not None:
            port = await life.enter("monitor", _monitor(running.node, settings))
            log.info("monitor_listening", host=settings.monitor_address.host, port=port.port)
        log.info(
            "ready",
            node_id=settings.node_id,
            listeners=[f"{e.listener}://{e.host}:{e.port}" for e in running.node.endpoints],
            data_dirs=[str(path) for path in settings.data_dirs],
        )

    sys.exit(run(start, log=log, stop_ms_max=STOP_MS_MAX))


@final
class _Running(AbstractAsyncContextManager["_Running"]):
    """A node between start and stop."""

    def __init__(self, settings: BrokerSettings, log: Logger, life: Lifecycle) -> None:
        self._log = log
        self._life = life
        self.node = Node(
            settings,
            fs=OsFileSystem(),
            clock=SystemClock(),
            notify=self._notify,
            on_fatal=lambda failure: life.fail(failure, "no usable data directory is left"),
        )

    async def __aenter__(self) -> "_Running":
        asyncio.get_running_loop().set_exception_handler(self._crashed)
        try:
            await self.node.start()
        except (
            LogDirectoryRefused,
            LogDirectoryFailed,
            MetadataLogRefused,
            MetadataLogDamaged,
            ValueError,
        ) as error:
            raise StartRefused(str(error)) from error
        except OSError as error:
            raise StartRefused(_cannot_listen(self.node.settings, error)) from error
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.node.stop()

    def _crashed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A callback of the loop failed: with half its work done the broker cannot be trusted."""
        del loop
        error = context.get("exception")
        if error is None or isinstance(error, OSError):
            self._log.warning("loop_complains", reason=context.get("message"), error=error)
            return
        self._log.error("crashed", reason=context.get("message"), error=error)
        self._life.fail(error, "a fault of the broker")

    def _notify(self, event: str, severe: bool, facts: Mapping[str, object]) -> None:  # noqa: FBT001 - as Notify has it
        if severe:
            self._log.error(event, **facts)
        elif event.startswith("connection_"):
            self._log.debug(event, **facts)
        else:
            self._log.info(event, **facts)


def _cannot_listen(settings: BrokerSettings, error: OSError) -> str:
    listeners = ", ".join(str(listener) for listener in settings.listeners)
    way_out = (
        "another process listens there: stop it, or give another --listener (port 0 takes a free "
        "one)"
        if error.errno == errno.EADDRINUSE
        else "give an address of this machine with --listener"
    )
    return f"cannot listen on {listeners}: {error.strerror or error}; {way_out}"


def _monitor(node: Node, settings: BrokerSettings) -> "HttpPort":
    # Imported for those who ask for it: the library of metrics is a tenth of the time to ready.
    from headwater.service.health import Health  # noqa: PLC0415 - see above
    from headwater.service.http import HttpPort, health_routes, metrics_route  # noqa: PLC0415 - see above
    from headwater.service.metrics import CONTENT_TYPE, Metrics  # noqa: PLC0415 - see above

    from ..server.metrics import watch_node  # noqa: PLC0415 - see above

    address = settings.monitor_address
    assert address is not None
    metrics, health = Metrics(), Health()
    watch_node(node, metrics, health)
    routes = {**health_routes(health), **metrics_route(metrics.exposition, CONTENT_TYPE)}
    return HttpPort(routes, host=address.host, port=address.port)
