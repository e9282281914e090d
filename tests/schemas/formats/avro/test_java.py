"""Apache Avro for Java agrees: on what was recorded of it, and on schemas by dice."""

import json
from random import Random

import pytest
from tests.interop.toolchain import needed
from tests.schemas.formats.avro.generated import SchemaMaker, evolved
from tests.schemas.formats.avro.oracle import Json, ask
from tests.schemas.formats.avro.recordings import recorded

from headwater.schemas.formats.avro import AVRO
from headwater.schemas.formats.contract import InvalidSchema

pytestmark = [pytest.mark.interop, pytest.mark.jvm, pytest.mark.slow]

SEEDS = range(400)
ANSWERS = ("canonical", "resolved", "reasons", "error")


@pytest.mark.parametrize("name", ["texts", "pairs"])
def test_recordings_are_what_java_says(name: str) -> None:
    entries = recorded(name)
    questions = [
        {key: item for key, item in entry.items() if key not in ANSWERS} for entry in entries
    ]
    for entry, answer in zip(entries, needed(lambda: ask(questions)), strict=True):
        if "error" in entry:
            assert answer["error"].partition(":")[0] == entry["error"].partition(":")[0]
        else:
            assert {key: answer.get(key) for key in ANSWERS if key in entry} == {
                key: entry[key] for key in ANSWERS if key in entry
            }


def test_random_texts_become_what_java_makes_of_them() -> None:
    questions = [_text(seed) for seed in SEEDS]
    for question, answer in zip(questions, needed(lambda: ask(questions)), strict=True):
        try:
            schema = AVRO.parse(question["text"], {}, is_new=True)
        except InvalidSchema:
            assert "error" in answer, question
            continue
        assert answer == {"canonical": schema.canonical, "resolved": schema.rendered("resolved")}


def test_random_pairs_are_judged_as_java_judges_them() -> None:
    questions = [_pair(seed) for seed in SEEDS]
    judged = 0
    for question, answer in zip(questions, needed(lambda: ask(questions)), strict=True):
        try:
            reader, writer = (AVRO.parse(question[side], {}) for side in ("reader", "writer"))
        except InvalidSchema:
            assert "error" in answer, question
            continue
        if "matches multiple fields" in answer.get("error", ""):
            continue  # Java throws; ours is a reason, or another branch that fits
        found = AVRO.incompatibilities(reader=reader, writer=writer)
        told = [[one.kind, one.path, _info(one.message)] for one in found]
        assert told == answer["reasons"], question
        judged += 1
    assert judged > len(SEEDS) * 0.8


def _text(seed: int) -> Json:
    return {"text": json.dumps(SchemaMaker(Random(seed)).schema(4)), "is_new": True}


def _pair(seed: int) -> Json:
    pick = Random(seed)
    writer = SchemaMaker(pick).schema(4)
    return {"reader": json.dumps(evolved(writer, pick)), "writer": json.dumps(writer)}


def _info(message: str) -> str:
    return message.rpartition(", additionalInfo:'")[2].removesuffix("'}")
