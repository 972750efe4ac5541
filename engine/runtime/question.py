"""A spoken question for the demonstration, made on the spot because no recording is shipped.

Invariant: whoever asks is named, so nobody takes a synthetic question for a person.
"""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from engine.runtime.performance import say
from engine.settings import Settings

FLITE_S = 60.0  # flite speaks a sentence in well under a second


def speak_question(text: str, path: Path) -> str:
    """Write `text` spoken to `path` (WAV); returns who speaks.

    Flite's voice is preferred where it is installed: recognisers trained on people understand it
    far better than a formant voice.
    """
    flite = shutil.which("flite")
    if flite is None:
        settings = Settings()
        say(text, replace(settings, speech=replace(settings.speech, rate=3.0)), out=path)
        return "eSpeak NG (install flite for a voice that is easier to understand)"
    command = [flite, "-voice", "slt", "-t", text, "-o", str(path)]
    subprocess.run(command, check=True, timeout=FLITE_S, stdin=subprocess.DEVNULL)
    return "flite"
