"""`rubato wake`: teach the wake phrase on this machine.

Invariant: until it is taught as a whole, the phrase is listened for as before. With --json standard
output is one document even after a failure, with the reason in it, and progress is lines of JSON on
standard error.
"""

import argparse
import json
from typing import Any

from app.command.terminal import (
    action,
    own_settings,
    redraw,
    tell,
    write,
    write_failure,
    write_json,
)
from app.look.plain_text import one_line
from engine import api
from engine.api import EngineError


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `wake` to the command line."""
    wake = action(commands, "wake", _teach, "teach the wake phrase, in some minutes")
    wake.add_argument("phrase", nargs="?", help="the phrase; the one in the settings if left out")


def _teach(options: argparse.Namespace) -> int:
    phrase = options.phrase or own_settings().wake.phrase
    if not options.json:
        api.teach_wake_phrase(phrase, lambda share: redraw(f"{100 * share:3.0f} %"))
        tell("")
        write(f"“{one_line(phrase)}” was taught; it is listened for so from the next start on.")
        return 0

    def tell_share(share: float) -> None:
        tell(json.dumps({"part": round(share, 3)}))

    try:
        file = api.teach_wake_phrase(phrase, tell_share)
    except EngineError as error:
        return write_failure(error, phrase=phrase)
    write_json({"phrase": phrase, "file": file})
    return 0
