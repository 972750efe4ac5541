"""Where files that ship with the program lie: beside the source, or inside the installed package.

Invariant: read only; nothing is ever written here.
"""

from pathlib import Path

from engine.errors import EngineError


def resource(name: str) -> Path:
    """The path of a shipped file or folder. EngineError when the installation lacks it."""
    here = Path(__file__).resolve().parent
    for folder in (here.parent / "resources", here.parent / "app" / "_resources"):
        if (folder / name).exists():
            return folder / name
    raise EngineError(
        f"The file resources/{name} is missing from this installation.", hint="Install it again."
    )
