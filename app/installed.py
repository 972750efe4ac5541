"""Checks whether an installation works: `python -m app.installed FOLDER`, before it is used.

Invariant: nothing outside FOLDER is written, no device is opened and nothing is fetched. The status
is 0 only when a window was painted and an audible sentence was spoken.
"""

import sys
import wave
from array import array
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer

from app.look.theme import Theme, mode_named
from app.program import make_application
from app.window import Window
from engine import api
from engine.api import EngineError, SayOptions, Settings

SENTENCE = "Hello, I am Rubato."
_PATIENCE_MS = 60_000  # until the first frame; longer than any machine takes
_QUIETEST = 0.02  # of full scale; sound with a louder sample is audible
_SHORTEST_S = 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) != 1:
        sys.stderr.write("usage: python -m app.installed FOLDER\n")
        return 2
    try:
        fault = paints() or speaks(Path(words[0]) / "installed.wav")
    except EngineError as error:
        fault = error.message
    sys.stdout.write((fault or "A window was painted and a sentence spoken.") + "\n")
    return 1 if fault else 0


def paints() -> str:
    """Empty, or the reason why no window can be shown."""
    application = make_application()
    theme = Theme(mode_named("system"), application)
    window = Window(Settings(), lambda command: None, theme)
    window.first_painted.connect(application.quit)
    QTimer.singleShot(_PATIENCE_MS, window, lambda: application.exit(1))
    window.show()
    status = application.exec()
    for made in (window, theme):
        made.deleteLater()
    return "The window was not painted." if status else ""


def speaks(path: Path) -> str:
    """Empty, or the reason why no sentence can be spoken."""
    api.say(SENTENCE, Settings(), SayOptions(out=path))
    with wave.open(str(path)) as sound:
        samples = array("h", sound.readframes(sound.getnframes()))
        lasts_s = sound.getnframes() / sound.getframerate()
    if lasts_s < _SHORTEST_S or max(map(abs, samples)) < _QUIETEST * 32768:
        return "The spoken sentence cannot be heard."
    return ""


if __name__ == "__main__":
    sys.exit(main())
