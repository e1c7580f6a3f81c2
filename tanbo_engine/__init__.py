"""tanbo-engine: rules, search and games of Tanbo, by Mark Steere.

Importing the package checks that the compiled modules are there and current.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

__version__ = "0.1.0"

_COMPILED = ("_kernel", "_prover", "_alphabeta")
"""The compiled modules, which pyproject.toml builds."""


class KernelNotBuilt(ImportError):  # noqa: N818
    """A compiled module is missing or older than its source."""


def _find_compiled(package: Path, module: str) -> Path | None:
    """Return the compiled module for this Python, None if there is none."""
    names = (package / f"{module}{suffix}" for suffix in EXTENSION_SUFFIXES)
    return next((name for name in names if name.exists()), None)


def _is_stale(package: Path, module: str, built: Path) -> bool:
    """Tell whether a compiled module is older than one of its sources.

    Every .pxd counts: modules share the structures that these declare.
    """
    built_at = built.stat().st_mtime
    sources = (package / f"{module}.py", *package.glob("*.pxd"))
    return any(source.stat().st_mtime > built_at for source in sources)


def _check_kernel(package: Path) -> None:
    """Refuse missing compiled modules and, in a checkout, ones older than their source.

    What is uncompiled or stale would fail in odd ways or silently run old code.

    Raises:
        KernelNotBuilt: with the command that builds it.
    """
    checkout = package.parent
    is_checkout = (checkout / "pyproject.toml").exists()
    remedy = "run pip install --force-reinstall . in its checkout"
    if is_checkout:
        remedy = f"run {checkout / 'scripts' / 'engine'} --version"
    for module in _COMPILED:
        built = _find_compiled(package, module)
        if built is None:
            raise KernelNotBuilt(
                f"tanbo_engine: no compiled {module} in {package} for this Python; "
                f"to build it, {remedy}"
            )
        if is_checkout and _is_stale(package, module, built):
            raise KernelNotBuilt(
                f"tanbo_engine: {built} is older than its source; to build it, {remedy}"
            )


def build_id() -> str:
    """Return a hash of the release, sources and weights of this package: 12 hex digits.

    Of the sources, because compilers do not give the same kernel twice.
    """
    import hashlib  # here for the start-up time

    digest = hashlib.sha256(__version__.encode())
    for source in sorted(_PACKAGE.iterdir()):
        if source.suffix in (".py", ".pxd", ".bin"):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


_PACKAGE = Path(__file__).resolve().parent
_check_kernel(_PACKAGE)
