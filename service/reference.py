"""What a settings class declares, as a reference page and as JSON Schema.

Pure. Pages are generated, so they cannot say anything else than the parser does; a test compares
the committed page with a fresh one.
"""

from typing import Any

from .kinds import Flag, Number, Whole
from .settings import Declaration, declarations


def markdown(settings: type[Any], *, prefix: str) -> str:
    """A section per setting: sentence, what it accepts, default, file name, variable and flag."""
    return "\n".join(_section(declaration, prefix) for declaration in declarations(settings))


def json_schema(settings: type[Any], *, title: str) -> dict[str, Any]:
    """JSON Schema of a settings file, for editors that complete and check YAML."""
    declared = declarations(settings)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "additionalProperties": False,
        "properties": {declaration.name: _property(declaration) for declaration in declared},
        # Variables and flags may give what the file does not, so the file requires nothing.
    }


def default_text(declaration: Declaration) -> str:
    """The default as one would write it; empty for secrets and for "none"."""
    if declaration.is_required or declaration.kind.is_secret:
        return ""
    return declaration.kind.render(declaration.default)


def _section(declaration: Declaration, prefix: str) -> str:
    default = default_text(declaration)
    facts = {
        "accepts": declaration.kind.accepts,
        "default": "required" if declaration.is_required else f"`{default}`" if default else "none",
        "file": f"`{declaration.name}`",
        "variable": f"`{declaration.variable(prefix)}`",
        "flag": ", ".join(f"`{flag}`" for flag in declaration.flags),
        "change": "takes effect at restart"
        if declaration.needs_restart
        else "takes effect at once",
    }
    lines = [f"- {name}: {fact}" for name, fact in facts.items()]
    return "\n".join([f"### {declaration.name}", "", declaration.sentence, "", *lines, ""])


def _property(declaration: Declaration) -> dict[str, Any]:
    default: Any = default_text(declaration)
    if isinstance(declaration.kind, Whole | Number | Flag):
        default = declaration.default  # editors compare it with the type
    shown = {} if declaration.is_required or default == "" else {"default": default}
    return declaration.kind.schema() | {"description": declaration.sentence} | shown
