"""What mypyc asks of the modules it compiles, where it would only say so at run time."""

import ast
from pathlib import Path

import pytest
from tools.compile import MODULES, ROOT


@pytest.mark.parametrize("module", MODULES)
def test_no_function_gives_one_name_to_two_exceptions(module: str) -> None:
    """mypyc gives a variable one type: a second kind of exception under its name is a TypeError."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        kinds: dict[str, set[str]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.ExceptHandler) and node.name and node.type:
                kinds.setdefault(node.name, set()).add(ast.unparse(node.type))
        doubled = {name: found for name, found in kinds.items() if len(found) > 1}
        assert not doubled, f"{module}, {function.name}"


def test_every_compiled_module_is_there() -> None:
    assert all(Path(ROOT / module).is_file() for module in MODULES)
