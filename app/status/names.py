"""What runs, as it is told to people: "Whisper base, on this computer".

Invariant: a name that is not known here is shown as it is.
"""

from pathlib import PurePath
from urllib.parse import urlsplit

from engine.api import Part

NAMES = {
    Part.MICROPHONE: "Microphone",
    Part.RECOGNISER: "Recogniser",
    Part.LANGUAGE_MODEL: "Language model",
    Part.SYNTHESISER: "Voice",
    Part.LOUDSPEAKER: "Loudspeaker",
}
DOES = {
    **NAMES,
    Part.RECOGNISER: "Listens",
    Part.LANGUAGE_MODEL: "Thinks",
    Part.SYNTHESISER: "Speaks",
}
_HERE = "on this computer"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_KNOWN = {
    "sphinx": f"Sphinx, {_HERE}",
    "skills": "Built-in skills",
    "starter": f"Rubato's own, {_HERE}",
    "rubato-starter": f"Rubato's own, {_HERE}",
    "espeak": f"eSpeak NG, {_HERE}",
    "voxtream2": f"VoXtream2, {_HERE}",
}


def for_people(part: Part, name: str, detail: str) -> str:
    """`name` and `detail` are those of Ready; devices are called as the system calls them."""
    if part in (Part.MICROPHONE, Part.LOUDSPEAKER):
        return name
    match name:
        case "whisper":
            model = detail.split(":")[0] if ":" in detail else name
            return f"{model.replace('-', ' ').capitalize()}, {_HERE}"
        case "llama":
            return f"{PurePath(detail or name).stem}, {_HERE}"
        case "server" if " at " in detail:
            model, address = detail.rsplit(" at ", 1)
            host = urlsplit(address).hostname or address
            return f"{model}, {_HERE if host in _LOCAL else f'on {host}'}"
        case _:
            return _KNOWN.get(name, name)
