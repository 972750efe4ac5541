"""Join recorded parts to one sound file with chapter marks.

Invariant: the file is complete or missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import soundfile

from engine import export
from engine.atomic_write import replacement
from engine.audio.pcm import SYNTHETIC
from engine.errors import Cancelled
from engine.translatable import mark

_BLOCK: Final = 1 << 16  # samples

# FFmpeg's names by suffix: container, codec, bits a second (0 = lossless), options.
_FORMATS: Final[Mapping[str, tuple[str, str, int, dict[str, str]]]] = MappingProxyType(
    {
        ".m4b": ("ipod", "aac", 64_000, {}),
        ".wav": ("wav", "pcm_s16le", 0, {"rf64": "auto"}),  # rf64: beyond 4 GB
        ".flac": ("flac", "flac", 0, {}),
        ".opus": ("ogg", "libopus", 32_000, {}),
        ".mp3": ("mp3", "libmp3lame", 64_000, {}),
    }
)
SUFFIXES: Final = tuple(_FORMATS)


@dataclass(frozen=True)
class RecordedChapter:
    """A chapter and the sound files of its parts, in order; all have one sample rate."""

    title: str
    parts: tuple[Path, ...]


def check_suffix(path: Path) -> None:
    """Raise InvalidInput if no format has the suffix of `path`."""
    export.check_suffix(path, SUFFIXES, mark("A book cannot be saved as '{suffix}'."))


def write_book(
    path: Path,
    chapters: Sequence[RecordedChapter],
    metadata: Mapping[str, str],
    *,
    show: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Write the file in the form of its suffix; `show` gets the share. InvalidInput, Cancelled."""
    import av

    try:
        with replacement(path) as temporary:
            _encode(temporary, path.suffix.lower(), chapters, metadata, (show, cancelled))
    except (OSError, av.FFmpegError, soundfile.SoundFileError) as error:
        raise export.write_error(path, error) from error


def _encode(
    path: Path,
    suffix: str,
    chapters: Sequence[RecordedChapter],
    metadata: Mapping[str, str],
    watch: tuple[Callable[[float], None], Callable[[], bool]],
) -> None:
    import av

    show, cancelled = watch
    name, codec, bit_rate, options = _FORMATS[suffix]
    lengths = [sum(soundfile.info(part).frames for part in each.parts) for each in chapters]
    sample_rate = soundfile.info(chapters[0].parts[0]).samplerate
    total = max(1, sum(lengths))
    with av.open(str(path), "w", format=name, options=options) as container:
        container.metadata.update({**metadata, "comment": SYNTHETIC})
        # An encoder may have only some rates; its stream resamples frames of another one.
        rates = av.Codec(codec, "w").audio_rates or ()
        rate = min((rate for rate in rates if rate >= sample_rate), default=sample_rate)
        stream: Any = container.add_stream(codec, rate=rate, layout="mono")
        if bit_rate:
            stream.bit_rate = bit_rate
        container.set_chapters(_marks([each.title for each in chapters], lengths, sample_rate))
        done, time_base = 0, Fraction(1, sample_rate)
        for block in _blocks(chapters):
            if cancelled():
                raise Cancelled("The export was cancelled.")
            frame = av.AudioFrame.from_ndarray(block.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate, frame.time_base, frame.pts = sample_rate, time_base, done
            container.mux(stream.encode(frame))
            done += len(block)
            show(done / total)
        container.mux(stream.encode(None))


def _marks(titles: Sequence[str], lengths: Sequence[int], sample_rate: int) -> list[Any]:
    marks: list[Any] = []
    start = 0
    for title, length in zip(titles, lengths, strict=True):
        place = {"id": len(marks), "start": start, "end": start + length}
        time_base = Fraction(1, sample_rate)
        marks.append(place | {"time_base": time_base, "metadata": {"title": title}})
        start += length
    return marks


def _blocks(chapters: Sequence[RecordedChapter]) -> Iterator[Any]:
    for chapter in chapters:
        for part in chapter.parts:
            with soundfile.SoundFile(part) as file:
                yield from file.blocks(_BLOCK, dtype="int16")
