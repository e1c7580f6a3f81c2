import ast
import os
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import pytest

import tanbo_engine
from tanbo_engine import (
    _COMPILED,
    KernelNotBuilt,
    _alphabeta,
    _check_kernel,
    _kernel,
    _prover,
)

SUFFIX = EXTENSION_SUFFIXES[0]
SOURCES = [f"{module}{suffix}" for module in _COMPILED for suffix in (".py", ".pxd")]
PACKAGE = Path(tanbo_engine.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package folder without compiled modules, outside a checkout."""
    folder = tmp_path / "tanbo_engine"
    folder.mkdir()
    return folder


@pytest.fixture
def checkout(package: Path) -> Path:
    """A package folder in a checkout, sources there, nothing compiled."""
    (package.parent / "pyproject.toml").touch()
    for name in SOURCES:
        (package / name).touch()
        os.utime(package / name, (1000, 1000))
    return package


def build(folder: Path, when: int) -> None:
    for module in _COMPILED:
        (folder / f"{module}{SUFFIX}").touch()
        os.utime(folder / f"{module}{SUFFIX}", (when, when))


def refusal(folder: Path) -> str:
    with pytest.raises(KernelNotBuilt) as raised:
        _check_kernel(folder)
    return str(raised.value)


def test_a_current_kernel_in_a_checkout_is_fine(checkout: Path) -> None:
    build(checkout, 1001)
    _check_kernel(checkout)


def test_a_kernel_as_old_as_its_source_is_fine(checkout: Path) -> None:
    build(checkout, 1000)
    _check_kernel(checkout)


def test_a_missing_kernel_in_a_checkout_is_one_line_that_says_how_to_build_it(
    checkout: Path,
) -> None:
    message = refusal(checkout)
    assert "no compiled _kernel" in message
    assert str(checkout.parent / "scripts" / "engine") in message
    assert "\n" not in message


@pytest.mark.parametrize("module", _COMPILED)
def test_each_compiled_module_is_missed(checkout: Path, module: str) -> None:
    build(checkout, 1001)
    (checkout / f"{module}{SUFFIX}").unlink()
    assert f"no compiled {module} in" in refusal(checkout)


def test_the_guard_knows_every_module_that_is_built() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    built = project["tool"]["setuptools"]["ext-modules"]
    assert [row["name"] for row in built] == [f"tanbo_engine.{m}" for m in _COMPILED]


@pytest.mark.parametrize("source", SOURCES)
def test_a_kernel_older_than_one_of_its_sources_is_refused(
    checkout: Path, source: str
) -> None:
    build(checkout, 2000)
    os.utime(checkout / source, (3000, 3000))
    message = refusal(checkout)
    assert "older than its source" in message
    assert str(checkout.parent / "scripts" / "engine") in message
    assert "\n" not in message


def test_a_kernel_for_another_python_is_a_missing_one(checkout: Path) -> None:
    (checkout / "_kernel.cpython-27-other.so").touch()
    assert "no compiled _kernel" in refusal(checkout)


def test_an_installed_kernel_is_fine_whatever_the_times(package: Path) -> None:
    build(package, 1)
    (package / "_kernel.py").touch()
    _check_kernel(package)


def test_a_missing_kernel_outside_a_checkout_says_to_reinstall(package: Path) -> None:
    message = refusal(package)
    assert "no compiled _kernel" in message
    assert "reinstall" in message
    assert "\n" not in message


def test_a_refused_kernel_is_an_import_error() -> None:
    assert issubclass(KernelNotBuilt, ImportError)


@pytest.mark.parametrize("module", [_kernel, _prover, _alphabeta])
def test_the_modules_in_use_are_the_compiled_ones(module: ModuleType) -> None:
    assert module.COMPILED
    assert str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))


# Which module may use which (DESIGN.md section 2)

ROOMS = [
    "machine",
    "wording",
    "points",
    "rules",
    "setups",
    "notation",
    "rulebook",
    "answers",
    "explain",
    "certificate",
    "_kernel",
    "weights",
    "_prover",
    "_alphabeta",
    "game",
    "record",
    "clock",
    "patience",
    "chance",
    "player",
    "solver",
    "variety",
    "levels",
    "selfplay",
    "bench",
    "api",
]
MODULES = [*_COMPILED, *sorted(path.stem for path in PACKAGE.glob("[!_]*.py"))]


def imports_of(module: str) -> set[str]:
    """Return the modules of this project that a module imports."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{n.name}" for n in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {
        name for name in found if name.split(".")[0] in ("tanbo_engine", "protocol")
    }


@pytest.mark.parametrize("module", ["__init__", *MODULES])
def test_the_engine_never_imports_the_protocol(module: str) -> None:
    used = imports_of(module)
    assert not any(name.startswith("protocol") for name in used)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_uses_only_modules_before_it(module: str) -> None:
    later = ROOMS[ROOMS.index(module) :]
    used = imports_of(module)
    assert not used & {f"tanbo_engine.{name}" for name in later}


@pytest.mark.parametrize("module", ["rules", "notation", "points", "certificate"])
def test_the_plain_rules_and_the_checker_use_nothing_compiled(module: str) -> None:
    used = " ".join(imports_of(module))
    assert not any(compiled in used for compiled in _COMPILED)
