"""Where files that ship with the program lie: beside the source, or inside the installed package.

Invariant: read only; nothing is ever written here.
"""

from pathlib import Path

from engine.errors import EngineError


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, for example resource("icons", "stop.svg").

    A checkout keeps them in resources/ beside the source, an installed package in app/_resources
    (see pyproject). EngineError when the installation lacks it.
    """
    root = Path(__file__).resolve().parent.parent
    for folder in (root / "resources", root / "app" / "_resources"):
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    raise EngineError(
        "The file resources/{path} is missing from this installation.",
        hint="Install it again.",
        path="/".join(parts),
    )
