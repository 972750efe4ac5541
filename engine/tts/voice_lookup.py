"""Which voice a name or a file means, and how a recording becomes one that is kept.

A voice serves the model that made it. One that another model made, or that was made in another way,
is made again from the recording kept with it.
Invariant: the answer is a voice of the given model, or an error that says what there is or to do.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.audio.clips.clip import Clip, printable, read_clip
from engine.errors import EngineError, InvalidInput
from engine.tts import voices
from engine.tts.base import TtsModel, Voice

log = logging.getLogger(__name__)

# Longer prompts are cut: VoXtream2 uses at most 20 s.
_LONGEST_PROMPT_S: Final = 30.0


def voice_names(model: TtsModel, *, kept_in: Path | None = None) -> tuple[str, ...]:
    """Names choose() understands: the model's own, its default first, then those the person made
    for it, then those it can make again. `kept_in` None: the person's data folder.
    """
    own = [voice.name for voice in model.voices()]
    saved_voices = _saved_voices(kept_in)
    ready = [file.name for file in saved_voices if _is_made_for(model, file)]
    again = [file.name for file in saved_voices if _can_remake(model, file)]
    return tuple(dict.fromkeys((*own, *ready, *again)))


def choose(model: TtsModel, name: str, *, kept_in: Path | None = None) -> Voice:
    """The voice called `name` (whatever its case), or the one in the file of that path: a saved
    voice, or a recording to take it from. Empty = the model's default. Slow when another model's
    voice has to be made again; it is kept then.

    InvalidInput when there is none, UnreadableClip for a file that is no audio, ModelError when
    the model cannot clone or a voice cannot be kept.
    """
    if not name:
        return model.voices()[0]
    for voice in model.voices():
        if _same(voice.name, name):
            return voice
    files = [file for file in _saved_voices(kept_in) if _same(file.name, name)]
    if files:
        return _served(model, files)
    path = Path(name)
    if path.suffix or path.exists():
        return _from_file(model, path)
    raise InvalidInput(
        "There is no voice called '{name}'.",
        hint="There are: {names}.",
        name=name,
        names=", ".join(voice_names(model, kept_in=kept_in)),
    )


@dataclass(frozen=True)
class Stretch:
    """`seconds` of a recording from `start_s` on; None = to its end."""

    start_s: float = 0.0
    seconds: float | None = None


def adopt(
    model: TtsModel,
    recording: Path,
    name: str,
    stretch: Stretch | None = None,
    *,
    kept_in: Path | None = None,
) -> Voice:
    """Make a recording, or a stretch of it, a voice called `name` (empty: as the file is called)
    and keep both.

    InvalidInput for a name that is taken by one of the model's own voices or is none,
    UnreadableClip for a file that is no audio, ModelError when the model cannot clone or the voice
    cannot be kept.
    """
    name = name or printable(recording.stem)
    if any(_same(voice.name, name) for voice in model.voices()):
        raise InvalidInput(
            "{model} has a voice called {name} already.",
            hint="Choose another name.",
            model=model.info.name,
            name=name,
        )
    stretch = stretch or Stretch()
    longest_s = min(_LONGEST_PROMPT_S, stretch.seconds or _LONGEST_PROMPT_S)
    clip = read_clip(recording, max_seconds=longest_s, start_s=stretch.start_s)
    return _make(model, clip, name, _folder(kept_in))


def remake(model: TtsModel, name: str, *, kept_in: Path | None = None) -> Voice:
    """Make a voice again from the recording kept with it, and keep it.

    InvalidInput when there is no such voice or its recording was not kept, ModelError when the
    model cannot clone or the voice cannot be kept.
    """
    files = [file for file in voices.saved_voices(_folder(kept_in)) if _same(file.name, name)]
    for file in files:
        if file.has_clip:
            return _make(model, voices.load_clip(file.path), file.name, file.path.parent)
    if files:
        raise InvalidInput(
            "The recording of '{name}' was not kept.", hint="Add the recording again.", name=name
        )
    raise InvalidInput("There is no voice called '{name}' that you made.", name=name)


def _served(model: TtsModel, files: Sequence[voices.SavedVoice]) -> Voice:
    """Of these voices, which have the same name, the one made for the model or that can be made for
    it.
    """
    for file in files:
        if _is_made_for(model, file):
            voice = voices.load(file.path)
            return _remake(model, file, voice) if _is_outdated(model, file, voice) else voice
    for file in files:
        if _can_remake(model, file):
            return _make(model, voices.load_clip(file.path), file.name, file.path.parent)
    raise _foreign(model, files[0].name, files[0].model)


def _remake(model: TtsModel, file: voices.SavedVoice, old: Voice) -> Voice:
    """The voice as the model makes it now; where that fails, the old one, which spoke until now."""
    try:
        return _make(model, voices.load_clip(file.path), file.name, file.path.parent)
    except EngineError as error:
        log.warning("a voice stays as it was made name=%s reason=%s", file.name, error.message)
        return old


def _make(model: TtsModel, clip: Clip, name: str, folder: Path) -> Voice:
    voice = replace(model.encode_voice(clip.pcm, clip.sample_rate), name=name)
    voices.save(voice, folder, clip)
    return voice


def _from_file(model: TtsModel, path: Path) -> Voice:
    if path.suffix == ".safetensors":
        voice = voices.load(path)
        if voice.model != model.info.voice_model:
            raise _foreign(model, voice.name, voice.model)
        return voice
    clip = read_clip(path, max_seconds=_LONGEST_PROMPT_S)
    return model.encode_voice(clip.pcm, clip.sample_rate)


def _foreign(model: TtsModel, name: str, made_for: str) -> InvalidInput:
    return InvalidInput(
        "The voice '{name}' was made for '{model}', not for '{other}'.",
        hint="Add it again from its recording, or use the synthesiser it was made for.",
        name=name,
        model=made_for,
        other=model.info.voice_model,
    )


def _is_made_for(model: TtsModel, file: voices.SavedVoice) -> bool:
    return file.model == model.info.voice_model


def _is_outdated(model: TtsModel, file: voices.SavedVoice, voice: Voice) -> bool:
    """Whether the model makes voices in a new way since, and can make this one again."""
    can_make = model.info.can_clone and file.has_clip
    return can_make and voice.metadata.get("making", "") != model.info.making


def _can_remake(model: TtsModel, file: voices.SavedVoice) -> bool:
    return model.info.can_clone and file.has_clip and not _is_made_for(model, file)


def _saved_voices(folder: Path | None) -> tuple[voices.SavedVoice, ...]:
    return voices.saved_voices(_folder(folder))


def _folder(kept_in: Path | None) -> Path:
    return voices.folder() if kept_in is None else kept_in


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
