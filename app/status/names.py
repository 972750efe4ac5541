"""Names of what is running, as shown to people: "Whisper base, on this computer".

Invariant: a name that is not in the table is shown unchanged.
"""

from pathlib import PurePath
from urllib.parse import urlsplit

from app.language.words import mark, tr
from engine.api import SYSTEMS, Part

NAMES = {
    Part.MICROPHONE: mark("Microphone"),
    Part.RECOGNISER: mark("Recogniser"),
    Part.LANGUAGE_MODEL: mark("Language model"),
    Part.SYNTHESISER: mark("Voice"),
    Part.LOUDSPEAKER: mark("Loudspeaker"),
}
DOES = {
    **NAMES,
    Part.RECOGNISER: mark("Listens"),
    Part.LANGUAGE_MODEL: mark("Thinks"),
    Part.SYNTHESISER: mark("Speaks"),
}
_LOCAL = ("localhost", "127.0.0.1", "::1")
_KNOWN = {
    "sphinx": mark("Sphinx, on this computer"),
    "skills": mark("Built-in skills"),
    "starter": mark("Rubato's own, on this computer"),
    "rubato-starter": mark("Rubato's own, on this computer"),
    "kokoro": mark("Kokoro, on this computer"),
    "espeak": mark("eSpeak NG, on this computer"),
    "voxtream2": mark("VoXtream2, on this computer"),
}
_MADE = {system.name: system.title for system in SYSTEMS}


def for_people(part: Part, name: str, detail: str) -> str:
    """`name` and `detail` come from Ready; devices keep the system's names."""
    if part in (Part.MICROPHONE, Part.LOUDSPEAKER):
        return name
    match name:
        case "whisper":
            model = detail.split(":")[0] if ":" in detail else name
            return _here(model.replace("-", " ").capitalize())
        case "llama":
            return _here(PurePath(detail or name).stem)
        case name if name in _MADE:
            return _here(_MADE[name])
        case "server" if " at " in detail:
            model, address = detail.rsplit(" at ", 1)
            host = urlsplit(address).hostname or address
            elsewhere = tr("{model}, on {host}", model=model, host=host)
            return _here(model) if host in _LOCAL else elsewhere
        case _:
            return tr(_KNOWN.get(name, name))


def _here(model: str) -> str:
    return tr("{model}, on this computer", model=model)
