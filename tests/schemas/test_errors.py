"""Codes and texts: clients and suites compare them."""

import re

from headwater.schemas.errors import ERRORS, IncompatibleSchema, RegistryError, SubjectNotFound

CODES = """
40401 SubjectNotFound        40402 VersionNotFound          40403 SchemaNotFound
40404 SubjectSoftDeleted     40405 SubjectNotSoftDeleted    40406 VersionSoftDeleted
40407 VersionNotSoftDeleted  40408 ConfigNotFound           40409 ModeNotFound
409   IncompatibleSchema     42201 InvalidSchemaRefused     42202 InvalidVersion
42203 InvalidCompatibilityLevel  42204 InvalidMode          42205 OperationNotPermitted
42206 ReferenceExists        42207 IdDoesNotMatch           42208 InvalidSubject
42209 SchemaTooLarge         42210 InvalidRuleSet           42211 ContextNotEmpty
50001 StoreFailed            50002 StoreTimedOut            50003 ForwardingFailed
50004 UnknownLeader
"""


def test_each_error_has_its_code() -> None:
    expected = {name: int(code) for code, name in re.findall(r"(\d+) +(\w+)", CODES)}
    assert {kind.__name__: kind.code for kind in ERRORS} == expected


def test_the_status_is_the_beginning_of_the_code() -> None:
    assert SubjectNotFound("s").status == 404
    assert IncompatibleSchema("s", []).status == 409
    assert RegistryError().status == 500
