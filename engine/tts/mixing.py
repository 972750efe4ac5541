"""A voice between two others, of a synthesiser that can mix them: today Kokoro.

Invariant: reads voices from their files; no synthesiser is loaded.
"""

from pathlib import Path

from engine.errors import InvalidInput, ModelError
from engine.messages.voices import Mix
from engine.tts import voices
from engine.tts.base import Voice
from engine.tts.kokoro.place import voices_folder
from engine.tts.kokoro.voices import blend, read_voices
from engine.tts.voice_catalogue import VoiceCatalogue


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
    known: dict[str, Voice | Path] = {file.name.casefold(): file.path for file in saved}
    known |= {voice.name.casefold(): voice for voice in read_voices(voices_folder())}
    parts = []
    for each, share in ((mix.one, mix.share), (mix.other, 1 - mix.share)):
        found = known.get(each.casefold())
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
