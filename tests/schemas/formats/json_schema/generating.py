"""Random schemas, their next versions, and values that may fit them.

Left out on purpose, because the registry's rules let readers break there (README, *Non-obvious*):
``required`` of members that nobody declares or that have defaults, overlapping branches of
``oneOf``, ``format``, and ``unevaluated…`` beside keywords that evaluate.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any

NAMES = ("a", "b", "S_1")
PATTERNS = ("^S_", "^[ab]$")
TYPES = ("string", "number", "integer", "boolean", "null", "object", "array")
DISJOINT_TYPES = ("string", "number", "boolean", "null", "object", "array")
DRAFTS = {
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def schema(dice: random.Random, draft: str, depth: int = 3) -> Any:
    """A schema of at most *depth* levels."""
    roll = dice.random()
    if depth == 0 or roll < 0.08:
        return dice.choice([True, {}, {"type": dice.choice(TYPES)}, {"type": "integer"}])
    if roll < 0.1:
        return False
    if roll < 0.25:
        return combined(dice, draft, depth)
    return typed(dice, draft, depth, dice.choice(TYPES))


def combined(dice: random.Random, draft: str, depth: int) -> Any:
    """``allOf``, ``anyOf``, ``oneOf``, ``not``, ``if`` or values one by one."""

    def sub() -> Any:
        return schema(dice, draft, depth - 1)

    match dice.randrange(6):
        case 0:
            return {"allOf": [sub() for _ in range(dice.randint(1, 3))]}
        case 1:
            return {"anyOf": [sub() for _ in range(dice.randint(1, 3))]}
        case 2:
            types = dice.sample(DISJOINT_TYPES, dice.randint(1, 3))
            return {"oneOf": [{**typed(dice, draft, depth - 1, n), "type": n} for n in types]}
        case 3:
            return {"not": sub()}
        case 4:
            return {"if": sub(), "then": sub(), "else": sub()}
        case _:
            return {"enum": dice.sample([0, 1, 1.5, "", "ab", None, True, [], {}], 3)}


def typed(dice: random.Random, draft: str, depth: int, name: str) -> dict[str, Any]:
    """Keywords of one type; now and then without the type itself."""
    made: dict[str, Any] = {"type": name}
    match name:
        case "string":
            bound(dice, made, "maxLength", 4)
            bound(dice, made, "minLength", 2)
            maybe(dice, made, "pattern", dice.choice(["a", "^b"]))
            maybe(dice, made, "enum", dice.sample(["", "a", "ab", "bab"], 2), 0.15)
            maybe(dice, made, "const", "ab", 0.1)
        case "number" | "integer":
            for keyword in ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"):
                bound(dice, made, keyword, 4, 0.15)
            maybe(dice, made, "multipleOf", dice.choice([0.5, 1, 1.5, 2, 3, 4, 6]))
        case "object":
            members(dice, draft, depth, made)
        case "array":
            items(dice, draft, depth, made)
        case _:
            pass  # booleans and null have no keywords
    speaks = len(made) > 1 and not made.keys() & {"enum", "const"}
    if speaks and dice.random() < 0.1:
        del made["type"]
    return made


def members(dice: random.Random, draft: str, depth: int, made: dict[str, Any]) -> None:
    """Keywords of objects."""
    names = dice.sample(NAMES, dice.randint(0, 3))
    made["properties"] = {name: schema(dice, draft, depth - 1) for name in names}
    made["required"] = [name for name in names if dice.random() < 0.3]
    if dice.random() < 0.7:
        rest = dice.choice([False, False, True, schema(dice, draft, depth - 1)])
        modern = draft == "2020-12" and dice.random() < 0.3
        made["unevaluatedProperties" if modern else "additionalProperties"] = rest
    if dice.random() < 0.25:
        made["patternProperties"] = {dice.choice(PATTERNS): schema(dice, draft, depth - 1)}
    bound(dice, made, "maxProperties", 3, 0.1)
    bound(dice, made, "minProperties", 2, 0.1)
    if dice.random() < 0.1:
        made["propertyNames"] = {"type": "string", "maxLength": dice.randint(1, 3)}
    if dice.random() < 0.15:
        needs = {dice.choice(NAMES): dice.sample(NAMES, 1)}
        implied = {dice.choice(NAMES): schema(dice, draft, depth - 1)}
        if draft == "2020-12":
            made |= {"dependentRequired": needs, "dependentSchemas": implied}
        else:
            made["dependencies"] = dice.choice([needs, implied])


def items(dice: random.Random, draft: str, depth: int, made: dict[str, Any]) -> None:
    """Keywords of arrays."""

    def sub() -> Any:
        return schema(dice, draft, depth - 1)

    in_tuple, beyond = (
        ("prefixItems", "items") if draft == "2020-12" else ("items", "additionalItems")
    )
    if dice.random() < 0.5:
        made[in_tuple] = [sub() for _ in range(dice.randint(1, 2))]
        maybe(dice, made, beyond, dice.choice([False, True, sub()]), 0.6)
    else:
        maybe(dice, made, "items", sub(), 0.6)
        if draft != "2020-12":
            maybe(dice, made, "additionalItems", dice.choice([False, sub()]))
    bound(dice, made, "maxItems", 3, 0.15)
    bound(dice, made, "minItems", 2, 0.15)
    maybe(dice, made, "uniqueItems", value=True, chance=0.1)
    if dice.random() < 0.15:
        made["contains"] = sub()
        if draft == "2020-12":
            bound(dice, made, "minContains", 2)
            bound(dice, made, "maxContains", 2)


def maybe(
    dice: random.Random, made: dict[str, Any], keyword: str, value: Any, chance: float = 0.25
) -> None:
    """Add *keyword* sometimes."""
    if dice.random() < chance:
        made[keyword] = value


def bound(
    dice: random.Random, made: dict[str, Any], keyword: str, top: int, chance: float = 0.25
) -> None:
    """Add a small bound sometimes."""
    maybe(dice, made, keyword, dice.randint(0, top), chance)


def next_version(dice: random.Random, before: Any, draft: str) -> Any:
    """*before* with one or two changes somewhere in it."""
    after = {"root": copy.deepcopy(before)}
    for _ in range(dice.randint(1, 2)):
        change_one(dice, after, draft)
    return after["root"]


def change_one(dice: random.Random, root: dict[str, Any], draft: str) -> None:
    """Change one schema below *root*: another one, a keyword less, or a keyword more or other."""
    holder, key = dice.choice(list(places(root, ["root"])))
    old = holder[key]
    if not isinstance(old, dict) or dice.random() < 0.3:
        holder[key] = schema(dice, draft, 1)
        return
    fresh = typed(dice, draft, 1, str(old.get("type", dice.choice(TYPES))))
    keywords = list({*old, *fresh})
    keyword = dice.choice(keywords)
    if keyword in fresh and dice.random() < 0.7:
        old[keyword] = fresh[keyword]
    else:
        old.pop(keyword, None)
    if "required" in old:
        old["required"] = [n for n in old["required"] if n in old.get("properties", {})]


ONE_BELOW = (
    *("additionalProperties", "additionalItems", "unevaluatedProperties", "contains", "items"),
    *("not", "then", "else"),
)
MANY_BELOW = ("properties", "patternProperties", "allOf", "anyOf", "prefixItems", "items")


def places(holder: Any, keys: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Every (holder, key) at which a schema stands."""
    for key in keys:
        yield holder, key
        found = holder[key]
        if not isinstance(found, dict):
            continue
        ones = [k for k in ONE_BELOW if isinstance(found.get(k), (dict, bool))]
        yield from places(found, ones)
        for below in (found[k] for k in MANY_BELOW if k in found):
            if isinstance(below, list):
                yield from places(below, list(range(len(below))))
            elif below is not found.get("items") and isinstance(below, dict):
                yield from places(below, list(below))


def value(dice: random.Random, fitting: Any, depth: int = 3) -> Any:
    """A value that often fits *fitting*."""
    if not isinstance(fitting, dict) or dice.random() < 0.1:
        return anything(dice, depth)
    if "enum" in fitting:
        return dice.choice(fitting["enum"])
    if "const" in fitting:
        return fitting["const"]
    for criterion in ("anyOf", "oneOf", "allOf"):
        if criterion in fitting:
            return value(dice, dice.choice(fitting[criterion]), depth)
    if "if" in fitting:
        return value(dice, fitting[dice.choice(["if", "then", "else"])], depth)
    name = fitting.get("type") or implied_type(fitting)
    if name == "object":
        return an_object(dice, fitting, depth)
    if name == "array":
        return an_array(dice, fitting, depth)
    return scalar(dice, name or dice.choice(TYPES))


def implied_type(fitting: dict[str, Any]) -> str | None:
    """What the keywords speak of."""
    if fitting.keys() & {"properties", "patternProperties", "maxProperties", "minProperties"}:
        return "object"
    if fitting.keys() & {"items", "prefixItems", "contains", "maxItems", "minItems"}:
        return "array"
    if fitting.keys() & {"maxLength", "minLength", "pattern"}:
        return "string"
    return None


def an_object(dice: random.Random, fitting: dict[str, Any], depth: int) -> dict[str, Any]:
    """Declared members, patterned ones and strangers."""
    declared = fitting.get("properties", {})
    patterns = fitting.get("patternProperties", {})
    rest = fitting.get("additionalProperties", fitting.get("unevaluatedProperties", True))
    made: dict[str, Any] = {}
    for name in (*NAMES, "S_2", "z"):
        chance = 0.9 if name in fitting.get("required", ()) else 0.35
        if dice.random() < chance:
            by_pattern = patterns.get("^S_" if name.startswith("S_") else "^[ab]$", rest)
            made[name] = value(dice, declared.get(name, by_pattern), depth - 1)
    if rest is False and dice.random() < 0.8:
        made = {n: v for n, v in made.items() if n in declared or patterns}
    return made


def an_array(dice: random.Random, fitting: dict[str, Any], depth: int) -> list[Any]:
    """Items of the tuple, then of the rest."""
    given = fitting.get("items", True)
    front = given if isinstance(given, list) else fitting.get("prefixItems", [])
    rest = fitting.get("additionalItems", True) if isinstance(given, list) else given
    size = dice.randint(0, 3)
    inside = [front[i] if i < len(front) else rest for i in range(size)]
    if "contains" in fitting and inside and dice.random() < 0.7:
        inside[dice.randrange(size)] = fitting["contains"]
    return [value(dice, item, depth - 1) for item in inside]


def scalar(dice: random.Random, name: str) -> Any:
    """A value of one type."""
    match name:
        case "string":
            return "".join(dice.choices("ab", k=dice.randint(0, 5)))
        case "integer":
            return dice.randint(-1, 7)
        case "number":
            return dice.choice([dice.randint(-1, 7), dice.choice([0.5, 1.5, 2.0, 2.5, 4.5])])
        case "boolean":
            return dice.random() < 0.5
        case "null":
            return None
        case "array":
            return []
        case _:
            return {}


def anything(dice: random.Random, depth: int) -> Any:
    """Any value."""
    roll = dice.random()
    if depth > 0 and roll < 0.25:
        return [anything(dice, depth - 1) for _ in range(dice.randint(0, 3))]
    if depth > 0 and roll < 0.6:
        names = dice.sample((*NAMES, "S_2", "z"), dice.randint(0, 3))
        return {name: anything(dice, depth - 1) for name in names}
    return scalar(dice, dice.choice(TYPES))
