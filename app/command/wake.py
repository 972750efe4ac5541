"""`rubato wake`: teach the wake phrase on this machine.

Invariant: until it is taught as a whole, the phrase is listened for as before.
"""

import argparse
import json
from typing import Any

from app.command.terminal import redraw, tell, write
from app.look.plain_text import one_line
from engine import api


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
    file = api.teach_wake_phrase(phrase, lambda share: redraw(f"{100 * share:3.0f} %"))
    tell("")
    if options.json:
        write(json.dumps({"phrase": phrase, "file": str(file)}, indent=2))
    else:
        write(f"“{one_line(phrase)}” was taught; it is listened for so from the next start on.")
    return 0
