"""Read audio files as mono samples, and check whether they can define a voice.

Invariant: a file is decoded in a separate process (decode.py) with limits on input, memory and
time, so no file can cost more, and a crash of a decoder is an ordinary fault of the file. Windows
and macOS cannot limit a process's memory; there only the time is limited. An unusable file raises
UnreadableClip with a remedy, never a library's error.
"""

import hashlib
import json
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

import numpy as np
import numpy.typing as npt

from engine import sandbox
from engine.audio.clips import decode
from engine.audio.clips.decode import Fault
from engine.audio.pcm import SILENCE_DB, Pcm, level_db
from engine.errors import UnreadableClip
from engine.translatable import Translatable, mark

_FORMATS_HINT = Translatable("Use a WAV, FLAC, OGG, Opus, MP3 or M4A file.")
LONGEST_S = 30.0  # time limit for decoding; ten minutes of MP3 take 2 s of a slow core

# Limits for checking a prompt.
_LOOKED_AT_S = 60.0
_LONGEST_S = 600.0
_SHORTEST_S = 1.0
_ENOUGH_S = 3.0  # VoXtream2 was trained with prompts of 3 to 10 s
_SILENT_DB = -55.0
_CLIPPING = 0.999
_OFFSET = 0.001  # of full scale: a smaller offset can be neither heard nor measured
_CLIPPED_SHARE = 0.001
_BEST_S = 8.0  # length of a part that is suggested instead of the complete recording
_HOP_S = 0.5
_FRAME_S = 0.02
_NOISE_PERCENTILE = 10
_SPEECH_PERCENTILE = 90
POOR_SNR_DB = 20.0  # below that, a voice made from the clip is noisy
_HOPELESS_SNR_DB = 6.0
# Messages and hints for the exit status of the decoder.
_UNREADABLE: Final[dict[int, str]] = {
    Fault.NOT_SOUND: mark("The file '{name}' is not sound that can be read."),
    Fault.NO_TRACK: mark("The file '{name}' has no sound track."),
    Fault.HEADER: mark("The file '{name}' claims {channels} channels at {rate} Hz."),
    Fault.NOT_NUMBERS: mark(
        "The file '{name}' contains values that are not sound (NaN or infinity)."
    ),
    Fault.DAMAGED: mark("The file '{name}' is damaged."),
}
_REMEDIES: Final[dict[int, str]] = {
    Fault.NOT_SOUND: _FORMATS_HINT,
    Fault.NO_TRACK: _FORMATS_HINT,
    Fault.HEADER: mark("It is probably damaged; export it again."),
    Fault.NOT_NUMBERS: mark("Export it again from the program that made it."),
    Fault.DAMAGED: mark("Export it again, or choose another file."),
}


@dataclass(frozen=True)
class Clip:
    """Samples of a file at its own rate (Hz). `file_s` is the length in the file's header, in
    seconds; None if the header has none. `coarse`: the file has few bits per sample.
    """

    pcm: Pcm
    sample_rate: int
    file_s: float | None = None
    coarse: bool = False

    @property
    def seconds(self) -> float:
        return len(self.pcm) / self.sample_rate

    @property
    def digest(self) -> str:
        """SHA-256 of the samples."""
        samples = np.ascontiguousarray(self.pcm, dtype=np.float32)
        return hashlib.sha256(samples.tobytes()).hexdigest()


@dataclass(frozen=True)
class ClipReport:
    """Properties of a recording, measured in its first minute.

    `seconds` is the complete length if the file states it. `level_db` is the root-mean-square
    level, `noise_db` the level of the quietest tenth of its 20 ms frames (in speech these are the
    pauses; music and steady noise have none, so they look noisy). `clipped` is the share of samples
    at full scale. `advice` is empty if nothing needs improvement. `better` is start and length (s)
    of a better part, None = there is none.
    """

    seconds: float
    level_db: float
    noise_db: float
    clipped: float
    usable: bool
    advice: str
    better: tuple[float, float] | None = None


def read_clip(
    path: Path,
    *,
    max_seconds: float,
    start_s: float = 0.0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Clip:
    """Read `max_seconds` of a file at most from `start_s` on, all channels mixed. UnreadableClip,
    Cancelled.
    """
    check_is_file(path)
    arguments = (str(max_seconds), str(start_s))
    try:
        with path.open("rb") as file, tempfile.TemporaryFile() as samples:
            streams = (file, samples)
            status = sandbox.run(
                decode.__file__, arguments, streams, seconds=LONGEST_S, cancelled=cancelled
            )
            samples.seek(0)
            return _read(path, samples, max_seconds, status)
    except OSError as error:  # no permission to read it, no space for the samples
        raise _open_error(path, error) from error
    except sandbox.TookTooLong as error:
        raise UnreadableClip(
            "The file '{name}' takes too long to read.",
            hint="Cut out 3 to 30 s in which one person speaks.",
            name=path.name,
        ) from error


def inspect(
    path: Path,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    start_s: float = 0.0,
    seconds: float | None = None,
) -> ClipReport:
    """Check a recording, or `seconds` of it from `start_s`, as a prompt. UnreadableClip if it has
    no samples; Cancelled soon after `cancelled` returns True.
    """
    most = min(seconds or _LOOKED_AT_S, _LOOKED_AT_S)
    clip = read_clip(path, max_seconds=most, start_s=start_s, cancelled=cancelled)
    length_s = None if seconds is not None or clip.file_s is None else clip.file_s - start_s
    seconds = clip.seconds if length_s is None else max(length_s, clip.seconds)
    report = judge(clip, seconds)
    if clip.coarse or not report.advice:
        return report
    return replace(report, better=better_part(clip, start_s, fault=not report.usable))


def judge(clip: Clip, seconds: float | None = None) -> ClipReport:
    """Check samples as a prompt. `seconds`: length of the complete recording."""
    seconds = clip.seconds if seconds is None else seconds
    level, stands_out_db = level_db(clip.pcm), snr_db(clip)
    noise_db = float(np.percentile(_frame_levels_db(clip), _NOISE_PERCENTILE))
    clipped = float(np.mean(np.abs(clip.pcm) >= _CLIPPING))
    fault = _fault(seconds, level, stands_out_db, coarse=clip.coarse)
    advice = fault or _advice(seconds, stands_out_db, clipped)
    return ClipReport(seconds, level, noise_db, clipped, usable=not fault, advice=advice)


def better_part(clip: Clip, start_s: float, *, fault: bool) -> tuple[float, float] | None:
    """Return start and length (s) of the best part of a recording, if a part is better than all of
    it: nothing to improve or, if `fault`, at least no fault. None if no part is better.
    """
    window = int(_BEST_S * clip.sample_rate)
    hop = int(_HOP_S * clip.sample_rate)
    good = {}
    for start in range(0, max(0, len(clip.pcm) - window) + 1, hop):
        part = Clip(clip.pcm[start : start + window], clip.sample_rate)
        report = judge(part)
        if part.seconds >= _BEST_S and report.usable and (fault or not report.advice):
            good[start] = snr_db(part)
    if not good:
        return None
    return round(start_s + max(good, key=good.__getitem__) / clip.sample_rate, 1), _BEST_S


def printable(name: str) -> str:
    """Return a file's name as text that can be shown and saved, whatever its bytes."""
    return name.encode("utf-8", "replace").decode("utf-8")


def snr_db(clip: Clip) -> float:
    """Return how far speech stands above pauses: the loudest tenth of 20 ms frames over the
    quietest. With steady noise that is 5 to 6 dB more than speech over noise (measured).
    """
    ends = (_NOISE_PERCENTILE, _SPEECH_PERCENTILE)
    quiet, loud = np.percentile(_frame_levels_db(clip), ends)
    return float(loud - quiet)


def _fault(seconds: float, level: float, snr_db: float, *, coarse: bool) -> str:
    """Return why a recording cannot define a voice; empty if it can."""
    if seconds < _SHORTEST_S:
        return Translatable(
            "It is only {seconds} s long. Record at least {enough} s of speech.",
            seconds=f"{seconds:.1f}",
            enough=f"{_ENOUGH_S:.0f}",
        )
    if seconds > _LONGEST_S:
        return Translatable(
            "It is {minutes} minutes long. Cut out 3 to 30 s in which one person speaks.",
            minutes=f"{seconds / 60:.0f}",
        )
    if level < _SILENT_DB:
        return Translatable("It is silent. Check that the right microphone was recorded.")
    if coarse:
        return Translatable(
            "It has 8 bits per sample, too coarse for a voice. Save it with 16 bits or more."
        )
    if snr_db < _HOPELESS_SNR_DB:
        return Translatable(
            "No speech stands out from the noise or music. Record one person in a quiet room."
        )
    return ""


def _advice(seconds: float, snr_db: float, clipped: float) -> str:
    """Return how a usable recording could be improved; empty if it needs no improvement."""
    if clipped > _CLIPPED_SHARE:
        return Translatable(
            "It is distorted: the recording level was too high. Record it again, quieter."
        )
    if snr_db < POOR_SNR_DB:
        return Translatable(
            "It is noisy, and the voice will be too. A quieter room gives a cleaner voice."
        )
    if seconds < _ENOUGH_S:
        return Translatable(
            "It is short: {enough} to 10 s give a better likeness.", enough=f"{_ENOUGH_S:.0f}"
        )
    return ""


def _frame_levels_db(clip: Clip) -> npt.NDArray[np.float64]:
    frame = max(1, int(clip.sample_rate * _FRAME_S))
    whole = clip.pcm[: len(clip.pcm) // frame * frame] if len(clip.pcm) >= frame else clip.pcm
    frames = whole.reshape(-1, min(frame, len(whole))).astype(np.float64)  # [T, S]
    power = np.mean(np.square(frames), axis=1)
    levels: npt.NDArray[np.float64] = 10 * np.log10(np.maximum(power, 10 ** (SILENCE_DB / 10)))
    return levels


def _read(path: Path, samples: IO[bytes], max_seconds: float, status: int) -> Clip:
    """Return the child's samples, or raise the fault of its exit status."""
    line = samples.readline(1_000)
    header = json.loads(line) if line.endswith(b"\n") else {}
    if status:
        fault = status if status in _UNREADABLE else Fault.DAMAGED  # or it crashed the child
        raise UnreadableClip(
            _UNREADABLE[fault],
            hint=_REMEDIES[fault],
            name=path.name,
            channels=header.get("channels"),
            rate=header.get("sample_rate"),
        )
    sample_rate = int(header["sample_rate"])
    most = max(1, int(max_seconds * sample_rate))
    pcm: Pcm = np.frombuffer(samples.read((most + 1) * 4), dtype=np.float32)
    if not len(pcm):
        raise UnreadableClip(
            "The file '{name}' contains no sound.", hint=_FORMATS_HINT, name=path.name
        )
    return Clip(_normalise(pcm[:most]), sample_rate, header["seconds"], header["coarse"])


def _normalise(pcm: Pcm) -> Pcm:
    """Remove a constant offset, which hides speech, and scale to full scale, which float samples
    may exceed. Samples that reached full scale still do, so a distorted recording is recognised.
    """
    offset = pcm.mean(dtype=np.float64)
    centred: Pcm = (pcm - offset).astype(np.float32) if abs(offset) > _OFFSET else pcm.copy()
    peak = float(np.abs(centred).max())
    if float(np.abs(pcm).max()) >= _CLIPPING and peak > 0:
        centred /= peak
    return centred


def check_is_file(path: Path) -> None:
    """Raise UnreadableClip unless the path is a regular file with content."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise _open_error(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableClip(
            "'{name}' is a folder."
            if stat.S_ISDIR(status.st_mode)
            else "'{name}' is not a regular file.",
            hint="Choose another file.",
            name=path.name,
        )
    if status.st_size == 0:
        raise UnreadableClip("The file '{name}' is empty.", hint="Record it again.", name=path.name)


def _open_error(path: Path, error: Exception) -> UnreadableClip:
    return UnreadableClip(
        "The file '{name}' cannot be opened ({error}).",
        hint="Choose another file.",
        name=path.name,
        error=error,
    )
