"""What every client command shares: which cluster, how to show results, what an error says."""

import functools
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Final, ParamSpec, TypeVar, final

import click
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported without saying so
    AdminClient,
    OffsetSpec,
)

from ..kernel.errors import ErrorCode

P = ParamSpec("P")
T = TypeVar("T")

BOOTSTRAP_VARIABLE: Final = "HEADWATER_BOOTSTRAP"
BOOTSTRAP_DEFAULT: Final = "127.0.0.1:9092"
REQUEST_TIMEOUT_SECONDS: Final = 30.0
CONNECT_TIMEOUT_SECONDS: Final = 1.0
CONNECT_ATTEMPTS: Final = 10
EARLIEST: Final[OffsetSpec] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # has no types
LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # has no types
LIBRDKAFKA_TEXT: Final = "Broker: "
"""How librdkafka's own words for a code begin, where the broker sent none."""
_HINTS: Final = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "'headwater topics list' shows what there is",
    ErrorCode.TOPIC_ALREADY_EXISTS: "--if-not-exists makes that fine",
    ErrorCode.GROUP_ID_NOT_FOUND: "'headwater groups list' shows what there is",
    ErrorCode.NON_EMPTY_GROUP: "stop its members first",
    ErrorCode.UNKNOWN_MEMBER_ID: "stop the group's members first",
}
EXIT_REFUSED: Final = 1
"""The cluster was reached and said no, or could not be reached. Wrong usage is 2, as for click."""


class Refused(click.ClickException):
    """The cluster's answer was an error; the message names what was asked for and the way out."""

    exit_code = EXIT_REFUSED


class Cluster:
    """A cluster to talk to, as given on the command line."""

    def __init__(self, bootstrap: str, properties: dict[str, str]) -> None:
        self.bootstrap = bootstrap
        self.properties = properties

    def config(self, **more: object) -> dict[str, Any]:
        """Client configuration: defaults, what the command needs, what the user gave last."""
        return {
            "bootstrap.servers": self.bootstrap,
            "client.id": "headwater-cli",
            "log_level": 3,
            "logger": _QUIET,
            **more,
            **self.properties,
        }

    def admin(self) -> AdminClient:
        """An admin client. Raises Refused when nobody answers, BadParameter for bad properties."""
        down: list[KafkaError] = []
        try:
            admin = AdminClient(self.config(error_cb=down.append))
        except KafkaException as error:
            raise click.BadParameter(error.args[0].str(), param_hint="--client-config") from error
        for _ in range(CONNECT_ATTEMPTS):
            try:
                admin.list_topics(timeout=CONNECT_TIMEOUT_SECONDS)
            except KafkaException as error:
                admin.poll(0)  # hands in what librdkafka found out
                failure = next((e for e in down if e.name() != "_ALL_BROKERS_DOWN"), error.args[0])
                if any(e.name() == "_ALL_BROKERS_DOWN" for e in down):
                    break  # every address has refused: waiting longer would not help
            else:
                return admin
        raise self.unreachable(failure)

    def unreachable(self, error: KafkaError) -> Refused:
        return Refused(
            f"no broker answers at {self.bootstrap} ({error.str()}); start one with "
            f"'headwater broker', or name another with --bootstrap or {BOOTSTRAP_VARIABLE}"
        )


def cluster_options(command: Callable[P, T]) -> Callable[..., T]:
    """Give a command ``--bootstrap`` and ``--client-config``, and pass it a Cluster first."""

    @click.option(
        "--bootstrap",
        "--bootstrap-server",
        "bootstrap",
        envvar=BOOTSTRAP_VARIABLE,
        default=BOOTSTRAP_DEFAULT,
        show_default=True,
        show_envvar=True,
        metavar="HOST:PORT[,…]",
        help="Any broker of the cluster.",
    )
    @click.option(
        "--client-config",
        "properties",
        multiple=True,
        metavar="NAME=VALUE",
        help="A librdkafka property, such as security.protocol=SSL. May be repeated.",
    )
    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        bootstrap = str(kwargs.pop("bootstrap"))
        given: Iterable[str] = kwargs.pop("properties")  # type: ignore[assignment]  # click's tuple
        cluster = Cluster(bootstrap, pairs(given, "--client-config"))
        return command(cluster, *args, **kwargs)  # type: ignore[arg-type]  # the Cluster is ours

    return wrapped


@final
class KafkaHabits(click.Group):
    """A group of commands that knows what Kafka's own tools call them: ``--list`` is ``list``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, with the way out for a flag that is a command here."""
        if args and args[0].removeprefix("--") in self.commands and args[0][:2] == "--":
            ctx.fail(f"it is a command here: '{ctx.command_path} {args[0].removeprefix('--')} …'")
        return super().parse_args(ctx, args)


def json_option(command: Callable[P, T]) -> Callable[P, T]:
    """Give a command ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")(command)


def pairs(given: Iterable[str], flag: str) -> dict[str, str]:
    """``NAME=VALUE`` texts as a mapping. Raises BadParameter for one without ``=``."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=flag)
        found[name] = value
    return found


def settled(results: dict[str, "Future[T]"], doing: str) -> dict[str, T]:
    """The values of admin futures; the first error ends the command, the rest are told too."""
    done: dict[str, T] = {}
    problems: list[str] = []
    for name, future in results.items():
        try:
            done[name] = future.result(timeout=REQUEST_TIMEOUT_SECONDS)
        except KafkaException as error:
            problems.append(f"{doing} {name}: {explain(error.args[0])}")
        except TimeoutError:
            problems.append(f"{doing} {name}: no answer within {REQUEST_TIMEOUT_SECONDS:.0f} s")
    if problems:
        raise Refused("\n".join(problems))
    return done


def offsets(
    admin: AdminClient,
    places: list[tuple[str, int]],
    spec: OffsetSpec,
    *,
    committed: bool = False,
) -> dict[tuple[str, int], int]:
    """Offsets of the partitions that are still there; *committed*: as read_committed has them."""
    isolation = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    question = {TopicPartition(*place): spec for place in places}
    asked = admin.list_offsets(question, isolation_level=isolation) if places else {}
    found: dict[tuple[str, int], int] = {}
    for place, future in asked.items():
        try:
            offset = future.result(timeout=REQUEST_TIMEOUT_SECONDS).offset
        except KafkaException:
            continue  # the topic was deleted while its offsets are still there
        found[place.topic, place.partition] = offset
    return found


def explain(error: KafkaError) -> str:
    """Kafka's name of an error, what it means, and the way out where there is one."""
    text = error.str()
    try:
        code = ErrorCode(error.code())
    except ValueError:  # librdkafka's own, below zero
        return f"{error.name()}: {text}"
    if text.startswith(LIBRDKAFKA_TEXT):
        text = code.meaning
    hint = _HINTS.get(code)
    return f"{code.name}: {text}" if hint is None else f"{code.name}: {text.rstrip('.')}; {hint}"


def stdout_is_closed() -> None:
    """Stop quietly when the reader of our output is gone, as ``head`` is after its lines."""
    sys.stderr.close()
    raise SystemExit(0)


def _quiet_logger() -> Any:
    import logging  # noqa: PLC0415 - only client commands need it

    logger = logging.getLogger("headwater.librdkafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


_QUIET: Final = _quiet_logger()
"""librdkafka writes connection errors to standard error by itself; commands say them once."""
