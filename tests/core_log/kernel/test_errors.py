"""The table of Kafka's error codes."""

import pytest

from headwater.core_log.kernel.errors import ApiError, ErrorCode


def test_codes_are_dense_from_unknown_to_the_last() -> None:
    """Kafka gives numbers one after the other; a gap here is a code forgotten."""
    assert [code.value for code in ErrorCode] == list(range(-1, 134))


@pytest.mark.parametrize(
    ("code", "name", "retriable"),
    [
        (-1, "UNKNOWN_SERVER_ERROR", False),
        (0, "NONE", False),
        (3, "UNKNOWN_TOPIC_OR_PARTITION", True),
        (6, "NOT_LEADER_OR_FOLLOWER", True),
        (27, "REBALANCE_IN_PROGRESS", False),
        (36, "TOPIC_ALREADY_EXISTS", False),
        (79, "MEMBER_ID_REQUIRED", False),
        (100, "UNKNOWN_TOPIC_ID", True),
        (133, "SHARE_SESSION_LIMIT_REACHED", True),
    ],
)
def test_names_and_flags_are_kafkas(code: int, name: str, *, retriable: bool) -> None:
    """Landmarks along the table, as Kafka 4.3 prints them."""
    assert ErrorCode(code).name == name
    assert ErrorCode(code).retriable is retriable


def test_each_meaning_is_a_sentence_of_its_own() -> None:
    """Meanings are shown to people: they end like sentences and tell codes apart."""
    meanings = [code.meaning for code in ErrorCode]
    assert len(set(meanings)) == len(meanings)
    assert all(meaning.endswith(".") and meaning[0].isascii() for meaning in meanings)


def test_a_code_is_a_number() -> None:
    """It goes into a response field as it is."""
    number: int = ErrorCode.OFFSET_OUT_OF_RANGE
    assert number == 1
    assert f"{number:d}" == "1"


def test_an_api_error_says_its_message_or_else_the_meaning() -> None:
    """The text names the code in any case."""
    told = ApiError(ErrorCode.INVALID_CONFIG, "retention.ms must be a number")
    assert str(told) == "INVALID_CONFIG: retention.ms must be a number"
    assert str(ApiError(ErrorCode.INVALID_REQUIRED_ACKS)) == (
        "INVALID_REQUIRED_ACKS: acks must be 0, 1 or -1 (all)."
    )
