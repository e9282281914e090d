"""Secrets do not leak, and references lead only where the process allows."""

import copy
import json
import pickle
from pathlib import Path

import pytest

from headwater.service.secrets import (
    SECRET_BYTES_MAX,
    ReferenceInvalid,
    Secret,
    SecretSource,
    has_reference,
)

CANARY = "c4nary-hunter2"


def test_a_secret_prints_as_nothing() -> None:
    """No way of making text out of a secret shows it, except asking."""
    secret = Secret(CANARY)
    texts = [repr(secret), str(secret), f"{secret}", f"{secret:>40}", str([secret]), "%s" % secret]  # noqa: UP031 - the old way must not leak either
    assert all(CANARY not in text for text in texts)
    assert secret.reveal() == CANARY
    assert not hasattr(secret, "__dict__")


def test_a_secret_is_not_copied_out() -> None:
    """Serializers refuse it, so it cannot end up in a file by accident."""
    for serialize in (pickle.dumps, json.dumps, copy.copy):
        with pytest.raises(TypeError):
            serialize(Secret(CANARY))


def test_secrets_compare_by_value() -> None:
    """Settings that hold equal secrets are equal."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert hash(Secret("a")) == hash(Secret("a"))


def test_references_are_replaced(tmp_path: Path) -> None:
    """Variables and files, anywhere in the text; ``$${`` is a plain ``${``."""
    (tmp_path / "pw").write_text(CANARY + "\n")
    source = SecretSource(environment={"A": "1"}, roots=(tmp_path,))
    text = f"x-${{env:A}}-${{file:{tmp_path}/pw}}-$${{env:A}}-$A"
    assert source.resolve(text) == f"x-1-{CANARY}-${{env:A}}-$A"
    assert has_reference(text)
    assert not has_reference("$A {b} $")


def test_what_a_reference_gives_is_not_a_reference() -> None:
    """A variable that holds ``${file:…}`` does not open that file."""
    source = SecretSource(environment={"A": "${env:B}", "B": "no"})
    assert source.resolve("${env:A}") == "${env:B}"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("${env:MISSING}", "not set"),
        ("${file:/etc/hostname}", "outside the allowed roots"),
        ("${file:ROOT/../outside}", "outside the allowed roots"),
        ("${file:ROOT/link}", "outside the allowed roots"),
        ("${file:ROOT/missing}", "cannot be read"),
        ("${file:ROOT/loop}", "cannot be read"),
        ("${file:ROOT}", "not a plain file"),
        ("${file:ROOT/large}", "larger than"),
        ("${file:ROOT/binary}", "not UTF-8"),
        ("${vault:x}", "unknown reference"),
        ("${}", "unknown reference"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused(
    tmp_path: Path, reference: str, reason: str
) -> None:
    """Paths that leave the root, by dots or by links, are not followed."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_text(CANARY)
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root / "loop")
    (root / "large").write_bytes(b"x" * (SECRET_BYTES_MAX + 1))
    (root / "binary").write_bytes(b"\xff\xfe")
    source = SecretSource(environment={}, roots=(root,))
    with pytest.raises(ReferenceInvalid, match=reason) as caught:
        source.resolve(reference.replace("ROOT", str(root)))
    assert CANARY not in str(caught.value)


def test_a_secret_of_the_largest_size_is_read(tmp_path: Path) -> None:
    """The bound itself is allowed."""
    (tmp_path / "large").write_bytes(b"x" * SECRET_BYTES_MAX)
    source = SecretSource(environment={}, roots=(tmp_path,))
    assert len(source.resolve(f"${{file:{tmp_path}/large}}")) == SECRET_BYTES_MAX
