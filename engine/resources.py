"""Find files that ship with the program: beside the source, or inside the installed package.

Invariant: read only; nothing is ever written here.
"""

import gzip
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

from engine.errors import EngineError

_PROGRAM: Final = Path(__file__).resolve().parent.parent
ROOTS: Final = (_PROGRAM / "resources", _PROGRAM / "app" / "_resources")


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder, for example resource("icons", "stop.svg").

    A checkout has them in resources/ beside the source, an installed package in app/_resources (see
    pyproject). EngineError if the installation lacks it.
    """
    for folder in ROOTS:
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    raise EngineError(
        "The file resources/{path} is missing from this installation.",
        hint="Install it again.",
        path="/".join(parts),
    )


@cache
def table(*parts: str) -> dict[str, Any]:
    """Return a shipped TOML file, read once; callers must not change it."""
    return tomllib.loads(resource(*parts).read_text(encoding="utf-8"))


@cache
def compressed_text(*parts: str) -> str:
    """Return a shipped text in Latin-1, compressed by gzip and read once."""
    return gzip.decompress(resource(*parts).read_bytes()).decode("latin-1")
