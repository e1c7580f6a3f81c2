"""tanbo-engine: rules, search and games of Tanbo, by Mark Steere.

Importing the package checks that the compiled kernel is there and current.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

__version__ = "0.1.0"

_KERNEL_SOURCES = ("_kernel.py", "_kernel.pxd")


class KernelNotBuilt(ImportError):  # noqa: N818
    """The compiled kernel is missing or older than its source."""


def _find_kernel(package: Path) -> Path | None:
    """Return the compiled kernel for this Python, None if there is none."""
    names = (package / f"_kernel{suffix}" for suffix in EXTENSION_SUFFIXES)
    return next((name for name in names if name.exists()), None)


def _check_kernel(package: Path) -> None:
    """Refuse a missing kernel and, in a checkout, one older than its source.

    An uncompiled or stale kernel would fail in odd ways or silently run old code.

    Raises:
        KernelNotBuilt: with the command that builds it.
    """
    built = _find_kernel(package)
    checkout = package.parent
    remedy = f"run {checkout / 'scripts' / 'engine'} --version"
    if not (checkout / "pyproject.toml").exists():
        remedy = "run pip install --force-reinstall . in its checkout"
    elif built is not None:
        built_at = built.stat().st_mtime
        if any((package / name).stat().st_mtime > built_at for name in _KERNEL_SOURCES):
            raise KernelNotBuilt(
                f"tanbo_engine: {built} is older than its source; to build it, {remedy}"
            )
    if built is None:
        raise KernelNotBuilt(
            f"tanbo_engine: no compiled kernel in {package} for this Python; "
            f"to build it, {remedy}"
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
