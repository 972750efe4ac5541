"""Voices by name or file, voices from recordings, and mixing two voices.

A voice can only be used with the model that made it. A voice of another model or recipe is made
again from the recording in its file. If the current model does not make voices from recordings, the
recording is kept for the one that does (pick.LEARNS). Invariant: the result is a voice of the given
model, or an error that names the voices or the remedy; no synthesiser is loaded for it.
"""

import logging
import mimetypes
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.audio.clips.clip import Clip, printable, read_clip
from engine.errors import EngineError, InvalidInput, ModelError
from engine.messages.voices import Mix
from engine.settings import SpeechSettings
from engine.tts import pick, voices
from engine.tts.base import TtsModel, Voice
from engine.tts.kokoro.voices import NAMES, blend, read_voices, voices_folder
from engine.tts.registry import VoiceCatalogue

log = logging.getLogger(__name__)

# Longer prompts are cut: VoXtream2 uses at most 20 s.
LONGEST_PROMPT_S: Final = 30.0


def voice_names(model: TtsModel) -> tuple[str, ...]:
    """Return the names that choose() accepts: the model's own voices, its default first, then those
    that the person made for it, then those that it can make again.
    """
    own = [voice.name for voice in model.voices()]
    saved_voices = voices.saved_voices()
    ready = [file.name for file in saved_voices if file.model == model.info.voice_model]
    again = [file.name for file in saved_voices if _can_remake(model, file)]
    return tuple(dict.fromkeys((*own, *ready, *again)))


def choose(model: TtsModel, name: str) -> Voice:
    """Return the voice called `name` (in any case), or that of the file at this path: a saved
    voice, or a recording. Empty = the model's default. This takes long when another model's voice
    is made again; the result is saved.

    InvalidInput for an unknown voice, UnreadableClip for a file without audio, ModelError when the
    model does not make voices from recordings or a voice cannot be saved.
    """
    if not name:
        return model.voices()[0]
    for voice in model.voices():
        if voices.same(voice.name, name):
            return voice
    if files := voices.called(name):
        return _served(model, files)
    path = Path(name)
    kind = mimetypes.guess_type(path.name)[0] or ""
    is_voice = path.suffix == ".safetensors"
    # "Dr. Smith" is the name of a voice, one with a folder or the suffix of a sound file is not.
    has_suffix = is_voice or kind.startswith(("audio/", "video/"))
    if path.name == name and not has_suffix and not path.exists():
        raise _unknown(name, voice_names(model))
    if not is_voice:
        return encode(model, read_clip(path, max_seconds=LONGEST_PROMPT_S))
    voice = voices.load(path)
    if voice.model != model.info.voice_model:
        raise _foreign(model, voice.name, voice.model)
    return voice


def _unknown(name: str, names: Iterable[str]) -> InvalidInput:
    return InvalidInput(
        "There is no voice called '{name}'.",
        hint="There are: {names}.",
        name=name,
        names=", ".join(names),
    )


def voice_for(model: TtsModel, chosen: Voice, language: str, preferred: str = "") -> Voice | None:
    """Return the voice that speaks a language (engine/languages.py): the chosen one, else the one
    of the name `preferred`, else the model's first; None if no voice of the model speaks it.
    """
    candidates = [chosen, *model.voices()]
    if chosen.language != language and preferred:
        with suppress(EngineError):  # it may belong to another model
            candidates.insert(1, choose(model, preferred))
    return next((voice for voice in candidates if voice.language == language), None)


def preferred_voice(settings: SpeechSettings, language: str) -> str:
    """Return the voice chosen last for a language, for voice_for(); empty = none."""
    return str(getattr(settings, f"voice_{language}", ""))


def languages_of(model: TtsModel) -> dict[str, str]:
    """Return the language of each of voice_names()."""
    found = {voice.name: voice.language for voice in model.voices()}
    saved = [file for file in voices.saved_voices() if file.model == model.info.voice_model]
    return {file.name: file.language for file in saved} | found


@dataclass(frozen=True)
class Stretch:
    """A part of a recording: `seconds` from `start_s` on; None = to its end."""

    start_s: float = 0.0
    seconds: float | None = None


def adopt(model: TtsModel, recording: Path, name: str, stretch: Stretch | None = None) -> Voice:
    """Make a voice called `name` (empty: the file's name) from a recording or a stretch of it, and
    save both. If the model does not make voices from recordings, only the recording is saved, for
    Kokoro.

    InvalidInput for an invalid name, or one of the model's own voices (or of Kokoro's, if the
    recording is kept for it); UnreadableClip for a file without audio; ModelError when the voice
    cannot be saved.
    """
    name, can_clone = name or printable(recording.stem), model.info.can_clone
    owners = {model.info.name: tuple(voice.name for voice in model.voices())}
    owners |= {} if can_clone else {pick.LEARNS: NAMES}
    for owner, own_names in owners.items():
        if any(voices.same(own, name) for own in own_names):
            raise InvalidInput(
                "{model} has a voice called {name} already.",
                hint="Choose another name.",
                model=owner,
                name=name,
            )
    stretch = stretch or Stretch()
    longest_s = min(LONGEST_PROMPT_S, stretch.seconds or LONGEST_PROMPT_S)
    clip = read_clip(recording, max_seconds=longest_s, start_s=stretch.start_s)
    if can_clone:
        return _make(model, clip, name)
    # Its model makes the rest when it is loaded.
    voice = Voice(name, pick.LEARNS, metadata={voices.RECORDING: clip.digest})
    voices.save(voice, voices.folder(), clip)
    return voice


def remake(model: TtsModel, name: str) -> Voice:
    """Make a voice again from the recording in its file, and save it.

    InvalidInput for an unknown voice or one without its recording, ModelError when the model does
    not make voices of recordings or the voice cannot be saved.
    """
    return _made_again(model, voices.with_recording(name))


def mixed(mix: Mix, catalogue: VoiceCatalogue, within: Path, name: str = "") -> Voice:
    """Mix two voices, each one of the `catalogue` or from the folder `within`.

    ModelError for a synthesiser that cannot mix and for a damaged file, InvalidInput for an unknown
    voice, for voices of two languages and for a share outside 0 to 1.
    """
    if not catalogue.can_mix:
        raise ModelError(
            "The voices of {model} cannot be mixed.",
            hint="Choose Kokoro as the synthesiser.",
            model=catalogue.voice_model,
        )
    if not 0 <= mix.share <= 1:
        raise InvalidInput(
            "A share cannot be {share}.", hint="Give a number from 0 to 1.", share=f"{mix.share:g}"
        )
    saved = [each for each in voices.saved_voices(within) if each.model == catalogue.voice_model]
    known: dict[str, Voice | Path] = {voices.folded(file.name): file.path for file in saved}
    known |= {voices.folded(voice.name): voice for voice in read_voices(voices_folder())}
    parts = []
    for each, share in ((mix.one, mix.share), (mix.other, 1 - mix.share)):
        found = known.get(voices.folded(each))
        if found is None:
            raise _unknown(each, (*catalogue.own, *(file.name for file in saved)))
        parts.append((voices.load(found) if isinstance(found, Path) else found, share))
    if len({voice.language for voice, _ in parts}) > 1:
        raise InvalidInput(
            "{one} and {other} speak different languages.",
            hint="Mix two voices of one language.",
            one=mix.one,
            other=mix.other,
        )
    shares = ", ".join(f"{100 * share:.0f} % {voice.name}" for voice, share in parts)
    about = {voices.ABOUT: f"mixed of {shares}", voices.MIXED: shares}
    return blend(name, tuple(parts), **about)


def _served(model: TtsModel, files: Sequence[voices.SavedVoice]) -> Voice:
    """Return a voice for the model from files of one name: the one made for the model, else one
    that can be made again for it. One of an older recipe is made again, if that is possible.
    """
    info = model.info
    own = next((file for file in files if file.model == info.voice_model), None)
    if own is None:
        for file in files:
            if _can_remake(model, file):
                return _made_again(model, file)
        raise _foreign(model, files[0].name, files[0].model)
    current = (info.recipe_version, info.learnt or info.recipe_version)
    if info.can_clone and own.has_clip and own.recipe_version not in current:
        try:
            return _made_again(model, own)
        except EngineError as error:
            reason = error.message
            log.warning("a voice stays as it was made name=%s reason=%s", own.name, reason)
    return voices.load(own.path)


def _made_again(model: TtsModel, file: voices.SavedVoice) -> Voice:
    return _make(model, voices.load_clip(file.path), file.name)


def _make(model: TtsModel, clip: Clip, name: str) -> Voice:
    voice = replace(encode(model, clip), name=name)
    voices.save(voice, voices.folder(), clip)
    return voice


def encode(model: TtsModel, clip: Clip) -> Voice:
    """Make a voice from a recording. UnreadableClip gives the reason for an unsuitable recording;
    ModelError for a model that does not make voices from recordings.
    """
    if not model.info.can_clone:
        raise pick.cannot_clone()
    return model.encode_voice(clip.pcm, clip.sample_rate)


def is_recording(name: str) -> bool:
    """Return True for the path of a file that is not a voice, unless a voice has that name."""
    path = Path(name)
    known = (*NAMES, *(file.name for file in voices.saved_voices()))
    is_voice = path.suffix == ".safetensors" or any(voices.same(each, name) for each in known)
    return bool(name) and not is_voice and path.is_file()


def _foreign(model: TtsModel, name: str, made_for: str) -> InvalidInput:
    if made_for == pick.LEARNS:
        return InvalidInput(
            "{name} is a voice of Kokoro's, which does not speak now.",
            hint="Choose Kokoro as the synthesiser.",
            name=name,
        )
    return InvalidInput(
        "The voice '{name}' was made for '{model}', not for '{other}'.",
        hint="Add it again from its recording, or use the synthesiser it was made for.",
        name=name,
        model=made_for,
        other=model.info.voice_model,
    )


def _can_remake(model: TtsModel, file: voices.SavedVoice) -> bool:
    info = model.info
    return info.can_clone and file.has_clip and file.model != info.voice_model
