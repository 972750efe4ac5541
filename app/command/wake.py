"""`rubato wake`: teach the wake phrase on this machine.

Invariant: until it is taught as a whole, the phrase is listened for as before. With --json standard
output is one document even after a failure, with the reason in it, and progress is lines of JSON on
standard error.
"""

import argparse
import json
from typing import Any

from app.command.terminal import redraw, tell, write
from app.look.plain_text import one_line
from engine import api
from engine.api import EngineError


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `wake` to the command line."""
    wake = commands.add_parser("wake", help="teach the wake phrase, in some minutes")
    wake.add_argument("phrase", nargs="?", help="the phrase; the one in the settings if left out")
    wake.add_argument("--json", action="store_true", help="print as JSON")
    wake.set_defaults(command=_teach)


def _teach(options: argparse.Namespace) -> int:
    settings, notes = api.load_settings()
    for note in notes:
        tell(note)
    phrase = options.phrase or settings.wake.phrase
    if options.json:
        return _teach_for_json(phrase)
    api.teach_wake_phrase(phrase, lambda share: redraw(f"{100 * share:3.0f} %"))
    tell("")
    write(f"“{one_line(phrase)}” was taught; it is listened for so from the next start on.")
    return 0


def _teach_for_json(phrase: str) -> int:
    document: dict[str, object] = {"phrase": phrase}
    try:
        document["file"] = str(api.teach_wake_phrase(phrase, _tell_share))
    except EngineError as error:
        document |= {"message": error.message, "hint": error.hint}
        document["texts"] = [api.translatable.to_json(text) for text in (error.message, error.hint)]
    write(json.dumps(document, indent=2))
    return 0 if "file" in document else 1


def _tell_share(share: float) -> None:
    tell(json.dumps({"part": round(share, 3)}))
