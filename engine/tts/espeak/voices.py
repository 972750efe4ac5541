"""Voices of the formant synthesiser: our own voice files on top of espeak's English languages.

Invariant: every voice has `flutter 0` and `roughness 0`. espeak keeps the phase of both in static
memory that nothing resets, so with either of them the samples of a text would depend on the text
before it.
"""

import hashlib
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, ModelError
from engine.translatable import Translatable

# The whole data is 20 MB for 130 languages; English needs 0.9 MB.
_DATA_FILES = ("phondata", "phonindex", "phontab", "intonations", "en_dict")
DATA_PREFIX: Final = "espeak-"  # of our copies of it, in the person's data folder
_AMERICAN, _BRITISH = "en-US", "en"  # files below lang/gmw


# The difference of one resonance from espeak's default, in percent: its number, its frequency, its
# height and its width.
Formant = tuple[int, int, int, int]


@dataclass(frozen=True)
class FormantVoice:
    """A voice made of espeak's formants. Pitches are in Hz. `gain_db` makes the voices equally loud
    (within 2 dB, measured on one sentence each).
    """

    name: str
    description: str
    language: str
    low_pitch: int
    high_pitch: int
    gain_db: float
    formants: tuple[Formant, ...] = ()

    @property
    def british(self) -> bool:
        return self.language == _BRITISH


def _woman(shift: int) -> tuple[Formant, ...]:
    """Return the formants of a shorter vocal tract: `shift` percent of a man's frequencies."""
    return (
        *((n, shift, 90, 120) for n in range(1, 4)),
        *((n, shift, 75, 130) for n in range(4, 6)),
        *((n, min(shift, 110), 60, 120) for n in range(6, 9)),
    )


_DEEP = tuple((n, 96, 100, 110) for n in range(1, 6))
VOICES = (
    FormantVoice("Alan", Translatable("American man"), _AMERICAN, 82, 124, 2.0),
    FormantVoice("Belinda", Translatable("American woman"), _AMERICAN, 150, 224, 0.0, _woman(108)),
    FormantVoice("Arthur", Translatable("British man"), _BRITISH, 86, 128, 1.0),
    FormantVoice("Clara", Translatable("British woman"), _BRITISH, 158, 232, -1.0, _woman(110)),
    FormantVoice("Victor", Translatable("deep American man"), _AMERICAN, 64, 98, 2.0, _DEEP),
    FormantVoice(
        "Ruby", Translatable("bright American girl"), _AMERICAN, 190, 280, -1.0, _woman(116)
    ),
)


def find(name: str) -> FormantVoice:
    """Return the voice called `name`, whatever its case. InvalidInput if there is none."""
    for voice in VOICES:
        if voice.name.casefold() == name.casefold():
            return voice
    raise InvalidInput(
        "The formant voice has nobody called '{name}'.",
        hint="It has {names}.",
        name=name,
        names=", ".join(voice.name for voice in VOICES),
    )


def file_name(voice: FormantVoice) -> str:
    """Return the library's name of a voice, in lower case, because espeak lowers all names."""
    return voice.name.lower()


def make_data_folder(source: Path, within: Path) -> Path:
    """Return a folder with English from espeak's own data folder `source`, and with our voices. It
    is made in the folder `within` if this version's is not whole there, which takes some
    milliseconds.

    ModelError when `source` lacks a file, or the disk refuses.
    """
    try:
        files = {name: (source / name).read_bytes() for name in _DATA_FILES}
        for voice in VOICES:
            language = (source / "lang" / "gmw" / voice.language).read_text(encoding="utf-8")
            files[f"voices/{file_name(voice)}"] = _definition(voice, language).encode()
        digest = hashlib.sha256(b"".join(files.values())).hexdigest()
        folder = within / f"{DATA_PREFIX}{digest[:16]}"
        if folder.is_dir() and not all((folder / name).is_file() for name in files):
            shutil.rmtree(folder)  # somebody deleted a part
        if not folder.is_dir():
            _make(folder, files)
    except OSError as error:
        raise ModelError(
            "The data of the formant voice could not be read: {error}.",
            hint="Make room or check the folder {folder}.",
            error=error,
            folder=within,
        ) from error
    return folder


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files under a temporary name, then rename the folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{DATA_PREFIX}") as temporary:
        (Path(temporary) / "data" / "voices").mkdir(parents=True)
        for name, content in files.items():
            replace_file(Path(temporary) / "data" / name, content)
        with suppress(OSError):  # another process was quicker
            (Path(temporary) / "data").rename(folder)


def _definition(voice: FormantVoice, language: str) -> str:
    """Return the text of an espeak voice file: the language's own lines, then ours."""
    lines = [line for line in language.splitlines() if not line.startswith("name")]
    ours = [f"pitch {voice.low_pitch} {voice.high_pitch}", "flutter 0", "roughness 0"]
    ours += [" ".join(map(str, ("formant", *formant))) for formant in voice.formants]
    return "\n".join([f"name {file_name(voice)}", *lines, *ours, ""])
