"""The repository keeps its own rules: imports, dependencies, READMEs, pins, addresses."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ["core_log", "schemas", "service", "console"]


def tracked() -> list[Path]:
    """Files that git knows, as they are on disk; new ones included, ignored ones not."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.slow
def test_imports_keep_their_contracts() -> None:
    """Layers, cores and crossings are as declared in pyproject.toml."""
    result = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


def test_every_package_is_under_the_contracts() -> None:
    """A new top-level package has to be added to the contracts, the wheel and the type check."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    config = project()["tool"]
    assert {f"headwater.{name}" for name in packages} <= set(
        config["importlinter"]["root_packages"]
    )
    wheel = config["hatch"]["build"]["targets"]["wheel"]
    assert packages <= set(wheel["only-include"])
    assert wheel["sources"] == {name: f"headwater/{name}" for name in wheel["only-include"]}
    makefile = (ROOT / "Makefile").read_text()
    checked = re.search(r"^PACKAGES := (.*)$", makefile, re.MULTILINE)
    assert checked is not None
    assert packages <= set(checked[1].split())


def test_every_dependency_has_its_reason() -> None:
    """A comment stands behind each requirement, on its line."""
    text = (ROOT / "pyproject.toml").read_text()
    requirements = re.findall(r'^    "[a-zA-Z][^"]*[<>=][^"]*",.*$', text, re.MULTILINE)
    assert len(requirements) > 10
    assert [line for line in requirements if "#" not in line] == []


def test_every_rule_that_is_off_has_its_reason() -> None:
    """In pyproject.toml by a comment, in code by words behind the code of the rule."""
    text = (ROOT / "pyproject.toml").read_text()
    ignored = text[text.index("\nignore = [") : text.index("[tool.ruff.lint.pylint]")]
    lines = [line for line in ignored.splitlines() if line.startswith("    ")]
    assert [line for line in lines if "#" not in line] == []
    noqa = r"noqa(?!: [A-Z]+[0-9]+(, ?[A-Z]+[0-9]+)* - \S)"
    ignore = r"type: ignore(?!\[[a-z-, ]+\]\s+#\s*\S)"
    silent = re.compile(rf"#\s*({noqa}|{ignore})")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources(*PACKAGES, "tests", "examples", "benchmarks", "tools")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if silent.search(line)
    ]
    assert found == []


def test_every_package_has_a_readme_with_both_closing_sections() -> None:
    """*File map* and *Non-obvious* end it, in this order."""
    packages = [ROOT / "schemas", ROOT / "service", ROOT / "console"]
    packages += [path.parent for path in sorted((ROOT / "core_log").glob("*/__init__.py"))]
    problems = []
    for package in packages:
        readme = package / "README.md"
        text = readme.read_text() if readme.exists() else ""
        headings = re.findall(r"^##+ (.*)$", text, re.MULTILINE)
        if headings[-2:] != ["File map", "Non-obvious"]:
            problems.append(f"{readme.relative_to(ROOT)} ends in {headings[-2:]}")
    assert problems == []


def test_no_file_knows_a_machine_or_an_index() -> None:
    """No absolute path of somebody's machine and no address of a package index."""
    # Put together here, so that this file does not find itself.
    words = ["/" + "root/", "/" + "home/", "/work" + "/main", "pypi" + ".org", "index" + "-url"]
    allowed = {"tools/pins": {"index" + "-url"}}
    found = []
    for path in tracked():
        name = str(path.relative_to(ROOT))
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {w}" for w in words if w in text and w not in allowed.get(name, ())]
    assert found == []


def test_pins_are_exact_and_hashed() -> None:
    """Every line of the requirements is name==version with hashes, and covers what is declared."""
    for name in ("base.txt", "dev.txt"):
        text = (ROOT / "requirements" / name).read_text().replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
        assert lines
        for line in lines:
            assert re.match(r"[a-z0-9-]+==\S+ (; .+ )?( +--hash=sha256:[0-9a-f]{64})+", line), line
    pinned = (ROOT / "requirements" / "base.txt").read_text()
    for requirement in project()["project"]["dependencies"]:
        [declared] = re.findall(r"^[A-Za-z0-9-]+", requirement)
        assert re.search(rf"^{declared.lower()}==", pinned, re.MULTILINE), declared


def test_tests_mirror_the_packages() -> None:
    """Each module of service and console has its own test module."""
    for folder in ("service", "console"):
        modules = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__"}
        tests = {
            path.stem.removeprefix("test_") for path in (ROOT / "tests" / folder).glob("test_*.py")
        }
        assert modules == tests


EXECUTES: dict[str, str] = {
    "core_log/protocol/source.py": "compiles readers and writers of our own message declarations",
}
"""Where code is made at run time, and of what. Data of peers and files never is."""


def test_nothing_executes_data() -> None:
    """No pickle, marshal, eval, exec, or YAML's object loader in what we ship."""
    modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    calls = {"eval", "exec", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "__import__"}
    found = []
    for path in sources(*PACKAGES):
        name = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                used = {alias.name for alias in node.names} & modules
            elif isinstance(node, ast.ImportFrom):
                used = {node.module or ""} & modules
            elif isinstance(node, ast.Call):
                used = {ast.unparse(node.func)} & calls
            else:
                continue
            if used and name not in EXECUTES:
                found.append(f"{name}:{node.lineno}: {', '.join(used)}")
    assert found == []


def test_every_task_has_its_line_of_help() -> None:
    """`make help` shows every target but the files."""
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z][a-z-]*):(?!=)(.*)$", makefile, re.MULTILINE)
    assert [name for name, rest in targets if "## " not in rest] == []
