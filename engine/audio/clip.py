"""Audio files: read into mono samples, and judged as a recording that could define a voice.

Invariant: memory and time are bounded by the caller's `max_seconds`, whatever a file's header
claims; a file that cannot be used raises UnreadableClip with what to do, never a library's error.

soundfile reads WAV, FLAC, OGG, Opus, MP3 and more; what it does not know (M4A, MP4, WebM) goes to
PyAV with a list of allowed containers, because FFmpeg would otherwise follow play lists to other
files and addresses.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

from engine.audio.pcm import SILENCE_DB, Pcm, level_db
from engine.errors import UnreadableClip

_FORMATS_HINT = "Use a WAV, FLAC, OGG, Opus, MP3 or M4A file."
_CONTAINERS = "mov,mp4,m4a,matroska,webm,aac,ac3,amr,asf,caf,mp3,ogg,flac,wav,w64,aiff,avi,mpegts"
_LOWEST_RATE, _HIGHEST_RATE = 4_000, 384_000  # Hz; outside is a broken header
_MOST_CHANNELS = 32
_BLOCK_SAMPLES = 1 << 18

# Judging a prompt.
_LOOKED_AT_S = 60.0
_LONGEST_S = 600.0
_SHORTEST_S = 1.0
_ENOUGH_S = 3.0  # VoXtream2 was trained with prompts of 3 to 10 s
_SILENT_DB = -55.0
_CLIPPING = 0.999
_CLIPPED_SHARE = 0.001
_FRAME_S = 0.02
_NOISE_PERCENTILE = 10
_SPEECH_PERCENTILE = 90
POOR_SNR_DB = 20.0  # below that a voice made of the clip is noisy
_HOPELESS_SNR_DB = 6.0
_COARSE = ("PCM_U8", "PCM_S8")


@dataclass(frozen=True)
class Clip:
    """Samples of a file at its own rate (Hz). `cut_short`: the file goes on after what was read."""

    pcm: Pcm
    sample_rate: int
    cut_short: bool = False

    @property
    def seconds(self) -> float:
        return len(self.pcm) / self.sample_rate


@dataclass(frozen=True)
class ClipReport:
    """What a recording is like, from its first minute.

    `seconds` is the whole length where the file tells it. `level_db` is the root-mean-square
    level, `noise_db` the level of the quietest tenth of its 20 ms frames (in speech these are the
    pauses; music and steady noise have none, so they look noisy). `clipped` is the share of
    samples at full scale. `advice` is empty when there is nothing to improve.
    """

    seconds: float
    level_db: float
    noise_db: float
    clipped: float
    usable: bool
    advice: str


@dataclass(frozen=True)
class _Opened:
    """A file being decoded. `seconds` None: it does not say how long it is."""

    sample_rate: int
    seconds: float | None
    coarse: bool
    blocks: Iterator[npt.NDArray[np.float32]]  # [S, channels] each


def read_clip(path: Path, *, max_seconds: float) -> Clip:
    """The first `max_seconds` of a file, all channels mixed to one. UnreadableClip."""
    with _open(path) as opened:
        return _read(path, opened, max_seconds)


def inspect(path: Path) -> ClipReport:
    """Look at a recording as a prompt. UnreadableClip where there is nothing to look at."""
    with _open(path) as opened:
        clip = _read(path, opened, _LOOKED_AT_S)
        seconds = clip.seconds if opened.seconds is None else opened.seconds
        coarse = opened.coarse
    level, frames_db = level_db(clip.pcm), _frame_levels_db(clip)
    noise_db = float(np.percentile(frames_db, _NOISE_PERCENTILE))
    stands_out_db = snr_db(clip)
    clipped = float(np.mean(np.abs(clip.pcm) >= _CLIPPING))
    fault = _fault(seconds, level, stands_out_db, coarse=coarse)
    advice = fault or _advice(seconds, stands_out_db, clipped)
    return ClipReport(seconds, level, noise_db, clipped, usable=not fault, advice=advice)


def snr_db(clip: Clip) -> float:
    """How far speech stands above the pauses: the loudest tenth of 20 ms frames over the quietest,
    with steady noise 5 to 6 dB more than the mean of speech over noise (measured).
    """
    frames_db = _frame_levels_db(clip)
    quiet, loud = np.percentile(frames_db, (_NOISE_PERCENTILE, _SPEECH_PERCENTILE))
    return float(loud - quiet)


def _fault(seconds: float, level: float, snr_db: float, *, coarse: bool) -> str:
    """Why a recording cannot define a voice; empty when it can."""
    if seconds < _SHORTEST_S:
        return f"It is only {seconds:.1f} s long. Record at least {_ENOUGH_S:.0f} s of speech."
    if seconds > _LONGEST_S:
        return (
            f"It is {seconds / 60:.0f} minutes long. Cut out 3 to 30 s in which one person speaks."
        )
    if level < _SILENT_DB:
        return "It is silent. Check that the right microphone was recorded."
    if coarse:
        return "It has 8 bits per sample, too coarse for a voice. Save it with 16 bits or more."
    if snr_db < _HOPELESS_SNR_DB:
        return "No speech stands out from the noise or music. Record one person in a quiet room."
    return ""


def _advice(seconds: float, snr_db: float, clipped: float) -> str:
    """What would make a usable recording better; empty when nothing."""
    if clipped > _CLIPPED_SHARE:
        return "It is distorted: the recording level was too high. Record it again, quieter."
    if snr_db < POOR_SNR_DB:
        return "It is noisy, and the voice will be too. A quieter room gives a cleaner voice."
    if seconds < _ENOUGH_S:
        return f"It is short: {_ENOUGH_S:.0f} to 10 s give a better likeness."
    return ""


def _frame_levels_db(clip: Clip) -> npt.NDArray[np.float64]:
    frame = max(1, int(clip.sample_rate * _FRAME_S))
    whole = clip.pcm[: len(clip.pcm) // frame * frame] if len(clip.pcm) >= frame else clip.pcm
    frames = whole.reshape(-1, min(frame, len(whole))).astype(np.float64)  # [T, S]
    power = np.mean(np.square(frames), axis=1)
    levels: npt.NDArray[np.float64] = 10 * np.log10(np.maximum(power, 10 ** (SILENCE_DB / 10)))
    return levels


def _read(path: Path, opened: _Opened, max_seconds: float) -> Clip:
    wanted = max(1, int(max_seconds * opened.sample_rate))
    parts: list[Pcm] = []
    got, cut_short = 0, False
    for block in opened.blocks:
        mono = block.mean(axis=1, dtype=np.float32)
        if not np.isfinite(mono).all():
            raise UnreadableClip(
                f"The file '{path.name}' contains values that are not sound (NaN or infinity).",
                hint="Export it again from the program that made it.",
            )
        cut_short = got + len(mono) > wanted
        parts.append(mono[: wanted - got])
        got += len(parts[-1])
        if got >= wanted and cut_short:
            break
    if not got:
        raise UnreadableClip(f"The file '{path.name}' contains no sound.", hint=_FORMATS_HINT)
    pcm = np.clip(np.concatenate(parts), -1.0, 1.0)
    return Clip(pcm, opened.sample_rate, cut_short)


@contextmanager
def _open(path: Path) -> Iterator[_Opened]:
    _check_is_file(path)
    try:
        file = soundfile.SoundFile(path)
    except soundfile.LibsndfileError:
        with _open_with_av(path) as opened:
            yield opened
        return
    with file:
        _check_header(path, file.samplerate, file.channels)
        frames = max(1, _BLOCK_SAMPLES // file.channels)
        yield _Opened(
            file.samplerate,
            file.frames / file.samplerate,
            file.subtype in _COARSE,
            _soundfile_blocks(path, file, frames),
        )


def _soundfile_blocks(path: Path, file: Any, frames: int) -> Iterator[npt.NDArray[np.float32]]:
    while True:
        try:
            block = file.read(frames, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise _damaged(path) from error
        if not len(block):
            return
        yield block


@contextmanager
def _open_with_av(path: Path) -> Iterator[_Opened]:
    import av  # here: most files never need it

    try:
        container = av.open(
            str(path), options={"format_whitelist": _CONTAINERS, "protocol_whitelist": "file"}
        )
    except (av.FFmpegError, UnicodeError) as error:
        raise UnreadableClip(
            f"The file '{path.name}' is not sound that can be read.", hint=_FORMATS_HINT
        ) from error
    with container:
        if not container.streams.audio:
            raise UnreadableClip(f"The file '{path.name}' has no sound track.", hint=_FORMATS_HINT)
        stream = container.streams.audio[0]
        _check_header(path, stream.rate or 0, stream.channels)
        seconds = None
        if container.duration is not None:
            seconds = container.duration / av.time_base
        yield _Opened(stream.rate, seconds, coarse=False, blocks=_av_blocks(path, container))


def _av_blocks(path: Path, container: Any) -> Iterator[npt.NDArray[np.float32]]:
    import av  # as above

    resampler = av.AudioResampler(format="flt", layout="mono")
    try:
        for frame in container.decode(audio=0):
            for part in resampler.resample(frame):
                samples: npt.NDArray[Any] = part.to_ndarray()  # [1, S]
                yield samples.reshape(-1, 1).astype(np.float32, copy=False)
    except av.FFmpegError as error:
        raise _damaged(path) from error


def _check_is_file(path: Path) -> None:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise UnreadableClip(
            f"The file '{path.name}' cannot be opened ({error}).", hint="Choose another file."
        ) from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a file of samples"
        raise UnreadableClip(f"'{path.name}' is {kind}.", hint="Choose a single audio file.")
    if status.st_size == 0:
        raise UnreadableClip(f"The file '{path.name}' is empty.", hint="Record it again.")


def _check_header(path: Path, sample_rate: int, channels: int) -> None:
    if not (_LOWEST_RATE <= sample_rate <= _HIGHEST_RATE and 1 <= channels <= _MOST_CHANNELS):
        raise UnreadableClip(
            f"The file '{path.name}' claims {channels} channels at {sample_rate} Hz.",
            hint="It is probably damaged; export it again.",
        )


def _damaged(path: Path) -> UnreadableClip:
    return UnreadableClip(
        f"The file '{path.name}' is damaged.", hint="Export it again, or choose another file."
    )
