"""tanbo-engine: rules, search and games of Tanbo, by Mark Steere.

Importing the package checks that the compiled kernel is there and current.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from os import path, stat

__version__ = "0.1.0"

_KERNEL_SOURCES = ("_kernel.py", "_kernel.pxd")


class KernelNotBuilt(ImportError):  # noqa: N818
    """The compiled kernel is missing or older than its source."""


def _check_kernel(directory: str) -> None:
    """Refuse a missing kernel and, in a checkout, one older than its source.

    An uncompiled or stale kernel would fail in odd ways or silently run old code.

    Raises:
        KernelNotBuilt: with the command that builds it.
    """
    stem = path.join(directory, "_kernel")
    built = next((f for s in EXTENSION_SUFFIXES if path.exists(f := stem + s)), None)
    root = path.dirname(directory)
    remedy = f"run: {path.join(root, 'scripts', 'engine')} --version"
    if not path.exists(path.join(root, "pyproject.toml")):
        if built is None:
            raise KernelNotBuilt(
                f"tanbo_engine: no compiled kernel in {directory} for this Python; "
                "reinstall it: pip install --force-reinstall . (in its checkout)"
            )
        return
    if built is None:
        raise KernelNotBuilt(
            f"tanbo_engine: the kernel in {directory} is not compiled; {remedy}"
        )
    sources = (path.join(directory, name) for name in _KERNEL_SOURCES)
    if any(stat(source).st_mtime > stat(built).st_mtime for source in sources):
        raise KernelNotBuilt(
            f"tanbo_engine: the compiled kernel {built} is older than its source; "
            f"{remedy}"
        )


_check_kernel(path.dirname(path.abspath(__file__)))
