"""The voices that a server speaks with, prepared once each, on the thread of the synthesiser; and
copies of the user's voices for every machine of a cluster, as file content.

Invariant: an existing voice is never overwritten by a copy. A voice with the same name and other
content stops the replica, because a name must mean the same voice everywhere.
"""

import logging
from collections.abc import Hashable, Mapping
from contextlib import suppress
from pathlib import Path

from engine.atomic_write import replace_file
from engine.errors import EngineError, InvalidInput, ModelError
from engine.languages import ENGLISH
from engine.settings import SpeechSettings
from engine.tts import voices
from engine.tts.base import TtsModel, Voice
from engine.tts.voice_lookup import (
    choose,
    languages_of,
    preferred_voice,
    voice_for,
    voice_names,
)

Copies = Mapping[str, bytes]  # a voice's file: its name and its content

log = logging.getLogger(__name__)


class ServedVoices:
    """Finds voices by name or by language."""

    def __init__(self, speech: SpeechSettings) -> None:
        self._speech = speech
        self._own = speech.voice  # the user's choice
        self._ready: dict[str, Voice] = {}  # by name
        self._files: frozenset[Hashable] = frozenset()  # of voices, when those were prepared

    def begin(self, model: TtsModel) -> None:
        """Prepare the user's voice, or the synthesiser's own if it cannot be read or made again."""
        try:
            self.find(model, "")
        except EngineError as error:
            log.warning("%s The synthesiser's own voice speaks.", error)
            self._own = ""
            self.find(model, "")

    def find(self, model: TtsModel, name: str, language: str = "") -> Voice:
        """Return the voice of this name, or the user's own; of the latter's language, unless one of
        another `language` is wanted and there. InvalidInput for an unknown name, and for a path,
        which would be read. A removed voice is unknown; one that was made again is reloaded.
        """
        if (files := _voice_files()) != self._files:
            self._files = files
            self._ready.clear()
        voice = self._named(model, name)
        if name or language in ("", voice.language):
            return voice
        preferred = preferred_voice(self._speech, language)
        found = voice_for(model, voice, language, preferred)
        return self._named(model, found.name) if found else voice

    def _named(self, model: TtsModel, name: str) -> Voice:
        key = (name or self._own).casefold()
        if key not in self._ready:
            names = voice_names(model)
            is_known = key in {each.casefold() for each in names}
            if name and not is_known:
                raise InvalidInput(
                    "There is no voice called '{name}'.",
                    hint="There are: {names}.",
                    name=name[:80],
                    names=", ".join(names),
                )
            if key and not is_known:
                log.warning("The chosen voice does not exist. The synthesiser's own speaks.")
            voice = choose(model, key if is_known else "")
            model.warm(voice)
            self._ready[key] = voice
        return self._ready[key]


def languages_by_name(model: TtsModel) -> dict[str, str]:
    """Return the code of the language of each voice, the synthesiser's default first."""
    languages = languages_of(model)
    return {name: languages.get(name, ENGLISH) for name in voice_names(model)}


def _voice_files() -> frozenset[Hashable]:
    """Return the user's voice files: name, and inode, time and size to notice a replacement."""
    found: set[Hashable] = set()
    for path in voices.folder().glob("*" + voices.SUFFIX):
        with suppress(OSError):  # it is being removed
            about = path.stat()
            found.add((path.name, about.st_ino, about.st_mtime_ns, about.st_size))
    return frozenset(found)


def copies() -> Copies:
    """Return the user's voices."""
    files = voices.saved_voices(voices.folder())
    return {file.path.name: file.path.read_bytes() for file in files}


def keep(wanted: Copies) -> None:
    """Write the voices that the user's folder lacks. ModelError if it has a different voice of that
    name.
    """
    place = voices.folder()
    for name, content in wanted.items():
        path = place / Path(name).name
        if not path.is_file():
            place.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
        elif path.read_bytes() != content:
            raise ModelError(
                "A different voice {file} exists on this machine.",
                hint="Rename one of them.",
                file=path.name,
            )
