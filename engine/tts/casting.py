"""Which voice a name or a file means.

Invariant: the answer is a voice of the given model, or an error that lists what there is.
"""

from pathlib import Path
from typing import Final

from engine.audio.clip import read_clip
from engine.errors import InvalidInput
from engine.tts import voices
from engine.tts.base import TtsModel, Voice

# Longer prompts are cut: VoXtream2 uses at most 20 s.
_LONGEST_PROMPT_S: Final = 30.0


def voice_names(model: TtsModel, *, kept_in: Path | None = None) -> tuple[str, ...]:
    """Names choose() understands: the model's own, its default first, then those the person made
    for it. `kept_in` None: the person's data folder.
    """
    own = [voice.name for voice in model.voices()]
    made = [saved.name for saved in _made_for(model, kept_in)]
    return (*own, *(name for name in made if name not in own))


def choose(model: TtsModel, wanted: str, *, kept_in: Path | None = None) -> Voice:
    """The voice called `wanted` (whatever its case), or the one in the file of that path: a saved
    voice, or a recording to take it from. Empty = the model's default.

    InvalidInput when there is none, UnreadableClip for a file that is no audio, ModelError when
    the model cannot clone.
    """
    if not wanted:
        return model.voices()[0]
    for voice in model.voices():
        if voice.name.casefold() == wanted.casefold():
            return voice
    for saved in _made_for(model, kept_in):
        if saved.name.casefold() == wanted.casefold():
            return voices.load(saved.path)
    path = Path(wanted)
    if path.suffix or path.exists():
        return _from_file(model, path)
    raise InvalidInput(
        f"There is no voice called {wanted!r}.",
        hint="There are: " + ", ".join(voice_names(model, kept_in=kept_in)) + ".",
    )


def _from_file(model: TtsModel, path: Path) -> Voice:
    if path.suffix == ".safetensors":
        voice = voices.load(path)
        if voice.model != model.info.name:
            raise InvalidInput(
                f"The voice {voice.name!r} was made for {voice.model!r}, not for "
                f"{model.info.name!r}.",
                hint=f"Use it with the synthesiser {voice.model!r}.",
            )
        return voice
    clip = read_clip(path, max_seconds=_LONGEST_PROMPT_S)
    return model.encode_voice(clip.pcm, clip.sample_rate)


def _made_for(model: TtsModel, kept_in: Path | None) -> tuple[voices.SavedVoice, ...]:
    saved = voices.saved_voices(voices.folder() if kept_in is None else kept_in)
    return tuple(voice for voice in saved if voice.model == model.info.name)
