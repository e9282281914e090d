"""Everything that the registry refuses, one class each, with the code and text that clients assert.

The HTTP status is the first three digits of the code. Texts are those of Confluent's ``Errors`` and
``Rest…Exception``, quirks included: suites compare them.
"""

from typing import ClassVar, Final


class RegistryError(Exception):
    """A refusal: ``{"error_code": code, "message": str(error)}``."""

    code: ClassVar[int] = 500

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(str(self.code)[:3])


class SubjectNotFound(RegistryError):
    code = 40401

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' not found.")


class VersionNotFound(RegistryError):
    code = 40402

    def __init__(self, version: int) -> None:
        super().__init__(f"Version {version} not found.")


class SchemaNotFound(RegistryError):
    """No schema of that text; or of that id or GUID, which the message then names."""

    code = 40403

    def __init__(self, name: int | str | None = None) -> None:
        super().__init__("Schema not found" if name is None else f"Schema {name} not found")


class SubjectSoftDeleted(RegistryError):
    code = 40404

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently"
        )


class SubjectNotSoftDeleted(RegistryError):
    code = 40405

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"Subject '{subject}' was not deleted first before being permanently deleted"
        )


class VersionSoftDeleted(RegistryError):
    code = 40406

    def __init__(self, subject: str, version: int | str) -> None:
        super().__init__(
            f"Subject '{subject}' Version {version} was soft deleted."
            "Set permanent=true to delete permanently"
        )


class VersionNotSoftDeleted(RegistryError):
    code = 40407

    def __init__(self, subject: str, version: int | str) -> None:
        super().__init__(
            f"Subject '{subject}' Version {version} was not deleted "
            "first before being permanently deleted"
        )


class ConfigNotFound(RegistryError):
    code = 40408

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"Subject '{subject}' does not have subject-level compatibility configured"
        )


class ModeNotFound(RegistryError):
    code = 40409

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' does not have subject-level mode configured")


class IncompatibleSchema(RegistryError):
    code = 409

    def __init__(self, subject: str, details: list[str]) -> None:
        self.details = details
        super().__init__(
            "Schema being registered is incompatible with an earlier schema for subject "
            f'"{subject}", details: [{", ".join(details)}]'
        )


class InvalidSchemaRefused(RegistryError):
    """The text is no schema, or its version or references do not fit."""

    code = 42201


class InvalidVersion(RegistryError):
    code = 42202

    def __init__(self, version: object) -> None:
        super().__init__(
            f"The specified version '{version}' is not a valid version id. "
            'Allowed values are between [1, 2^31-1] and the string "latest"'
        )


class InvalidCompatibilityLevel(RegistryError):
    code = 42203

    def __init__(
        self,
        message: str = (
            "Invalid compatibility level. Valid values are none, backward, forward, full, "
            "backward_transitive, forward_transitive, and full_transitive"
        ),
    ) -> None:
        super().__init__(message)


class InvalidMode(RegistryError):
    code = 42204

    def __init__(
        self, message: str = "Invalid mode. Valid values are READWRITE, READONLY, and IMPORT."
    ) -> None:
        super().__init__(message)


class OperationNotPermitted(RegistryError):
    code = 42205


class ReferenceExists(RegistryError):
    code = 42206

    def __init__(self, subject: str, version: int) -> None:
        super().__init__(
            "One or more references exist to the schema "
            f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"
        )


class IdDoesNotMatch(RegistryError):
    code = 42207


class InvalidSubject(RegistryError):
    code = 42208

    def __init__(self, subject: str) -> None:
        super().__init__(f"The specified subject '{subject}' is not a valid.")


class SchemaTooLarge(RegistryError):
    code = 42209

    def __init__(self) -> None:
        super().__init__("Register operation failed because schema is too large")


class InvalidRuleSet(RegistryError):
    code = 42210


class ContextNotEmpty(RegistryError):
    code = 42211

    def __init__(self, context: str) -> None:
        super().__init__(f"The specified context '{context}' is not empty.")


class StoreFailed(RegistryError):
    """The log did not take or give records."""

    code = 50001


class StoreTimedOut(RegistryError):
    code = 50002


class ForwardingFailed(RegistryError):
    code = 50003


class UnknownLeader(RegistryError):
    code = 50004


ERRORS: Final[tuple[type[RegistryError], ...]] = tuple(RegistryError.__subclasses__())
"""All of them: documentation and tests read the same table."""
