"""Writes docs/reference from the code: settings, commands, configurations, metrics, errors, APIs.

Run it as ``make docs``, or ``python -m tools.docs`` from the root. The pages are committed, and
tests/docs compares them with what the code says, so they cannot fall behind.
"""

import ast
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from headwater.console.cli import headwater
from headwater.core_log.broker.handlers import HANDLERS
from headwater.core_log.kernel.broker_configs import BROKER_CONFIGS
from headwater.core_log.kernel.config_keys import ConfigKey, ConfigType
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.kernel.group_configs import CLIENT_METRICS_CONFIGS, GROUP_CONFIGS
from headwater.core_log.kernel.topic_configs import TOPIC_CONFIGS
from headwater.core_log.server.config import PREFIX, BrokerSettings
from headwater.core_log.server.metrics import watch_node
from headwater.core_log.server.node import Node
from headwater.core_log.testing.clock import ManualClock
from headwater.core_log.testing.memory_fs import MemoryFileSystem
from headwater.service.health import Health
from headwater.service.metrics import Metrics
from headwater.service.reference import markdown

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "docs" / "reference"
HELP_COLUMNS: Final = 100
SETTINGS_OF_NODE: Final = {
    "advertised.listeners": "advertised_listeners",
    "broker.id": "node_id",
    "broker.rack": "rack",
    "listeners": "listeners",
    "log.dir": "data_dirs",
    "log.dirs": "data_dirs",
    "node.id": "node_id",
}
NOTE: Final = "<!-- Written by `make docs` from the code; edit the code. -->"


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {name: f"{NOTE}\n\n{write().strip()}\n" for name, write in _PAGES.items()}


def _settings() -> str:
    return (
        "# Settings of a broker\n\n"
        "Each can stand in the settings file (`headwater broker --config FILE`, YAML), in an "
        "environment variable, or in a flag. Flags win over variables, variables over the file. "
        "All mistakes are told at once, each with its place.\n\n"
        f"{markdown(BrokerSettings, prefix=PREFIX)}"
    )


def _commands() -> str:
    introduction = (
        "# Commands\n\n"
        "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted. What is asked "
        "for goes to standard output, everything else to standard error."
    )
    sections = [
        f"## {path}\n\n```text\n{text}\n```"
        for path, text in _helps(headwater, click.Context(headwater, info_name="headwater"))
    ]
    return "\n\n".join([introduction, *sections])


def _helps(command: click.Command, context: click.Context) -> Iterable[tuple[str, str]]:
    """Path and help of a command and of all below it."""
    context.terminal_width = context.max_content_width = HELP_COLUMNS
    context.help_option_names = ["-h", "--help"]
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield context.command_path, text
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None, name
            yield from _helps(below, click.Context(below, parent=context, info_name=name))


def _topic_configs() -> str:
    acting = _words("headwater.core_log.broker.topic_settings")

    def acts(key: ConfigKey) -> str:
        return "yes" if key.name in acting else "accepted"

    return (
        "# Topic configurations\n\n"
        "Every topic configuration of Kafka 4.3. *Acts* says whether this version does anything "
        "with it; the others are accepted, checked and shown, so that tools which set them work. "
        "One default is not Kafka's: `flush.messages` is 1, which puts a batch on disk before "
        "`acks=all` is answered.\n\n"
        f"{_table(TOPIC_CONFIGS, 'acts', acts)}"
    )


def _broker_configs() -> str:
    topics = _words("headwater.core_log.broker.topic_settings")
    read = _words("headwater.core_log.server.config", "headwater.core_log.server.node")
    followed = _words("headwater.core_log.broker.compaction_config")
    defaults = {
        broker_name.name: key.name
        for key in TOPIC_CONFIGS.values()
        for broker_name in key.broker_names
    }

    def acts(key: ConfigKey) -> str:
        if key.name in SETTINGS_OF_NODE:
            return f"shows the setting `{SETTINGS_OF_NODE[key.name]}`"
        if key.name in followed:
            return "yes"
        if key.name in read:
            return "yes, as given at the start"
        if defaults.get(key.name) in topics:
            return f"yes, default of `{defaults[key.name]}`"
        return "accepted"

    return (
        "# Broker configurations\n\n"
        "Kafka's names, given at the start (`--set NAME=VALUE`, or `configs:` in the settings "
        "file) or, where *change* does not say read-only, with `headwater configs set broker`. "
        "*Acts* says what this version does with it: a default of a topic configuration acts on "
        "every topic that does not set its own, at once; a plain yes acts at once, too; what is "
        "read at the start acts from the next start with that flag; the rest is accepted, checked "
        "and shown.\n\n"
        f"{_table(BROKER_CONFIGS, 'acts', acts, with_change=True)}"
    )


def _group_configs() -> str:
    def acts(_key: ConfigKey) -> str:
        return "accepted"

    return (
        "# Group and client metrics configurations\n\n"
        "Kept and shown. Groups of the new protocol (KIP-848) and client metrics (KIP-714) are "
        "not served yet, so none of them acts.\n\n"
        f"## Groups\n\n{_table(GROUP_CONFIGS, 'acts', acts)}\n\n"
        f"## Client metrics\n\n{_table(CLIENT_METRICS_CONFIGS, 'acts', acts)}"
    )


def _metrics() -> str:
    metrics = Metrics(with_process=False)
    node = Node(
        BrokerSettings(),
        fs=MemoryFileSystem(),
        clock=ManualClock(),
        notify=lambda _event, _severe, _facts: None,
        on_fatal=lambda _failure: None,
    )
    watch_node(node, metrics, Health())
    rows = [
        (f"`{m.name}`", m.sort, ", ".join(f"`{label}`" for label in m.labels), m.sentence)
        for m in metrics.described()
    ]
    return (
        "# Metrics and health\n\n"
        "Served over HTTP where `--monitor HOST:PORT` says: `/metrics` in Prometheus' text format, "
        "with the process's own `headwater_process_*` (CPU, memory, open files) beside these; "
        "`/health` and its questions as JSON, 200 when all is well and 503 otherwise.\n\n"
        f"{_rows(('metric', 'sort', 'labels', 'what'), rows)}"
    )


def _errors() -> str:
    rows = [
        (str(int(code)), f"`{code.name}`", "yes" if code.retriable else "no", code.meaning)
        for code in sorted(ErrorCode)
    ]
    return (
        "# Error codes\n\n"
        "Kafka's numbers and names. *Retriable* is what a client does with the code: ask again, "
        "perhaps after fresh metadata. Some belong to APIs that are not served yet.\n\n"
        f"{_rows(('code', 'name', 'retriable', 'meaning'), rows)}"
    )


def _apis() -> str:
    handled = sorted(HANDLERS.values(), key=lambda handler: handler.api.key)
    rows = [(str(h.api.key), f"[{h.api.name}](#{h.api.name.lower()})", _range(h)) for h in handled]
    sections = [
        f"## {h.api.name}\n\n{inspect.cleandoc(inspect.getmodule(h.serve).__doc__ or '')}"
        for h in handled
    ]
    return (
        "# The protocol as it is served\n\n"
        "What ApiVersions lists: these APIs in these versions, which are those of Apache Kafka "
        "4.3. A request for anything else closes its connection, as in Kafka.\n\n"
        f"{_rows(('key', 'API', 'versions'), rows)}\n\n" + "\n\n".join(sections)
    )


def _range(handler: object) -> str:
    low, high = getattr(handler, "version_min", 0), getattr(handler, "version_max", 0)
    return f"{low}-{high}" if low != high else str(low)


def _index() -> str:
    rows = [
        (f"[{name}]({name})", write().partition("\n")[0].removeprefix("# "))
        for name, write in _PAGES.items()
        if name != "README.md"
    ]
    return (
        f"# Reference\n\nWritten from the code by `make docs`.\n\n{_rows(('page', 'what'), rows)}"
    )


_PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "README.md": _index,
    "broker-configurations.md": _broker_configs,
    "broker-settings.md": _settings,
    "commands.md": _commands,
    "error-codes.md": _errors,
    "group-configurations.md": _group_configs,
    "metrics.md": _metrics,
    "protocol.md": _apis,
    "topic-configurations.md": _topic_configs,
}


def _table(
    keys: Mapping[str, ConfigKey],
    heading: str,
    acts: Callable[[ConfigKey], str],
    *,
    with_change: bool = False,
) -> str:
    rows = []
    for key in keys.values():
        row = [f"`{key.name}`", key.type.name.lower(), _default(key)]
        row += [key.dynamic.value] if with_change else []
        rows.append((*row, acts(key), key.doc))
    change = ("change",) if with_change else ()
    return _rows(("name", "type", "default", *change, heading, "what it does"), rows)


def _default(key: ConfigKey) -> str:
    if key.default is None:
        return "none"
    if key.type is ConfigType.PASSWORD:
        return "hidden"
    return f"`{key.default}`" if key.default else "empty"


def _rows(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _words(*modules: str) -> frozenset[str]:
    """Texts that stand in the code of modules: which configurations it reads by name."""
    found = set()
    for name in modules:
        tree = ast.parse(inspect.getsource(importlib.import_module(name)))
        found |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    return frozenset(found)


def main() -> None:
    """Write every page, and remove pages that nothing writes any more."""
    written = pages()
    FOLDER.mkdir(exist_ok=True)
    for name, text in written.items():
        (FOLDER / name).write_text(text)
    for path in FOLDER.glob("*.md"):
        if path.name not in written:
            path.unlink()


if __name__ == "__main__":
    main()
