"""A spoken question for the demonstration, made on the spot because no recording is shipped.

Invariant: whoever asks is named, so nobody takes a synthetic question for a person.
"""

import shutil
import subprocess
from pathlib import Path

from engine.runtime.host.say_command import check_writable, say
from engine.settings import Manner, Settings, SpeechSettings
from engine.tts.registry import BUILT_IN

FLITE_S = 60.0  # flite speaks a sentence in well under a second


def speak_question(text: str, path: Path) -> str:
    """Write `text` spoken to `path` (WAV); returns who speaks.

    Flite's voice is preferred where it is installed: recognisers trained on people understand it
    far better than a formant voice.
    """
    if _flite(text, path):
        return "flite"
    say(text, Settings(speech=SpeechSettings(engine=BUILT_IN, rate=3.0)), Manner(out=path))
    return "eSpeak NG (install flite for a voice that is easier to understand)"


def _flite(text: str, path: Path) -> bool:
    """Let flite speak; False when it is not installed or cannot."""
    flite = shutil.which("flite")
    if flite is None:
        return False
    check_writable(path)
    command = [flite, "-voice", "slt", "-t", text, "-o", str(path)]
    try:
        subprocess.run(command, check=True, timeout=FLITE_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
