"""The shape of the package: layers, imports, sizes, names, docstrings, words that never occur."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import pytest

import assay
from assay.metrics import CATALOGUE, Metric
from assay.needs import Need

ROOT = Path(assay.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TOP = 6
LAYERS: dict[str, int] = {
    "sample": 0,
    "verdicts": 0,
    "score": 0,
    "errors": 0,
    "text": 0,
    "version": 0,
    "asks": 1,
    "needs": 1,
    "traits": 1,
    "criteria": 1,
    "similarity": 1,
    "judges": 2,
    "metrics": 2,
    "runner": 3,
    "run": 3,
    "store": 3,
    "stats": 3,
    "readers": 3,
    "demo": 3,
    "planning": 4,
    "report": 4,
    "runs": 4,
    "api": 4,
    "suite": 4,
    "cli": 5,
    "migrate": 5,
    "pytest_plugin": 5,
    "ragas": 5,
    "ragchecker": 5,
    "scale": 5,
    "valor": 5,
    "__main__": TOP,
    "": TOP,
}
"""Parts of the package by height; "" is the package itself."""

PURE = {
    "__future__",
    "collections",
    "dataclasses",
    "enum",
    "fractions",
    "functools",
    "itertools",
    "math",
    "operator",
    "re",
    "statistics",
    "string",
    "types",
    "typing",
    "unicodedata",
}
"""What a metric may import from outside: nothing that reads, writes, waits or is heavy."""

HEAVY = [
    "aiohttp",
    "langchain_core",
    "numpy",
    "onnxruntime",
    "openai",
    "pandas",
    "pyarrow",
    "pydantic",
    "pyspark",
    "ray",
    "rich",
    "sentencex",
    "spacy",
    "tokenizers",
    "torch",
    "jinja2",
    "jsonschema",
    "regex",
    "typer",
    "yaml",
]

LATE = {"cli": {"typer", "rich"}, "suite": {"jinja2", "jsonschema", "pydantic", "regex", "yaml"}}
"""Parts that are themselves imported inside functions, and the heavy modules that they use."""

FORBIDDEN = [
    r"\beval\(",
    r"\bexec\(",
    r"pickle",
    r"trust_remote_code",
    r"nest_asyncio",
    r"shell=True",
    r"\bos\.system\(",
    r"\byaml\.load\(",
]


def module_name(path: Path) -> str:
    """The dotted name of a file, e.g. "assay.judges.scripted"."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def names_of(node: ast.AST, path: Path) -> list[str]:
    """The modules, or names in modules, that an import statement brings."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        package = module_name(path).split(".")
        if path.name != "__init__.py":
            package = package[:-1]
        package = package[: len(package) - node.level + 1]
        base = ".".join([*package, base] if base else package)
    return [base, *(f"{base}.{alias.name}" for alias in node.names)]


MODULES = {module_name(path): path for path in FILES}


def imports(path: Path, *, everywhere: bool = True) -> set[str]:
    """What a file imports; with ``everywhere``, also inside functions and type-checking blocks."""
    nodes = ast.walk(parsed(path)) if everywhere else _at_import(parsed(path))
    return {name for node in nodes for name in names_of(node, path) if name}


def _at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _at_import(node)


def own(path: Path, *, everywhere: bool = True) -> set[str]:
    """The modules of the package that a file imports; ``from assay import f`` means the top."""
    found = set()
    for node in ast.walk(parsed(path)) if everywhere else _at_import(parsed(path)):
        names = names_of(node, path)
        if names and names[0].split(".")[0] == "assay":
            modules = {name for name in names[1:] if name in MODULES}
            found |= modules if modules and len(modules) == len(names) - 1 else {names[0], *modules}
    return {name for name in found if name in MODULES}


def part(module: str) -> str:
    """The part of the package that a module belongs to."""
    return module.partition(".")[2].split(".")[0]


# --- layers ------------------------------------------------------------------------------------


def test_every_part_of_the_package_has_a_layer() -> None:
    assert {part(name) for name in MODULES} <= set(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_only_go_down(path: Path) -> None:
    here = part(module_name(path))
    up = {name for name in own(path) if LAYERS[part(name)] > LAYERS[here]}
    assert not up, f"{module_name(path)} (layer {LAYERS[here]}) imports {sorted(up)}"


def test_judges_and_metrics_do_not_know_each_other() -> None:
    for name, path in MODULES.items():
        others = {part(other) for other in own(path)}
        if part(name) == "judges":
            assert "metrics" not in others, name
            assert "needs" not in others, name
        if part(name) == "metrics":
            assert "judges" not in others, name


def test_metrics_are_pure() -> None:
    for name, path in MODULES.items():
        if part(name) == "metrics":
            outside = {imported.split(".")[0] for imported in imports(path)} - {"assay"}
            assert outside <= PURE, name


def test_demo_is_data_only() -> None:
    for name, path in MODULES.items():
        if part(name) == "demo":
            assert {part(other) for other in own(path)} <= {"demo"}, name


def test_no_cycle_of_imports() -> None:
    graph = {name: own(path, everywhere=False) - {name} for name, path in MODULES.items()}
    # A package imports its parts, and they may not import the package: one at a time it unravels.
    while free := [name for name, needed in graph.items() if not needed & set(graph)]:
        for name in free:
            del graph[name]
    assert not graph, {name: sorted(needed & set(graph)) for name, needed in graph.items()}


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, assay; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_heavy_modules_are_imported_inside_functions(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path, everywhere=False)}
    outside -= LATE.get(part(module_name(path)), set())
    assert not outside & set(HEAVY)


# --- files and names -------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_file_is_over_400_lines(path: Path) -> None:
    assert path.read_text("utf-8").count("\n") <= 400


def test_no_module_is_named_for_nothing() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "base_utils"}
    assert not {name for name in MODULES if vague & set(name.split("."))}


def test_the_root_exports_are_sorted_and_importable() -> None:
    names = assay.__all__

    def as_ruff_sorts(name: str) -> tuple[int, list[tuple[bool, int, str]]]:
        kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
        parts = re.findall(r"\d+|\D+", name)
        return kind, [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]

    assert names == sorted(names, key=as_ruff_sorts)
    assert len(names) == len(set(names))
    for name in names:
        assert getattr(assay, name) is not None
    assert not [name for name in names if name.startswith("_")]


def test_the_root_exports_every_metric() -> None:
    assert {metric.__name__ for metric in CATALOGUE.values()} <= set(assay.__all__)


# --- docstrings ------------------------------------------------------------------------------


def undocumented(path: Path) -> list[str]:
    tree = parsed(path)
    out = [] if ast.get_docstring(tree) else ["the module"]
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("_") and not ast.get_docstring(node):
            out.append(node.name)
    return out


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_what_is_public_has_a_docstring(path: Path) -> None:
    assert undocumented(path) == []


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_some_words_never_occur(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [word for word in FORBIDDEN if re.search(word, text)] == []


# --- metrics ---------------------------------------------------------------------------------


def variants(metric: type[Metric]) -> Iterator[Metric]:
    """The metric with every combination of its parameters that have few values."""
    hints = get_type_hints(metric)
    choices: dict[str, tuple[Any, ...]] = {}
    for field in fields(metric):
        if get_origin(hints[field.name]) is Literal:
            choices[field.name] = get_args(hints[field.name])
        elif hints[field.name] is bool:
            choices[field.name] = (False, True)
    for values in product(*choices.values()):
        yield metric(**dict(zip(choices, values, strict=True)))


def members(hint: Any) -> set[Any]:
    """The members of a union, or the type itself."""
    return set(get_args(hint)) if type(None) in get_args(hint) or _is_union(hint) else {hint}


def _is_union(hint: Any) -> bool:
    return type(hint).__name__ in ("UnionType", "Union", "_UnionGenericAlias")


def answer_type(need: Need[Any]) -> Any:
    """The type of a need's answer, from its base ``Need[T]``."""
    for base in getattr(type(need), "__orig_bases__", ()):
        if get_origin(base) is Need:
            (answer,) = get_args(base)
            assert not isinstance(answer, TypeVar)
            return answer
    raise AssertionError(f"{need} does not say what answers it")


@pytest.mark.parametrize("name", CATALOGUE)
def test_score_takes_one_answer_a_need_of_the_need_s_type(name: str) -> None:
    for metric in variants(CATALOGUE[name]):
        hints = get_type_hints(type(metric).score)
        parameters = list(inspect.signature(metric.score).parameters)
        assert len(parameters) == len(metric.needs), str(metric)
        for parameter, need in zip(parameters, metric.needs, strict=True):
            assert members(answer_type(need)) <= members(hints[parameter]), str(metric)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_metric_s_class_says_what_it_measures(name: str) -> None:
    metric = CATALOGUE[name]
    assert metric.__doc__
    assert metric.__doc__.splitlines()[0].endswith(".")
    assert metric.version >= 1
    assert metric.low < metric.high
    assert metric.__module__.startswith("assay.metrics.")


def test_every_module_can_be_imported_alone() -> None:
    for name in MODULES:
        if part(name) != "__main__":
            assert importlib.import_module(name).__name__ == name
