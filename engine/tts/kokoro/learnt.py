"""Files of learnt voices that wait to be chosen; loads no model.

Invariant: a learnt voice takes the place of its blend only when it is chosen, and only while recipe
and recording are those it was learnt from.
"""

from pathlib import Path

from engine.errors import EngineError, InvalidInput
from engine.tts import voices
from engine.tts.kokoro.voices import LEARNT, NAME


def saved(name: str, within: Path | None = None) -> voices.SavedVoice:
    """The voice the person made for Kokoro. InvalidInput when there is none with its recording."""
    for each in voices.saved_voices(within or voices.folder()):
        if voices.folded(each.name) == voices.folded(name) and each.model == NAME:
            if each.has_clip:
                return each
            raise InvalidInput(
                "The recording of '{name}' was not kept.",
                hint="Add the recording again.",
                name=name,
            )
    raise InvalidInput("There is no voice called '{name}' that you made.", name=name)


def target(name: str, within: Path | None = None) -> Path:
    """Where the voice learnt of this one is kept."""
    return (within or voices.folder()) / voices.LEARNT_FOLDER / voices.file_name(name, NAME)


def is_current(file: Path) -> bool:
    """Return True if the recipe of a learnt voice is today's."""
    try:
        return voices.header(file).making == LEARNT
    except EngineError:
        return False


def learnt_file(name: str) -> Path | None:
    """The file of a learnt voice that waits to be chosen; None = there is none, or its recipe or
    recording has changed.
    """
    return file_of(saved(name))


def file_of(voice: voices.SavedVoice) -> Path | None:
    """As learnt_file()."""
    file = target(voice.name, voice.path.parent)
    if not file.is_file() or not is_current(file):
        return None
    clips = [voices.load(path).metadata.get("clip_sha256") for path in (file, voice.path)]
    return file if clips[0] == clips[1] else None


def choose(name: str, *, learnt: bool, within: Path | None = None) -> None:
    """Keep the learnt voice in place of the blend, or the blend; the other one is deleted.
    InvalidInput where nothing waits.
    """
    voice = saved(name, within)
    file = file_of(voice)
    if file is None:
        raise InvalidInput("Nothing was learnt of '{name}' yet.", name=name)
    if learnt:
        voices.save(voices.load(file), voice.path.parent, voices.load_clip(voice.path))
    file.unlink(missing_ok=True)
