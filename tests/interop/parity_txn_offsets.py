"""Questions about positions of a group that a transaction commits."""

from typing import Any

from .parity import Ref, Step
from .parity_steps import (
    OTHER,
    STRANGE_PID,
    G,
    T,
    abort,
    add_offsets,
    commit,
    commit_offset,
    described,
    init,
    positions,
    settled,
)


def txn_offset_cases() -> dict[str, list[Step]]:
    """Steps by the name of the case: ``Api: what``."""

    def old(*steps: Step) -> list[Step]:
        return [init(4), add_offsets(), *steps]

    def new(*steps: Step) -> list[Step]:
        return [init(), *steps]

    return {
        "OffsetFetch: while pending and after": [
            *old(commit_offset(3)),
            *_in_every_form(stable=True),
            *_in_every_form(stable=False),
            commit(),
            settled(),
            *_in_every_form(stable=True),
        ],
        "TxnOffsetCommit: added before": [*old(commit_offset()), described(), positions()],
        "TxnOffsetCommit: not added before": [*new(commit_offset()), described(), positions()],
        "TxnOffsetCommit: pending, then committed": [
            *old(commit_offset()),
            positions(),
            positions(stable=True),
            positions(6),
            commit(),
            settled(),
            positions(),
            positions(stable=True),
        ],
        "TxnOffsetCommit: pending, then aborted": [
            *old(commit_offset()),
            positions(stable=True),
            abort(),
            settled(),
            positions(stable=True),
        ],
        "TxnOffsetCommit: over an earlier position": [
            *old(commit_offset(offset=1)),
            commit(),
            settled(),
            add_offsets(),
            commit_offset(offset=7),
            positions(),
            positions(stable=True),
            abort(),
            settled(),
            positions(),
        ],
        "TxnOffsetCommit: a plain commit meanwhile": [
            *old(commit_offset(offset=5)),
            _plain_commit(3),
            positions(),
            positions(stable=True),
            commit(),
            settled(),
            positions(),
        ],
        "TxnOffsetCommit: twice in a transaction": [
            *old(commit_offset(offset=1), commit_offset(offset=2)),
            commit(),
            settled(),
            positions(),
        ],
        "TxnOffsetCommit: two transactions on one position": [
            *old(commit_offset(offset=1)),
            init(4, pid="other_pid", epoch="other_epoch", transactional_id=OTHER),
            add_offsets(transactional_id=OTHER, pid=Ref("other_pid"), epoch=Ref("other_epoch")),
            commit_offset(
                offset=2, transactional_id=OTHER, pid=Ref("other_pid"), epoch=Ref("other_epoch")
            ),
            commit(),
            settled(),
            positions(),
            positions(stable=True),
        ],
        "TxnOffsetCommit: everything, stable": [
            *old(commit_offset()),
            Step(
                "OffsetFetch",
                {"group_id": G, "topics": None, "require_stable": True},
                version=7,
            ),
            Step(
                "OffsetFetch",
                {"groups": [{"group_id": G, "topics": None}], "require_stable": True},
                version=8,
            ),
        ],
        "TxnOffsetCommit: after the end": [
            *old(commit_offset(3)),
            commit(),
            settled(),
            commit_offset(),
            described(),
            positions(),
        ],
        "TxnOffsetCommit: unknown transactional id": [commit_offset(pid=5, epoch=0), positions()],
        "TxnOffsetCommit: empty transactional id": [
            commit_offset(pid=5, epoch=0, transactional_id="")
        ],
        "TxnOffsetCommit: another producer": old(commit_offset(pid=STRANGE_PID)),
        "TxnOffsetCommit: older epoch": [
            init(4, epoch="first"),
            init(4),
            add_offsets(),
            commit_offset(epoch=Ref("first")),
        ],
        "TxnOffsetCommit: epoch ahead": old(commit_offset(epoch=Ref("epoch", 1))),
        "TxnOffsetCommit: empty group": old(commit_offset(group="")),
        "TxnOffsetCommit: another group": old(commit_offset(group="another-group")),
        "TxnOffsetCommit: unknown topic": [*old(commit_offset(topic="unknown")), described()],
        "TxnOffsetCommit: unknown partition": old(commit_offset(partition=9)),
        "TxnOffsetCommit: long note": old(commit_offset(metadata="x" * 5000)),
        "TxnOffsetCommit: null note": [
            *old(commit_offset(metadata=None)),
            commit(),
            settled(),
            positions(),
        ],
        "TxnOffsetCommit: negative": [
            *old(commit_offset(offset=-1)),
            commit(),
            settled(),
            positions(),
        ],
        "TxnOffsetCommit: nothing": [*old(commit_offset(topics=[])), described()],
        "TxnOffsetCommit: unknown member": old(commit_offset(member_id="nobody", generation_id=1)),
        "TxnOffsetCommit: member without generation": old(commit_offset(member_id="nobody")),
        "TxnOffsetCommit: generation without member": old(commit_offset(generation_id=1)),
        "TxnOffsetCommit: unknown instance": old(
            commit_offset(group_instance_id="nobody", member_id="m", generation_id=1)
        ),
        "TxnOffsetCommit: of a member": [
            *_member(),
            *old(commit_offset(member_id=Ref("member"), generation_id=1)),
        ],
        "TxnOffsetCommit: of a member, old generation": [
            *_member(),
            *old(commit_offset(member_id=Ref("member"), generation_id=0)),
        ],
        "TxnOffsetCommit: outside while members are in": [*_member(), *old(commit_offset())],
        "TxnOffsetCommit: unknown member while members are in": [
            *_member(),
            *old(commit_offset(member_id="nobody", generation_id=1)),
        ],
        "TxnOffsetCommit: group deleted while pending": [
            *old(commit_offset()),
            Step("DeleteGroups", {"groups_names": [G]}, version=2),
            Step("DescribeGroups", {"groups": [G]}, version=5),
            commit(),
            settled(),
            positions(),
        ],
        "TxnOffsetCommit: position deleted while pending": [
            *old(commit_offset()),
            Step(
                "OffsetDelete",
                {
                    "group_id": G,
                    "topics": [{"name": T, "partitions": [{"partition_index": 0}]}],
                },
                version=0,
            ),
            positions(stable=True),
            commit(),
            settled(),
            positions(),
        ],
    }


def _in_every_form(*, stable: bool) -> list[Step]:
    """OffsetFetch for one group and for several: a version takes one of the two."""
    partitions = {"name": T, "topic_id": Ref("topic_id"), "partition_indexes": [0, 1]}
    groups = [{"group_id": G, "topics": [partitions]}]
    named = [{"name": T, "partition_indexes": [0, 1]}]
    return [
        Step("OffsetFetch", {"group_id": G, "topics": named, "require_stable": stable}),
        Step("OffsetFetch", {"groups": groups, "require_stable": stable}),
    ]


def _plain_commit(offset_: int) -> Step:
    part = {"partition_index": 0, "committed_offset": offset_, "committed_metadata": "plain"}
    return Step(
        "OffsetCommit",
        {
            "group_id": G,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "topics": [{"name": T, "partitions": [part]}],
        },
        version=8,
    )


def _member() -> list[Step]:
    """A consumer of the group, with its assignment."""
    protocols = [{"name": "range", "metadata": b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"}]

    def join(member_id: Any) -> Step:
        return Step(
            "JoinGroup",
            {
                "group_id": G,
                "session_timeout_ms": 10_000,
                "rebalance_timeout_ms": 10_000,
                "member_id": member_id,
                "protocol_type": "consumer",
                "protocols": protocols,
            },
            version=5,
            learn=lambda answer: {"member": answer["member_id"]},
        )

    assignments = [{"member_id": Ref("member"), "assignment": b"mine"}]
    sync = {
        "group_id": G,
        "generation_id": 1,
        "member_id": Ref("member"),
        "assignments": assignments,
    }
    return [join(""), join(Ref("member")), Step("SyncGroup", sync, version=3)]
