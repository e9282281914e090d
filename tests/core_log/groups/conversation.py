"""Conversations with a group shard, as text.

A script alternates between what clients send and what must follow, indented::

    a join                          client "a" sends JoinGroup with what it knows of itself
        a MEMBER_ID_REQUIRED a1     the reply; "a1" is the first member id made for client "a"
    a join
    + 3000                          three seconds pass, deadline by deadline
        3000 a joined 1 range as a1 leads a1
    a sync a1=0,1
        log g 1 range leads a1: a1=0,1
        a assigned 0,1
    a txn-commit t/0=5 as-producer=7
        log 7: g t/0=5              a record of the transaction of producer 7
        a t/0=ok
    end 7 commit                    its marker stands in the log

``check`` runs the lines that are not indented and compares the whole text, so a change of
behaviour is a diff that one can read. Clients remember member id, generation and protocol as real
ones do; ``key=value`` says otherwise. Time passes in milliseconds since the start.
"""

import re
from dataclasses import dataclass, field
from typing import Final

import msgspec
from tests.core_log.script import Script

from headwater.core_log.groups.classic import ClassicGroup
from headwater.core_log.groups.config import GroupConfig
from headwater.core_log.groups.records import (
    GroupRecord,
    OffsetRecord,
    read_record,
)
from headwater.core_log.groups.shard import GroupShard
from headwater.core_log.kernel.effects import Caller, Effects, Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.codec import decode, encode
from headwater.core_log.protocol.coordinator.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from headwater.core_log.protocol.messages.delete_groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from headwater.core_log.protocol.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headwater.core_log.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from headwater.core_log.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from headwater.core_log.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from headwater.core_log.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from headwater.core_log.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from headwater.core_log.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from headwater.core_log.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from headwater.core_log.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from headwater.core_log.protocol.schema import Message

START_MS: Final = 1_000_000
NEWEST: Final[dict[type[Message], int]] = {
    JoinGroupRequest: 9,
    SyncGroupRequest: 5,
    HeartbeatRequest: 4,
    LeaveGroupRequest: 5,
    OffsetCommitRequest: 9,
    TxnOffsetCommitRequest: 5,
    OffsetFetchRequest: 9,
    DescribeGroupsRequest: 6,
    ListGroupsRequest: 5,
    DeleteGroupsRequest: 2,
    OffsetDeleteRequest: 0,
}
PRODUCER_ID: Final = 7
_UUID: Final = re.compile(
    r"([\w.]+)-([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})"
)


@dataclass(frozen=True)
class Logged:
    """A record in the log, with the producer of the transaction it is in."""

    key: bytes
    value: bytes | None
    producer_id: int | None = None


@dataclass(frozen=True)
class Marker:
    """The end of a transaction in the log."""

    producer_id: int
    is_commit: bool


class CountingRandom:
    """Dice that count: every id is new, and the same in every run."""

    def __init__(self) -> None:
        self._count = 0

    def random(self) -> float:
        return 0.5

    def randrange(self, start: int, stop: int, /) -> int:
        return min(start, stop - 1)

    def randbytes(self, size: int, /) -> bytes:
        self._count += 1
        return self._count.to_bytes(size)


class FewTopics:
    """Topics t, u and v with four partitions each; a topic's id is its letter sixteen times."""

    def __init__(self) -> None:
        self.names = {"t", "u", "v"}
        self.ids = {name: name.encode() * 16 for name in self.names}

    def name_of(self, topic_id: bytes) -> str | None:
        return next((n for n in self.names if self.ids[n] == topic_id), None)

    def id_of(self, name: str) -> bytes | None:
        return self.ids[name] if name in self.names else None

    def exists(self, name: str, partition: int) -> bool:
        return name in self.names and 0 <= partition < 4


@dataclass
class Client:
    """What a client remembers between its requests."""

    name: str
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str = "consumer"
    protocol_name: str = "range"
    subscription: dict[str, str] = field(default_factory=dict)


def subscription(topics: str) -> bytes:
    """What a consumer of *topics*, separated by commas, tells its group."""
    body = ConsumerProtocolSubscription(topics=[t for t in topics.split(",") if t])
    return b"\0\1" + encode(body, 1)


class Conversation(Script):
    """A shard, its log, its clients and what was said so far."""

    def __init__(self, **settings: int) -> None:
        self.config = GroupConfig(**settings)
        self.topics = FewTopics()
        self.log: list[Logged | Marker] = []
        self.now_ms = START_MS
        self.clients: dict[str, Client] = {}
        super().__init__()
        self._aliases: dict[str, str] = {}
        self._random = CountingRandom()
        self._ticking = False
        self._pending: dict[int, Client] = {}
        self._next_reply = 0
        self.shard = self._load()

    def execute(self, line: str) -> None:
        self._execute(line)
        self.shard.check()

    # Input

    def _execute(self, line: str) -> None:
        match line.split():
            case ["+", ms]:
                self._pass(int(ms))
            case ["crash"]:
                self._pending.clear()
                self.shard = self._load()
            case ["unload", code]:
                self._act(self.shard.unload(ErrorCode[code]))
            case ["end", producer_id, "commit" | "abort" as result]:
                is_commit = result == "commit"
                self.log.append(Marker(int(producer_id), is_commit))
                self._act(
                    self.shard.end_transaction(
                        int(producer_id), is_commit=is_commit, now_ms=self.now_ms
                    )
                )
            case ["delete-topic", name]:
                self.topics.names.discard(name)
                self._act(self.shard.topics_deleted(frozenset({name}), self.now_ms))
            case ["recreate-topic", name]:
                self.topics.names.add(name)
                self.topics.ids[name] = name.upper().encode() * 16
            case [name, verb, *words]:
                client = self.clients.setdefault(name, Client(name))
                options = dict(word.split("=", 1) for word in words if "=" in word)
                plain = [word for word in words if "=" not in word]
                self._send(client, verb, plain, options)
            case _:
                raise ValueError(line)

    def _pass(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        self._ticking = True
        for _ in range(1_000):  # more deadlines than this are a loop
            due_ms = self.shard.next_deadline_ms
            if due_ms is None or due_ms > end_ms:
                break
            self.now_ms = max(due_ms, self.now_ms)
            self._act(self.shard.tick(self.now_ms))
        else:
            raise AssertionError("the shard's deadlines never end")
        self._ticking = False
        self.now_ms = end_ms

    def _send(self, client: Client, verb: str, plain: list[str], options: dict[str, str]) -> None:
        request = getattr(self, f"_{verb.replace('-', '_')}")(client, plain, options)
        version = int(options.get("v", NEWEST[type(request)]))
        request = decode(type(request), version, encode(request, version))  # as it would arrive
        self._next_reply += 1
        self._pending[self._next_reply] = client
        effects = self.shard.step(
            request,
            version=version,
            caller=Caller(client_id=client.name, client_host="/127.0.0.1"),
            reply_to=(self._next_reply, version),
            now_ms=self.now_ms,
        )
        self._act(effects)

    def _join(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:
        for key in ("topics", "protocols", "instance", "type", "session", "timeout"):
            if key in options:
                client.subscription[key] = options[key]
        said = client.subscription
        client.protocol_type = said.get("type", "consumer")
        names = [p for p in said.get("protocols", "range").split(",") if p]
        return JoinGroupRequest(
            group_id=options.get("group", "g"),
            session_timeout_ms=int(said.get("session", "10000")),
            rebalance_timeout_ms=int(said.get("timeout", "30000")),
            member_id=self._id(options.get("as"), client.member_id),
            group_instance_id=said.get("instance"),
            protocol_type=client.protocol_type,
            protocols=[
                JoinGroupRequestProtocol(name=n, metadata=subscription(said.get("topics", "t")))
                for n in names
            ],
            reason="x" * 300 if "reason" in plain else None,
        )

    def _sync(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:
        known = {"as", "gen", "v", "group", "instance", "type", "name"}
        version = int(options.get("v", "5"))
        return SyncGroupRequest(
            group_id=options.get("group", "g"),
            generation_id=int(options.get("gen", client.generation_id)),
            member_id=self._id(options.get("as"), client.member_id),
            group_instance_id=options.get("instance", client.subscription.get("instance"))
            if version >= 3
            else None,
            protocol_type=None if "bare" in plain else options.get("type", client.protocol_type),
            protocol_name=None if "bare" in plain else options.get("name", client.protocol_name),
            assignments=[
                SyncGroupRequestAssignment(member_id=self._id(member, ""), assignment=part.encode())
                for member, part in options.items()
                if member not in known
            ],
        )

    def _beat(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:  # noqa: ARG002 - all makers of requests have one shape
        return HeartbeatRequest(
            group_id=options.get("group", "g"),
            generation_id=int(options.get("gen", client.generation_id)),
            member_id=self._id(options.get("as"), client.member_id),
            group_instance_id=options.get("instance", client.subscription.get("instance")),
        )

    def _leave(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:
        group_id = options.get("group", "g")
        if int(options.get("v", "5")) < 3:
            member_id = self._id(options.get("as"), client.member_id)
            return LeaveGroupRequest(group_id=group_id, member_id=member_id)
        who = plain or [self._alias(client.member_id)]
        identities = []
        for word in who:
            member, _, instance = word.partition("@")
            identities.append(
                MemberIdentity(member_id=self._id(member, ""), group_instance_id=instance or None)
            )
        return LeaveGroupRequest(group_id=group_id, members=identities)

    def _commit(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:
        version = int(options.get("v", NEWEST[OffsetCommitRequest]))
        known = {"as", "gen", "v", "group", "instance", "keep", "note", "epoch"}
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for place, offset in options.items():
            if place in known:
                continue
            name, _, index = place.partition("/")
            topic = topics.setdefault(
                name,
                OffsetCommitRequestTopic(
                    name=name if version < 10 else "",
                    topic_id=self.topics.ids.get(name, b"?" * 16) if version >= 10 else bytes(16),
                ),
            )
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=int(index),
                    committed_offset=int(offset),
                    committed_leader_epoch=int(options.get("epoch", "-1")),
                    committed_metadata="n" * int(options["note"]) if "note" in options else None,
                )
            )
        nobody = "nobody" in plain
        return OffsetCommitRequest(
            group_id=options.get("group", "g"),
            generation_id_or_member_epoch=int(
                options.get("gen", -1 if nobody else client.generation_id)
            ),
            member_id="" if nobody else self._id(options.get("as"), client.member_id),
            group_instance_id=None
            if nobody or version < 7
            else options.get("instance", client.subscription.get("instance")),
            retention_time_ms=int(options.get("keep", "-1")),
            topics=list(topics.values()),
        )

    def _txn_commit(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:
        version = int(options.get("v", NEWEST[TxnOffsetCommitRequest]))
        topics: dict[str, TxnOffsetCommitRequestTopic] = {}
        for place, offset in options.items():
            name, slash, index = place.partition("/")
            if slash:
                topic = topics.setdefault(name, TxnOffsetCommitRequestTopic(name=name))
                topic.partitions.append(
                    TxnOffsetCommitRequestPartition(
                        partition_index=int(index),
                        committed_offset=int(offset),
                        committed_leader_epoch=int(options.get("epoch", "-1")),
                        committed_metadata="n" * int(options.get("note", "0")) or None,
                    )
                )
        nobody = "nobody" in plain or version < 3
        instance = options.get("instance", client.subscription.get("instance"))
        return TxnOffsetCommitRequest(
            transactional_id="x",
            group_id=options.get("group", "g"),
            producer_id=int(options.get("as-producer", PRODUCER_ID)),
            producer_epoch=int(options.get("producer-epoch", "0")),
            generation_id=int(options.get("gen", -1 if nobody else client.generation_id)),
            member_id="" if nobody else self._id(options.get("as"), client.member_id),
            group_instance_id=None if nobody else instance,
            topics=list(topics.values()),
        )

    def _fetch(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:  # noqa: ARG002 - all makers of requests have one shape
        version = int(options.get("v", NEWEST[OffsetFetchRequest]))
        group_id = options.get("group", "g")
        wanted: dict[str, list[int]] = {}
        for place in plain:
            name, slash, index = place.partition("/")
            if slash:
                wanted.setdefault(name, []).append(int(index))
        stable = "stable" in plain
        if version < 8:
            single = [
                OffsetFetchRequestTopic(name=n, partition_indexes=i) for n, i in wanted.items()
            ]
            return OffsetFetchRequest(
                group_id=group_id, topics=single if wanted else None, require_stable=stable
            )
        several = [
            OffsetFetchRequestTopics(
                name=n if version < 10 else "",
                topic_id=self.topics.ids.get(n, b"?" * 16) if version >= 10 else bytes(16),
                partition_indexes=i,
            )
            for n, i in wanted.items()
        ]
        group = OffsetFetchRequestGroup(group_id=group_id, topics=several if wanted else None)
        return OffsetFetchRequest(groups=[group], require_stable=stable)

    def _describe(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:  # noqa: ARG002 - all makers of requests have one shape
        return DescribeGroupsRequest(groups=plain or ["g"])

    def _list(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:  # noqa: ARG002 - all makers of requests have one shape
        def words(key: str) -> list[str]:
            return [word for word in options.get(key, "").split(",") if word]

        return ListGroupsRequest(states_filter=words("states"), types_filter=words("types"))

    def _delete(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:  # noqa: ARG002 - all makers of requests have one shape
        return DeleteGroupsRequest(groups_names=plain or ["g"])

    def _forget(self, client: Client, plain: list[str], options: dict[str, str]) -> Message:  # noqa: ARG002 - all makers of requests have one shape
        topics: dict[str, OffsetDeleteRequestTopic] = {}
        for place in plain:
            name, _, index = place.partition("/")
            topic = topics.setdefault(name, OffsetDeleteRequestTopic(name=name))
            topic.partitions.append(OffsetDeleteRequestPartition(partition_index=int(index)))
        return OffsetDeleteRequest(group_id=options.get("group", "g"), topics=list(topics.values()))

    # Output

    def _act(self, effects: Effects) -> None:
        """Append, then send: in these conversations every append is committed at once."""
        sender = effects.sender
        for key, value in effects.records:
            self.log.append(Logged(key, value, None if sender is None else sender.producer_id))
            of = "" if sender is None else _sender_text(sender)
            self._say(f"log {of}{self._record_text(key, value)}")
        for reply in effects.replies:
            self._deliver(reply.reply_to, reply.response)
        for parked in effects.replies_after_commit:
            self._deliver(parked.reply_to, parked.response)

    def _deliver(self, reply_to: object, response: msgspec.Struct) -> None:
        assert isinstance(reply_to, tuple)
        number, version = reply_to
        assert isinstance(response, Message)
        response = decode(type(response), version, encode(response, version))  # as it arrives
        client = self._pending.pop(number)  # KeyError: answered twice
        self._say(f"{client.name} {self._response_text(client, response)}")

    def _say(self, text: str) -> None:
        when = f"{self.now_ms - START_MS} " if self._ticking else ""
        self.transcript.append(f"    {when}{text}")

    def _response_text(self, client: Client, response: msgspec.Struct) -> str:  # noqa: C901, PLR0911, PLR0912 - one case per response
        match response:
            case JoinGroupResponse():
                return self._joined(client, response)
            case SyncGroupResponse():
                if response.error_code:
                    return ErrorCode(response.error_code).name
                return f"assigned {response.assignment.decode() or 'nothing'}"
            case HeartbeatResponse():
                return ErrorCode(response.error_code).name if response.error_code else "ok"
            case LeaveGroupResponse():
                return self._left(response)
            case TxnOffsetCommitResponse():
                return " ".join(
                    f"{t.name}/{p.partition_index}={_code(p.error_code)}"
                    for t in response.topics
                    for p in t.partitions
                )
            case OffsetCommitResponse():
                return " ".join(
                    f"{t.name or t.topic_id[:1].decode()}/{p.partition_index}={_code(p.error_code)}"
                    for t in response.topics
                    for p in t.partitions
                )
            case OffsetFetchResponse():
                return _fetched(response)
            case DescribeGroupsResponse():
                return self._described(response)
            case ListGroupsResponse():
                groups = (
                    f"{g.group_id}:{g.protocol_type}:{g.group_state}:{g.group_type}"
                    for g in response.groups
                )
                return " ".join(("lists", *groups))
            case DeleteGroupsResponse():
                return " ".join(f"{r.group_id}={_code(r.error_code)}" for r in response.results)
            case OffsetDeleteResponse():
                if response.error_code:
                    return ErrorCode(response.error_code).name
                return " ".join(
                    f"{t.name}/{p.partition_index}={_code(p.error_code)}"
                    for t in response.topics
                    for p in t.partitions
                )
            case _:
                raise AssertionError(response)

    def _joined(self, client: Client, response: JoinGroupResponse) -> str:
        if response.error_code:
            code = ErrorCode(response.error_code)
            if code is ErrorCode.MEMBER_ID_REQUIRED:
                client.member_id = response.member_id
            return f"{code.name} {self._alias(response.member_id)}".rstrip()
        client.member_id = response.member_id
        client.generation_id = response.generation_id
        client.protocol_name = response.protocol_name or ""
        text = f"joined {response.generation_id} {response.protocol_name} as "
        text += self._alias(response.member_id)
        if response.leader != response.member_id:
            text += f" follows {self._alias(response.leader)}"
            assert not response.members
        else:
            text += " leads " + " ".join(self._alias(m.member_id) for m in response.members)
        return text + (" and skips" if response.skip_assignment else "")

    def _left(self, response: LeaveGroupResponse) -> str:
        if not response.members:
            return ErrorCode(response.error_code).name if response.error_code else "left"
        assert not response.error_code
        return "left " + " ".join(
            f"{self._alias(m.member_id) or m.group_instance_id}={_code(m.error_code)}"
            for m in response.members
        )

    def _described(self, response: DescribeGroupsResponse) -> str:
        texts = []
        for group in response.groups:
            text = f"{group.group_id} {group.group_state} {group.protocol_type}".rstrip()
            text += f" {group.protocol_data}".rstrip()
            for m in group.members:
                assert m.client_host == "/127.0.0.1"
                text += f" {self._alias(m.member_id)}"
                text += f"@{m.group_instance_id}" if m.group_instance_id else ""
                text += f"={m.member_assignment.decode()}" if m.member_metadata else ""
            if group.error_code:
                text += f" {ErrorCode(group.error_code).name}: {group.error_message}"
            texts.append(text)
        return "; ".join(texts)

    def _record_text(self, key: bytes, value: bytes | None) -> str:
        record = read_record(key, value)
        if isinstance(record, OffsetRecord):
            place = f"{record.group_id} {record.topic}/{record.partition}"
            offset = record.committed
            return f"{place} deleted" if offset is None else f"{place}={offset.offset}"
        assert isinstance(record, GroupRecord)
        return f"{record.group_id} {self._group_text(record.group)}"

    def _group_text(self, group: ClassicGroup | None) -> str:
        if group is None:
            return "deleted"
        if not group.members:
            return f"{group.generation_id} empty"
        members = " ".join(
            self._alias(m.member_id)
            + (f"@{m.group_instance_id}" if m.group_instance_id else "")
            + f"={m.assignment.decode()}"
            for m in group.members.values()
        )
        leader = self._alias(group.leader_id or "")
        return f"{group.generation_id} {group.protocol_name} leads {leader}: {members}"

    # Names

    def _alias(self, member_id: str) -> str:
        """The name of a member in scripts: its client or instance, and a number."""
        match = _UUID.fullmatch(member_id)
        if match is None:
            return member_id
        if member_id not in self._aliases.values():
            same = sum(1 for alias in self._aliases if alias.rstrip("0123456789") == match[1])
            self._aliases[f"{match[1]}{same + 1}"] = member_id
        return next(alias for alias, known in self._aliases.items() if known == member_id)

    def _id(self, alias: str | None, default: str) -> str:
        if alias is None:
            return default
        return "" if alias == "-" else self._aliases.get(alias, alias)

    def _load(self) -> GroupShard:
        shard = GroupShard(self.config, self._random, self.topics)
        for entry in self.log:
            replay_entry(shard, entry, timestamp_ms=self.now_ms)
        self.shard = shard
        self._act(shard.loaded(self.now_ms))
        return shard


def replay_entry(shard: GroupShard, entry: Logged | Marker, *, timestamp_ms: int) -> None:
    """What a runtime does with the next thing in the log."""
    if isinstance(entry, Marker):
        shard.replay_end(entry.producer_id, is_commit=entry.is_commit)
        return
    sender = None
    if entry.producer_id is not None:
        sender = Sender(producer_id=entry.producer_id, producer_epoch=0)
    shard.replay(entry.key, entry.value, timestamp_ms=timestamp_ms, sender=sender)


def _sender_text(sender: Sender) -> str:
    epoch = f".{sender.producer_epoch}" if sender.producer_epoch else ""
    return f"{sender.producer_id}{epoch}: "


def _code(code: int) -> str:
    return ErrorCode(code).name if code else "ok"


def _fetched(response: OffsetFetchResponse) -> str:
    if response.error_code:
        return ErrorCode(response.error_code).name
    texts = [ErrorCode(g.error_code).name for g in response.groups if g.error_code]
    topics = [t for g in response.groups for t in g.topics] or response.topics
    for topic in topics:
        name = topic.name or getattr(topic, "topic_id", b"")[:1].decode()
        for p in topic.partitions:
            text = f"{name}/{p.partition_index}="
            text += _code(p.error_code) if p.error_code else str(p.committed_offset)
            text += f"@{p.committed_leader_epoch}" if p.committed_leader_epoch >= 0 else ""
            text += f"+{len(p.metadata)}" if p.metadata else ""
            texts.append(text)
    return "fetched " + " ".join(sorted(texts)) if texts else "fetched nothing"
