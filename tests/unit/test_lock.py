"""Dependencies: each is used, locked once, and comes from the public registry."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "uv.lock").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
RAY_REQUIREMENTS = (ROOT / "requirements-ray.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("requirements", [REQUIREMENTS, RAY_REQUIREMENTS], ids=["dev", "ray"])
def test_the_exported_requirements_are_those_of_the_lock(requirements: str) -> None:
    locked = {p["name"]: p["version"] for p in tomllib.loads(LOCK)["package"]}
    exported = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", requirements, re.MULTILINE))
    assert exported
    assert {name: locked.get(name) for name in exported} == exported


def test_every_declared_dependency_is_exported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    extras = dict(project["project"]["optional-dependencies"])
    core, ray = project["project"]["dependencies"], extras.pop("ray")
    declared = [*core, *groups["dev"], *groups["docs"], *chain(*extras.values())]
    for name in map(_name, declared):
        assert re.search(rf"^{re.escape(name)}==", REQUIREMENTS, re.MULTILINE), name
    for name in map(_name, [*core, *groups["tests-apart"], *ray]):
        assert re.search(rf"^{re.escape(name)}==", RAY_REQUIREMENTS, re.MULTILINE), name


def test_groups_and_extras_are_those_of_the_lock() -> None:
    """A group that is deleted in pyproject.toml would be lost with the next `make lock`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    locked = next(p for p in tomllib.loads(LOCK)["package"] if p["name"] == "planproof")
    groups = project["dependency-groups"].keys()
    assert groups == locked["metadata"]["requires-dev"].keys()
    assert (
        list(project["project"]["optional-dependencies"]) == locked["metadata"]["provides-extras"]
    )
    conflicts = {entry["group"] for entry in chain(*project["tool"]["uv"]["conflicts"])}
    folders = {file.parent.name for file in ROOT.glob("tests/frameworks/*/requirements.txt")}
    assert conflicts <= groups
    assert folders <= conflicts


def test_packages_come_from_the_public_registry() -> None:
    hosts = set(re.findall(r"https?://([^/\"]+)", LOCK))
    assert hosts <= {"pypi.org", "files.pythonhosted.org"}
    for requirements in (REQUIREMENTS, RAY_REQUIREMENTS):
        assert "://" not in re.sub(r"^#.*$", "", requirements, flags=re.MULTILINE)


def test_every_core_dependency_is_imported_and_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {_name(need) for need in project["dependencies"]}
    extras = {_name(need) for needs in project["optional-dependencies"].values() for need in needs}
    imported: set[str] = set()
    for file in (ROOT / "src").rglob("*.py"):
        if file.parent.name == "integrations":
            continue  # whose hosts are there, or nobody imports them
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
    makers = packages_distributions()  # the module `Stemmer` comes with the package `pystemmer`
    # Python 3.14 brings `compression`; before, it comes with the package `backports.zstd`.
    # Ray is installed elsewhere.
    assert "ray" in extras
    foreign = imported - sys.stdlib_module_names - {"planproof", "compression", "ray"}
    # Several packages may share a namespace, such as `opentelemetry`.
    used = {module: {_normal(maker) for maker in makers[module]} for module in foreign}
    undeclared = [module for module in used if used[module].isdisjoint(core | extras)]
    assert not undeclared
    assert core <= set(chain(*used.values()))


def _normal(name: str) -> str:
    return re.sub(r"[._]", "-", name.lower())


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=~!; ]", requirement, maxsplit=1)[0]
