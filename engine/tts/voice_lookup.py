"""Which voice a name or a file means, how a recording becomes one that is kept, and what lies
between two of them.

A voice serves the model that made it. One that another model made, or that was made in another way,
is made again from the recording kept with it. A recording that the model cannot make a voice of is
kept for the one that can (pick.LEARNS).
Invariant: the answer is a voice of the given model, or an error that says what there is or to do;
no synthesiser is loaded for it.
"""

import logging
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.audio.clips.clip import Clip, printable, read_clip
from engine.errors import EngineError, InvalidInput, ModelError
from engine.messages.voices import Mix
from engine.tts import pick, voices
from engine.tts.base import TtsModel, Voice
from engine.tts.kokoro.place import voices_folder
from engine.tts.kokoro.voices import NAMES, blend, read_voices
from engine.tts.voice_catalogue import VoiceCatalogue

log = logging.getLogger(__name__)

# Longer prompts are cut: VoXtream2 uses at most 20 s.
LONGEST_PROMPT_S: Final = 30.0


def voice_names(model: TtsModel, *, kept_in: Path | None = None) -> tuple[str, ...]:
    """Names choose() understands: the model's own, its default first, then those the person made
    for it, then those it can make again. `kept_in` None: the person's data folder.
    """
    own = [voice.name for voice in model.voices()]
    saved_voices = voices.saved_voices(kept_in or voices.folder())
    ready = [file.name for file in saved_voices if file.model == model.info.voice_model]
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
    files = [
        file for file in voices.saved_voices(kept_in or voices.folder()) if _same(file.name, name)
    ]
    if files:
        return _served(model, files)
    if _is_path(name):
        return _from_file(model, Path(name))
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

    InvalidInput for a name that is taken by a voice of the model's own, or of the one that the
    recording is kept for, or is none; UnreadableClip for a file that is no audio; ModelError when
    the voice cannot be kept.
    """
    name, can_clone = name or printable(recording.stem), model.info.can_clone
    owners = {model.info.name: tuple(voice.name for voice in model.voices())}
    owners |= {} if can_clone else {pick.LEARNS: NAMES}
    for owner, own_names in owners.items():
        if any(_same(own, name) for own in own_names):
            raise InvalidInput(
                "{model} has a voice called {name} already.",
                hint="Choose another name.",
                model=owner,
                name=name,
            )
    stretch = stretch or Stretch()
    longest_s = min(LONGEST_PROMPT_S, stretch.seconds or LONGEST_PROMPT_S)
    clip = read_clip(recording, max_seconds=longest_s, start_s=stretch.start_s)
    folder = kept_in or voices.folder()
    return _make(model, clip, name, folder) if can_clone else _keep(clip, name, folder)


def remake(model: TtsModel, name: str, *, kept_in: Path | None = None) -> Voice:
    """Make a voice again from the recording kept with it, and keep it.

    InvalidInput when there is no such voice or its recording was not kept, ModelError when the
    model cannot clone or the voice cannot be kept.
    """
    files = [
        file for file in voices.saved_voices(kept_in or voices.folder()) if _same(file.name, name)
    ]
    for file in files:
        if file.has_clip:
            return _made_again(model, file)
    if files:
        raise InvalidInput(
            "The recording of '{name}' was not kept.", hint="Add the recording again.", name=name
        )
    raise InvalidInput("There is no voice called '{name}' that you made.", name=name)


def mixed(mix: Mix, catalogue: VoiceCatalogue, within: Path, name: str = "") -> Voice:
    """The mixture of two voices of `catalogue` or of the folder `within`.

    ModelError for a synthesiser that cannot mix and for a damaged file, InvalidInput for a voice
    that is not there and for a share outside 0 to 1.
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
            raise InvalidInput(
                "There is no voice called '{name}'.",
                hint="There are: {names}.",
                name=each,
                names=", ".join((*catalogue.own, *(file.name for file in saved))),
            )
        parts.append((voices.load(found) if isinstance(found, Path) else found, share))
    shares = ", ".join(f"{100 * share:.0f} % {voice.name}" for voice, share in parts)
    about = {voices.ABOUT: f"mixed of {shares}", voices.MIXED: shares}
    return blend(name, tuple(parts), **about)


def _served(model: TtsModel, files: Sequence[voices.SavedVoice]) -> Voice:
    """Of these voices, which have the same name, the one made for the model or that can be made for
    it. One that is made in a new way since is made again; where that fails, the old one speaks on.
    """
    info = model.info
    for file in files:
        if file.model == info.voice_model:
            voice = voices.load(file.path)
            can_make = info.can_clone and file.has_clip
            current = (info.making, info.learnt or info.making)
            if not can_make or voice.metadata.get("making", "") in current:
                return voice
            try:
                return _made_again(model, file)
            except EngineError as error:
                reason = error.message
                log.warning("a voice stays as it was made name=%s reason=%s", file.name, reason)
                return voice
    for file in files:
        if _can_remake(model, file):
            return _made_again(model, file)
    raise _foreign(model, files[0].name, files[0].model)


def _made_again(model: TtsModel, file: voices.SavedVoice) -> Voice:
    return _make(model, voices.load_clip(file.path), file.name, file.path.parent)


def _make(model: TtsModel, clip: Clip, name: str, folder: Path) -> Voice:
    voice = replace(encode(model, clip), name=name)
    voices.save(voice, folder, clip)
    return voice


def encode(model: TtsModel, clip: Clip) -> Voice:
    """The voice that a model makes of a recording. UnreadableClip says why none can be made,
    ModelError that this model makes none.
    """
    if not model.info.can_clone:
        raise pick.cannot_clone()
    return model.encode_voice(clip.pcm, clip.sample_rate)


def _keep(clip: Clip, name: str, folder: Path) -> Voice:
    """A voice that has only its recording; its model makes the rest when it is loaded."""
    voice = Voice(name, pick.LEARNS, metadata={voices.RECORDING: clip.digest})
    voices.save(voice, folder, clip)
    return voice


def _is_path(name: str) -> bool:
    """Return True for a file that exists, and for a name that only a file can have: with a folder
    or the suffix of a sound file. "Dr. Smith" is the name of a voice.
    """
    path = Path(name)
    kind = mimetypes.guess_type(path.name)[0] or ""
    has_suffix = path.suffix == ".safetensors" or kind.startswith(("audio/", "video/"))
    return path.name != name or has_suffix or path.exists()


def is_recording(name: str) -> bool:
    """Return True for a name that is the path of a file which is no voice, if nothing else has that
    name.
    """
    path = Path(name)
    known = (*NAMES, *(file.name for file in voices.saved_voices(voices.folder())))
    is_voice = path.suffix == ".safetensors" or any(_same(each, name) for each in known)
    return bool(name) and not is_voice and path.is_file()


def _from_file(model: TtsModel, path: Path) -> Voice:
    if path.suffix == ".safetensors":
        voice = voices.load(path)
        if voice.model != model.info.voice_model:
            raise _foreign(model, voice.name, voice.model)
        return voice
    return encode(model, read_clip(path, max_seconds=LONGEST_PROMPT_S))


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


def _same(one: str, other: str) -> bool:
    return voices.folded(one) == voices.folded(other)
