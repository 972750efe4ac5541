"""Finds the files the window ships: icons, fonts, style sheet.

Invariant: a checkout keeps them in `resources/` beside `app/`; an installed package carries the
same folder as `app/_resources/` (see pyproject). Nothing else knows where they are.
"""

from pathlib import Path

_PACKAGED = Path(__file__).parent / "_resources"
_CHECKOUT = Path(__file__).parent.parent / "resources"


def resource(*parts: str) -> Path:
    """Path of a shipped file, for example resource("icons", "stop.svg"); it need not exist."""
    root = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
    return root.joinpath(*parts)
