"""Kokoro's voices: files, names, languages, descriptions, styles, and a person's delivery.

A style is a vector of 256 numbers: 128 of timbre, then 128 of prosody. The published files have a
row for each number of symbols in a text. In English the choice of the row made no difference (rows
30, 60 or by length), so a voice here always uses row _ROW. In Italian the ends of sentences are
lost with it: Chiara had 23 of 99 words wrong (Whisper base), with the row of long sentences 14. A
mixture of voices is the mean of their vectors.

A delivery is what a style does not contain: median and spread of the pitch, pace, and colour
(spectral envelope). Invariants: the numbers of a voice are within bounds at which Kokoro speaks, or
the voice is refused, so a file from elsewhere cannot make noise at full scale; this module imports
no ONNX Runtime, so that listing voices stays quick.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from engine.errors import InvalidInput, ModelError
from engine.settings.systems import KOKORO
from engine.settings_file import data_folder
from engine.translatable import Translatable, joined, mark
from engine.tts.base import LANGUAGE, Voice
from engine.tts.kokoro.parts import REFETCH, SHA256, Floats
from engine.tts.voices import NEAREST

VOICED_HZ: Final = 50.0  # a lower value marks an unvoiced step
TAPS: Final = 320  # of the equaliser: 128 lose a fifth of its gain in likeness, 32 nearly all
SPREADS: Final = (0.7, 1.3)
SLOWNESS: Final = (0.85, 1.2)
_HIGHEST_HZ: Final = 600.0
# Attribute of Delivery, shape, minimum and maximum of a voice's tensors, by name.
_BOUNDS: Final = {
    "pitch offset": ("offset", (1,), -4.0, 4.0),
    "pitch spread": ("spread", (1,), *SPREADS),
    "slowness": ("slowness", (1,), *SLOWNESS),
    "equaliser": ("taps", (TAPS,), -4.0, 4.0),
}

NAME: Final = KOKORO
MAKING: Final = "resembling 2"  # raise when resemblance.py or the cutting of recordings changes
# Recipe of voices that learnt (fit/), which depends on the model; raise the number when the fit
# changes.
LEARNT: Final = f"learnt 2 {SHA256[:8]}"
STYLE, SHIFT = "style", "shift"  # of a voice's tensors
TIMBRE: Final = 128  # numbers of a style; the rest are prosody
NORMS: Final = 58  # of the decoder; each can have a shift of the timbre
LONGEST_SHIFT: Final = 2.0  # of a norm's shift: fits come to 1.1
AMERICAN, BRITISH = "en-us", "en-gb"  # as espeak-ng calls them
_ROWS, _WIDTH, _ROW = 510, 256, 60
_ITALIAN_ROW: Final = 250
_WIDEST: Final = 10.0  # no number of a style is near it
# Lengths of either half of a style: 1.6 to 2.6 in the published ones, 1.3 and more in mixtures.
# From zeros, or numbers ten times as large, Kokoro makes noise at full scale.
_LENGTHS: Final = (1.0, 4.0)
# The publisher's files, in the order of the list, with the publisher's grades (A to F), which
# mostly follow the amount of speech that a voice was trained on.
_FILES: Final = {
    "af_heart": ("A", mark("warm")), "am_michael": ("C+", mark("even")),
    "bf_emma": ("B-", mark("clear")), "bm_george": ("C", mark("deep")),
    "af_bella": ("A-", mark("lively")), "am_fenrir": ("C+", mark("firm")),
    "af_alloy": ("C", mark("sober")), "af_aoede": ("C+", mark("bright")),
    "af_jessica": ("D", mark("young")), "af_kore": ("C+", mark("calm")),
    "af_nicole": ("B-", mark("whispering")), "af_nova": ("C", mark("plain")),
    "af_river": ("D", mark("soft")), "af_sarah": ("C+", mark("friendly")),
    "af_sky": ("C-", mark("airy")), "am_adam": ("F+", mark("low")), "am_echo": ("D", "plain"),
    "am_eric": ("D", mark("brisk")), "am_liam": ("D", "young"), "am_onyx": ("D", "deep"),
    "am_puck": ("C+", mark("cheerful")), "am_santa": ("D-", mark("old")),
    "bf_alice": ("D", mark("formal")), "bf_isabella": ("C", mark("gentle")),
    "bf_lily": ("D", "airy"), "bm_daniel": ("D", "formal"),
    "bm_fable": ("C", mark("storytelling")), "bm_lewis": ("D+", "low"),
    "ef_dora": ("", ""), "em_alex": ("", ""), "em_santa": ("", "old"),
    "if_sara": ("C", ""), "im_nicola": ("C", ""),
    "pf_dora": ("", ""), "pm_alex": ("", ""), "pm_santa": ("", "old"),
    "ff_siwis": ("B-", ""),
}  # fmt: skip
# Names of files that are called like others, or sound like them, or are hard to say.
_RENAMED: Final = {
    "em_alex": "Alejandro", "em_santa": "Noel", "if_sara": "Chiara", "pf_dora": "Dorinha",
    "pm_alex": "Alexandre", "pm_santa": "Natalino", "ff_siwis": "Sylvie",
}  # fmt: skip
_PEOPLE: Final = {
    "af": mark("American woman"), "am": mark("American man"),
    "bf": mark("British woman"), "bm": mark("British man"),
    "ef": mark("Spanish woman"), "em": mark("Spanish man"),
    "if": mark("Italian woman"), "im": mark("Italian man"),
    "pf": mark("Brazilian woman"), "pm": mark("Brazilian man"), "ff": mark("French woman"),
}  # fmt: skip
_QUALITIES: Final = {
    "A": mark("the most natural"), "B": mark("very natural"), "C": mark("natural"),
    "D": mark("less natural"), "F": "less natural",
}  # fmt: skip
_ACCENTS: Final = {
    "a": AMERICAN, "b": BRITISH, "e": "es", "i": "it", "p": "pt-br", "f": "fr-fr",
}  # fmt: skip
_ENGLISH: Final = "ab"


def model_file() -> Path:
    """Return the file of the published model, which need not exist."""
    return data_folder() / "models" / "kokoro" / "kokoro-v1.0.int8.onnx"


def voices_folder() -> Path:
    """Return the folder of the voices, one .bin each. It may be missing."""
    return data_folder() / "models" / "kokoro-voices" / "voices"


def is_fetched() -> bool:
    """Return True if the model and its first voice exist; loading checks them fully."""
    return model_file().is_file() and (voices_folder() / "af_heart.bin").is_file()


@dataclass(frozen=True)
class Delivery:
    """Changes to Kokoro's speech. The natural logarithm p of the pitch in Hz becomes `offset` +
    `spread` * p; `slowness` is a factor on durations without a requested rate; `taps`: of a filter.
    """

    offset: float = 0.0
    spread: float = 1.0
    slowness: float = 1.0
    taps: Floats | None = None

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, npt.NDArray[np.generic]]) -> Self:
        """Read the delivery from a voice's tensors. ValueError for a value out of bounds."""
        found: dict[str, Any] = {}
        for name, (field, shape, least, most) in _BOUNDS.items():
            if name not in tensors:
                continue
            numbers = np.asarray(tensors[name], np.float32)  # as the bounds are compared
            is_right = numbers.shape == shape and np.issubdtype(tensors[name].dtype, np.floating)
            if not is_right or not np.all((numbers >= least) & (numbers <= most)):
                raise ValueError(f"the {name} is out of bounds")
            found[field] = numbers if field == "taps" else float(numbers[0])
        return cls(**found)

    def tensors(self) -> dict[str, Floats]:
        """Return the tensors that of_tensors() reads."""
        values = {name: getattr(self, field) for name, (field, *_) in _BOUNDS.items()}
        return {
            name: np.atleast_1d(np.asarray(each, np.float32))
            for name, each in values.items()
            if each is not None
        }

    @classmethod
    def between(cls, parts: Sequence[tuple[Self, float]]) -> Self:
        """Mix several deliveries, whose shares add up to 1."""

        def mean(of: Callable[[Self], Any]) -> Any:
            return sum(share * of(each) for each, share in parts)

        flat = np.eye(1, TAPS, dtype=np.float32)[0]
        taps = mean(lambda each: flat if each.taps is None else each.taps)
        return cls(
            float(mean(lambda each: each.offset)),
            float(mean(lambda each: each.spread)),
            float(mean(lambda each: each.slowness)),
            None if all(each.taps is None for each, _ in parts) else np.asarray(taps, np.float32),
        )

    def pitched(self, pitch: Floats) -> Floats:
        """Return a pitch track moved to this person's pitch; unvoiced values do not change."""
        if (self.offset, self.spread) == (0.0, 1.0):
            return pitch
        moved = np.exp(self.offset + self.spread * np.log(np.maximum(pitch, 1.0)))
        moved = np.clip(moved, VOICED_HZ + 1, _HIGHEST_HZ)
        return np.where(pitch > VOICED_HZ, moved, pitch).astype(np.float32)

    def coloured(self, pcm: Floats, before: Floats) -> Floats:
        """Filter samples [S]; `before`: the available unfiltered samples before them. Each result
        depends only on the last TAPS samples, so pieces join.
        """
        if self.taps is None:
            return pcm
        before = before[-TAPS + 1 :]
        padded = np.pad(np.concatenate([before, pcm]), (TAPS - 1 - len(before), 0))
        return np.convolve(padded, self.taps, "valid").astype(np.float32, copy=False)


AS_IT_IS: Final = Delivery()


def _about(file: str) -> Translatable:
    grade, how = _FILES[file]
    said = (_PEOPLE[file[:2]], how, _QUALITIES.get(grade[:1], ""))
    return joined((Translatable(each) for each in said if each), ", ")


FILES: Final = {_RENAMED.get(each, each[3:].capitalize()): each for each in _FILES}
NAMES: Final = tuple(FILES)
ABOUT: Final = {name: _about(file) for name, file in FILES.items()}
LANGUAGES: Final = {  # of those that do not speak English
    name: _ACCENTS[file[0]].split("-")[0] for name, file in FILES.items() if file[0] not in _ENGLISH
}
ENGLISH_NAMES: Final = tuple(name for name in NAMES if name not in LANGUAGES)


def fetched(folder: Path) -> tuple[str, ...]:
    """Return the names of the voices in the folder. Older versions did not fetch those of other
    languages than English.
    """
    return tuple(
        name for name in NAMES if name not in LANGUAGES or (folder / f"{FILES[name]}.bin").is_file()
    )


def read_voices(folder: Path) -> tuple[Voice, ...]:
    """Read the published voices. ModelError names a file that is missing or damaged."""
    return tuple(_read(folder, name) for name in fetched(folder))


def style_of(voice: Voice) -> Floats:
    """Return the style [1, 256] of a voice. InvalidInput if it is like no speaker's."""
    style = np.asarray(voice.tensors.get(STYLE, np.zeros(0)), np.float32).reshape(1, -1)
    halves = style.reshape(-1, _WIDTH // 2) if style.shape[1] == _WIDTH else np.zeros((1, 1))
    lengths = np.linalg.norm(halves, axis=1)
    if not np.all((lengths >= _LENGTHS[0]) & (lengths <= _LENGTHS[1])):
        raise _refused(voice)
    return style


def shift_of(voice: Voice) -> Floats | None:
    """Return how far each norm's timbre is from the style's, [58, 128]; None = not at all.
    InvalidInput for a shift larger than any fit makes.
    """
    if SHIFT not in voice.tensors:
        return None
    values = voice.tensors[SHIFT]
    if values.shape != (NORMS, TIMBRE) or not np.issubdtype(values.dtype, np.floating):
        raise _refused(voice)
    shift = np.ascontiguousarray(values, np.float32)
    if not np.all(np.linalg.norm(shift, axis=1) <= LONGEST_SHIFT):  # NaN is not, either
        raise _refused(voice)
    return shift


def delivery_of(voice: Voice) -> Delivery:
    """Return the delivery of a voice. InvalidInput if it is out of bounds."""
    try:
        return Delivery.of_tensors(voice.tensors)
    except ValueError as error:
        raise _refused(voice) from error


def _refused(voice: Voice) -> InvalidInput:
    return InvalidInput(
        "The voice '{name}' holds no style of Kokoro's.", hint="Make it again.", name=voice.name
    )


def accent_of(voice: Voice) -> str:
    """Return the language and accent of the voice's phones, as espeak-ng calls them."""
    accent = voice.metadata.get(LANGUAGE, AMERICAN)
    return accent if accent in _ACCENTS.values() else AMERICAN


def blend(name: str, parts: tuple[tuple[Voice, float], ...], **metadata: str) -> Voice:
    """Mix voices, each with its share (0 or more, not all 0). The mixture has the
    language and the accent of the voice with the largest share.
    """
    shares = np.array([share for _, share in parts])
    styles = np.concatenate([style_of(voice) for voice, _ in parts])
    shares = shares / shares.sum()
    style = shares @ styles
    tensors = {STYLE: style.astype(np.float32)}
    shifts = [shift_of(voice) for voice, _ in parts]
    if any(shift is not None for shift in shifts):
        moved = [np.zeros((NORMS, TIMBRE)) if shift is None else shift for shift in shifts]
        tensors[SHIFT] = np.tensordot(shares, moved, 1).astype(np.float32)
    deliveries = zip((delivery_of(voice) for voice, _ in parts), shares, strict=True)
    if any(voice.tensors.keys() - {STYLE, SHIFT} for voice, _ in parts):
        tensors |= Delivery.between(tuple(deliveries)).tensors()
    largest = parts[int(shares.argmax())][0]
    about = {LANGUAGE: accent_of(largest), NEAREST: largest.name}
    return Voice(name, NAME, tensors, {**about, **metadata})


def _read(folder: Path, name: str) -> Voice:
    file = folder / f"{FILES[name]}.bin"
    try:
        styles = np.fromfile(file, dtype="<f4")
    except OSError as error:
        raise ModelError(
            "{file} cannot be read: {error}.", hint=REFETCH, file=file, error=error.strerror
        ) from error
    if styles.size != _ROWS * _WIDTH or not np.abs(styles).max() < _WIDEST:
        raise ModelError(
            "{file} is not a voice of Kokoro's, or it is damaged.", hint=REFETCH, file=file
        )
    accent = _ACCENTS[FILES[name][0]]
    style = styles.reshape(_ROWS, _WIDTH)[_ITALIAN_ROW if accent == "it" else _ROW]
    about = {"description": ABOUT[name], LANGUAGE: accent}
    return Voice(name, NAME, {STYLE: style}, about)
