"""Fit of a voice to a recording with its transcript, in minutes: gradient descent on the timbre,
until the decoder reproduces the clip.

One timbre and a shift of it for each norm are trainable. So gain and bias of a layer move together,
as they do between real voices; free gains and biases had a lower loss and sounded worse (P.808 2.95
instead of 4.08). Invariant: it uses one thread, no clock and no random state; the same material
gives the same numbers, also after a checkpoint, because each step draws its stretch of the clip
from its own number.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from safetensors.torch import save as pack
from torch import Tensor

from engine.atomic_write import replace_file
from engine.audio.clips.denoise import denoised
from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.machine import return_freed_memory
from engine.tts.base import Pcm, Voice
from engine.tts.kokoro.fit.checks import check_alignment
from engine.tts.kokoro.fit.decoder import TorchDecoder, inputs_of, load_decoder, timbre_of
from engine.tts.kokoro.fit.measuring import (
    align,
    bandwidth,
    energy_of,
    mel_filters,
    pitch_of,
    sounding,
)
from engine.tts.kokoro.parts import FINE_ROWS, FRAME, SAMPLE_RATE, Floats, Source
from engine.tts.kokoro.plan import NaturalSpeech
from engine.tts.kokoro.resemblance import own_pitch
from engine.tts.kokoro.session import VoiceParts
from engine.tts.kokoro.statistics import sentences_in
from engine.tts.kokoro.symbols import MOST, length
from engine.tts.kokoro.voices import LEARNT, SHIFT, SLOWNESS, STYLE, TIMBRE, Delivery, style_of
from engine.tts.kokoro.windows import phoned, render
from engine.tts.speaker.recording import resampled

STEPS: Final = 60
KEEP_EVERY: Final = 10  # steps
_SIZE, _MARGIN = 32, 4  # frames of a stretch, and those at each side that are not judged
_RATE: Final = 0.01
_TIMBRE_STRIDE: Final = 2.0  # of the timbre, against 1 of a shift
_BETAS: Final = (0.9, 0.95)
_WARMING: Final = 5  # steps
_LAST: Final = 0.1  # of the rate
_RESOLUTIONS: Final = ((2048, 300, 80), (1024, 240, 80), (512, 120, 40))  # size, hop, mel bands
_LOWEST_HZ: Final = 50.0
_HIGH_BANDS: Final = 8
_HIGH_WEIGHT: Final = 0.3
_TOP_HZ: Final = 11_000.0  # a clip with sound up to here says enough of the octave above
_FLOOR: Final = 1e-3  # of the loud frames' level in a band

_AIR: Final = 6 * FRAME  # silent samples before and behind the clip
_KEPT_AROUND: Final = (2400, 4800)  # samples of the clip before and behind its speech
_LONGEST_S: Final = 20
_PIECE: Final = 24  # frames
_QUIET: Final = 30  # percentile of the energy


@dataclass(frozen=True)
class Material:
    """The target of a fit. `clip`: the recording at 24 kHz; `speech`: its sounds, pitch and energy.
    `before`: the same speech by the blend, which is the target above the clip's `highest_hz`.
    """

    clip: Pcm
    before: Pcm
    speech: NaturalSpeech
    highest_hz: float


class FitState:
    """State of a fit: the moves [1 + N, 128] of the timbre and of the N norms' shifts, and what the
    optimiser knows of them.
    """

    def __init__(self, style: Floats, norms: int) -> None:
        """Start at the timbre of a style [1, 256]."""
        self._start = timbre_of(style)
        self.moves = torch.zeros(1 + norms, len(self._start), requires_grad=True)
        self.optimiser = torch.optim.Adam([self.moves], betas=_BETAS)

    @property
    def step(self) -> int:
        """Number of the steps taken."""
        return int(self.optimiser.state[self.moves].get("step", 0))

    def tensors(self) -> tuple[Tensor, Tensor]:
        """Return the timbre [128] and the shifts [N, 128]."""
        return self._start + _TIMBRE_STRIDE * self.moves[0], self.moves[1:]

    def packed(self) -> bytes:
        """Return a checkpoint."""
        return pack({"moves": self.moves.detach(), **self.optimiser.state[self.moves]})

    def restore(self, checkpoint: bytes) -> bool:
        """Load a checkpoint. Returns False, without a change, if it is damaged."""
        try:
            tensors = read_tensors(checkpoint)
        except SafetensorError:
            return False
        shapes = dict.fromkeys(("moves", "exp_avg", "exp_avg_sq"), self.moves.shape)
        fits = {name: each.shape for name, each in tensors.items()} == {**shapes, "step": ()}
        if not fits or not all(bool(each.isfinite().all()) for each in tensors.values()):
            return False
        self.moves.data.copy_(tensors.pop("moves"))
        self.optimiser.state[self.moves] = tensors
        return True


def run(
    decoder: TorchDecoder, source: Source, material: Material, progress: FitState
) -> Iterator[float]:
    """Do the remaining steps; yield the loss of each."""
    speech = material.speech
    inputs = inputs_of(source, speech)
    loss_of = _Loss(material)
    sounding = (speech.energy > 0).reshape(-1, 2).any(1)
    places = np.flatnonzero(np.convolve(sounding, np.ones(9), "same"))
    last = max(0, len(speech.features) - _SIZE - 2 * _MARGIN)
    for step in range(progress.step, STEPS):
        turned = (1 + np.cos(np.pi * step / STEPS)) / 2
        rate = _RATE * min(1, (step + 1) / _WARMING) * (_LAST + (1 - _LAST) * turned)
        progress.optimiser.param_groups[0]["lr"] = rate
        middle = int(np.random.default_rng(step).choice(places))
        first = int(np.clip(middle - _SIZE // 2 - _MARGIN, 0, last))
        timbre, shift = progress.tensors()
        decoder.set_shift(shift)
        loss = loss_of(decoder(*_cut(inputs, first), timbre), first)
        progress.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        progress.optimiser.step()
        yield float(loss.detach())


def _cut(inputs: list[Tensor], first: int) -> list[Tensor]:
    """Cut out a stretch and its margins; the spectrum has one row more."""
    last, rows = first + _SIZE + 2 * _MARGIN, (1, 1, FINE_ROWS)
    cuts = (slice(n * first, n * last + (n == FINE_ROWS)) for n in rows)
    return [each[..., cut] for each, cut in zip(inputs, cuts, strict=True)]


class _Loss:
    """Distance of log mel levels from the clip, and above its bandwidth from the blend."""

    def __init__(self, material: Material) -> None:
        self._clip, self._before = (torch.tensor(x) for x in (material.clip, material.before))
        self._top = min(material.highest_hz, _TOP_HZ + 900)
        self._floors = [
            _FLOOR * torch.quantile(low, 0.95, dim=0) + 1e-9 for low, _ in self._levels(self._clip)
        ]

    def __call__(self, said: Tensor, first: int) -> Tensor:
        """Return the loss of the samples of a stretch with its margins, from frame `first` on."""
        inner = slice((first + _MARGIN) * FRAME, (first + _MARGIN + _SIZE) * FRAME)
        said = said[_MARGIN * FRAME : -_MARGIN * FRAME]
        all_levels = (self._levels(x) for x in (said, self._clip[inner], self._before[inner]))
        total = torch.zeros(())
        for ours, theirs, before, floor in zip(*all_levels, self._floors, strict=True):
            total = total + _distance(ours[0] + floor, theirs[0] + floor) / 3
            if self._top < _TOP_HZ:
                total = total + _HIGH_WEIGHT * _distance(ours[1] + 1e-6, before[1] + 1e-6) / 3
        return total

    def _levels(self, pcm: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the levels below the clip's bandwidth and above it, at each resolution."""
        for size, hop, bands in _RESOLUTIONS:
            window = torch.hann_window(size)
            spectra = torch.stft(
                pcm, size, hop, window=window, return_complex=True, pad_mode="constant"
            )
            power = (spectra.real.square() + spectra.imag.square()).T / window.square().sum()
            ends = ((bands, _LOWEST_HZ, self._top), (_HIGH_BANDS, self._top, SAMPLE_RATE / 2))
            low, high = (torch.tensor(mel_filters(n, size, SAMPLE_RATE, *hz)) for n, *hz in ends)
            yield power @ low, power @ high


def _distance(one: Tensor, other: Tensor) -> Tensor:
    """Return the distance of levels [T, bands] and of their means over time, which do not depend on
    the exact alignment.
    """
    apart = one.log() - other.log()
    return apart.abs().mean() + apart.mean(0).abs().mean()


@dataclass(frozen=True)
class Lesson:
    """Input of a fit: the blend, the clip (mono), its transcript with figures as words."""

    blend: Voice
    clip: Pcm
    sample_rate: int
    text: str

    @property
    def digest(self) -> str:
        """Hash of all inputs of the result."""
        parts = (LEARNT, self.text, self.sample_rate, self.clip.tobytes())
        style = style_of(self.blend).tobytes()
        return hashlib.sha256(repr(parts).encode() + style).hexdigest()[:16]


def learn(
    machine: VoiceParts, lesson: Lesson, checkpoint: Path, show: Callable[[float], None]
) -> Voice:
    """Fit a voice to a lesson; the machine speaks with the lesson's blend. The fit writes
    `checkpoint` every few steps if possible, and resumes from it. `show` gets the finished share.
    InvalidInput if the text does not fit the clip.
    """
    parts, style = machine.parts, machine.speaker.style
    material, delivery = prepare(machine, lesson)
    return_freed_memory()
    decoder = load_decoder(parts.published)
    return_freed_memory()
    progress = FitState(style, len(decoder.norms))
    if checkpoint.is_file():
        progress.restore(checkpoint.read_bytes())
    for _ in run(decoder, parts.source, material, progress):
        show(progress.step / STEPS)
        if progress.step % KEEP_EVERY == 0:
            with suppress(OSError):
                replace_file(checkpoint, progress.packed())
    timbre, shift = (each.detach().numpy() for each in progress.tensors())
    about = {**lesson.blend.metadata, "making": LEARNT}
    style = np.concatenate([timbre, style[0, TIMBRE:]])
    tensors = {STYLE: style, SHIFT: shift, **delivery.tensors()}
    return replace(lesson.blend, tensors=tensors, metadata=about)


def part_way(blend: Voice, learnt: Voice, share: float) -> Voice:
    """Mix a blend (share 0) with its learnt voice, whose pitch and pace stay."""
    ours, theirs = style_of(blend)[0], style_of(learnt)[0]
    shift = share * learnt.tensors[SHIFT].astype(np.float32)
    tensors = {**learnt.tensors, STYLE: ours + share * (theirs - ours), SHIFT: shift}
    return replace(learnt, tensors=tensors)


def prepare(machine: VoiceParts, lesson: Lesson) -> tuple[Material, Delivery]:
    """Return the decoder's target, and the person's delivery relative to the blend's."""
    words = phoned(machine.espeak, lesson.text)
    if sum(1 + length(word.phones) for word in words) > MOST - 2:
        raise InvalidInput(
            "The recording is too long to be learnt at once.",
            hint="Give at most {seconds} s of it.",
            seconds=_LONGEST_S,
        )
    natural = machine.natural(words)
    said = _say(machine, natural)
    # In a trial outside the graph (eight people) P.808 rose by 0.10, likeness fell by 0.006.
    clip = resampled(denoised(lesson.clip, lesson.sample_rate), lesson.sample_rate, SAMPLE_RATE)
    (ours, *own_ends), (theirs, first, last) = sounding(said), sounding(clip)
    clip = clip[max(0, first - _KEPT_AROUND[0]) : last + _KEPT_AROUND[1]]
    clip = np.pad(clip * np.float32(np.sqrt(ours / theirs)), _AIR)
    clip = clip[: len(clip) // FRAME * FRAME].astype(np.float32)
    alignment = align(clip, said, natural.frames)
    spoken_s, clip_s = (each / SAMPLE_RATE for each in (own_ends[1] - own_ends[0], last - first))
    check_alignment(spoken_s, clip_s, alignment)
    loud = natural.energy > np.percentile(natural.energy, _QUIET)
    offset = np.median(natural.energy[loud] - energy_of(said)[loud])
    energy = np.maximum(energy_of(clip) + np.float32(offset), natural.energy.min())
    speech, pitch = machine.natural(words, alignment.frames), pitch_of(clip)
    speech = speech.with_curves(machine.parts, pitch, energy)
    before, highest_hz = _say(machine, speech), bandwidth(clip)
    # A learnt breath before the first sound would be audible before every sentence.
    begin, end = FRAME * speech.edges[0], FRAME * speech.edges[-1]
    clip[:begin], clip[end:] = before[:begin], before[end:]
    spoken = [machine.natural(phoned(machine.espeak, each)).pitch for each in sentences_in(ENGLISH)]
    moved = own_pitch(np.concatenate(spoken), pitch)
    slowness = float(np.clip(clip_s / max(spoken_s, 0.1), *SLOWNESS))
    return Material(clip, before, speech, highest_hz), Delivery(*moved, slowness=slowness)


def _say(machine: VoiceParts, speech: NaturalSpeech) -> Pcm:
    """Render speech in pieces, because an entire clip at once takes 0.3 GB."""
    total = len(speech.features)
    ends = [*range(0, total, _PIECE), total]
    pieces = (render(machine.parts, machine.voice_inputs, speech, *each) for each in pairwise(ends))
    return np.concatenate(list(pieces))
