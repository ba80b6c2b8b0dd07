"""The house's rules that are broken without noticing: arrows of imports, who may use flint, no text as code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = ("theory", "constructions", "checks", "experiments", "headcount")
FLINT_USERS = ("checks/balls.py", "checks/lattices.py", "checks/verify/")  # balls; exact LLL; the checker
CHECKER = ("canonical", "fields", "records", "schema")
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "sympify", "parse_expr", "loads_pickle"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}
MOST_LINES = 400


def sources() -> list[Path]:
    return sorted(path for room in ORDER for path in (ROOT / room).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", sources(), ids=name)
def test_imports_follow_the_arrows(path: Path) -> None:
    """Catches a lower room that imports a higher one, such as constructions importing checks."""
    room = ORDER.index(path.relative_to(ROOT).parts[0])
    above = set(ORDER[room + 1 :])
    wrong = [module for module in imported(ast.parse(path.read_text())) if module.split(".")[0] in above]
    assert not wrong, f"{name(path)} imports {wrong}, which stand above it"


def test_there_are_sources() -> None:
    """Catches a moved tree, for which the other tests would pass on nothing."""
    assert {path.relative_to(ROOT).parts[0] for path in sources()} == set(ORDER)


def test_only_balls_and_checker_import_flint() -> None:
    """Catches flint's numbers that escape from the three places that wrap them."""
    users = {
        name(path)
        for path in sources()
        if any(m.split(".")[0] == "flint" for m in imported(ast.parse(path.read_text())))
    }
    assert "checks/balls.py" in users
    assert all(user.startswith(FLINT_USERS) for user in users)


@pytest.mark.parametrize("path", sources(), ids=name)
def test_text_is_never_run_as_code(path: Path) -> None:
    """Catches eval, exec, sympify on input, pickle and its kin."""
    tree = ast.parse(path.read_text())
    calls = {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, (ast.Name, ast.Attribute))
        and not (isinstance(node.func, ast.Attribute) and ast.unparse(node.func).startswith("re."))
    }
    assert not calls & FORBIDDEN_CALLS
    assert not {module.split(".")[0] for module in imported(tree)} & FORBIDDEN_MODULES


def test_the_checker_trusts_nobody() -> None:
    """Catches a checker that leans on the project's own evaluator instead of flint and its schema alone."""
    paths = [*(ROOT / "checks/verify").glob("*.py"), *(ROOT / f"checks/certificates/{part}.py" for part in CHECKER)]
    assert len(paths) >= 10
    for path in paths:
        foreign = {
            module
            for module in imported(ast.parse(path.read_text()))
            if module.split(".")[0] in {*ORDER, "numpy", "scipy", "torch", "sympy", "mpmath", "z3"}
            and not module.startswith("checks.verify")
            and module not in {"checks.certificates", *(f"checks.certificates.{part}" for part in CHECKER)}
        }
        assert not foreign, f"{name(path)} imports {foreign}"


@pytest.mark.parametrize("path", sources(), ids=name)
def test_modules_are_short(path: Path) -> None:
    """Catches a module that grew past what is read in one go."""
    assert len(path.read_text().splitlines()) <= MOST_LINES
