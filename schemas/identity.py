"""What makes two schemas one: the MD5 that Confluent calls GUID, and that finds a schema's id.

It covers the text, the references in order, metadata and rule set, as ``Schema.updateHash`` does;
the format is not in it.
"""

import hashlib
import struct
import uuid
from collections.abc import Iterator, Mapping

from .model import Definition, Metadata, Rule, RuleSet

_PRESENT = b"\x01"


def guid_of(definition: Definition) -> bytes:
    """The 16 bytes of the definition's GUID.

    Metadata and rules are taken as ``contracts.canonical_…`` gives them: sorted, nothing empty.
    """
    digest = hashlib.md5(definition.text.encode(), usedforsecurity=False)
    for reference in definition.references:
        digest.update(reference.name.encode())
        digest.update(reference.subject.encode())
        digest.update(struct.pack(">i", reference.version))
    if definition.metadata is not None:
        digest.update(_PRESENT)
        for word in _metadata_words(definition.metadata):
            digest.update(word.encode())
    if definition.rule_set is not None:
        digest.update(_PRESENT)
        for part in _rule_set_parts(definition.rule_set):
            digest.update(part)
    return digest.digest()


def guid_text(guid: bytes) -> str:
    """A GUID as it is written: 8-4-4-4-12 hexadecimal digits."""
    return str(uuid.UUID(bytes=guid))


def guid_read(text: str) -> bytes | None:
    """The GUID that *text* writes, with or without dashes; None when it writes none."""
    try:
        return uuid.UUID(text).bytes
    except ValueError:
        return None


def _metadata_words(metadata: Metadata) -> Iterator[str]:
    for path, tags in (metadata.tags or {}).items():
        yield path
        yield from tags
    yield from _pairs(metadata.properties)
    yield from metadata.sensitive or ()


def _rule_set_parts(rule_set: RuleSet) -> Iterator[bytes]:
    for rules in (rule_set.migration_rules, rule_set.domain_rules, rule_set.encoding_rules):
        for rule in rules or ():
            yield from _rule_parts(rule)
    if rule_set.enable_at is not None:
        yield rule_set.enable_at.encode()


def _rule_parts(rule: Rule) -> Iterator[bytes]:
    words = [rule.name, rule.doc, rule.kind, rule.mode, rule.type]
    words += [*(rule.tags or ()), *_pairs(rule.params)]
    words += [rule.expr, rule.on_success, rule.on_failure]
    for word in words:
        if word is not None:
            yield word.encode()
    if rule.disabled:
        yield _PRESENT


def _pairs(mapping: Mapping[str, str] | None) -> Iterator[str]:
    for key, value in (mapping or {}).items():
        yield key
        yield value
