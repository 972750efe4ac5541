"""Fit of a voice to a recording with its transcript, in minutes.

Invariant: it uses one thread, no clock and no random numbers, and resumes from the last checkpoint.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from engine.atomic_write import replace_file
from engine.audio.clips.denoise import denoised
from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.memory import return_freed_memory
from engine.text.phonemes import PhonedWord
from engine.tts.base import Pcm, Voice
from engine.tts.kokoro.delivery import SLOWNESS, Delivery
from engine.tts.kokoro.fit.alignment import align
from engine.tts.kokoro.fit.checks import check_alignment
from engine.tts.kokoro.fit.decoder import load_decoder
from engine.tts.kokoro.fit.fitting import KEEP_EVERY, STEPS, Material, Progress, run
from engine.tts.kokoro.fit.measuring import (
    bandwidth,
    energy_of,
    own_pitch,
    pitch_of,
    sounding,
)
from engine.tts.kokoro.natural import NaturalSpeech, phoned, plan_natural
from engine.tts.kokoro.session import Machine
from engine.tts.kokoro.source import FRAME, SAMPLE_RATE
from engine.tts.kokoro.statistics import sentences_in
from engine.tts.kokoro.symbols import MOST, length
from engine.tts.kokoro.voices import LEARNT, SHIFT, STYLE, TIMBRE, style_of
from engine.tts.kokoro.windows import render
from engine.tts.speaker.recording import resampled

_AIR: Final = 6 * FRAME  # silent samples before and behind the clip
_KEPT_AROUND: Final = (2400, 4800)  # samples of the clip before and behind its speech
_LONGEST_S: Final = 20
_PIECE: Final = 24  # frames
_QUIET: Final = 30  # percentile of the energy


@dataclass(frozen=True)
class Lesson:
    """Input of a fit: the blend at which it begins, the clip (mono), and its transcript with
    figures as words.
    """

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
    machine: Machine,
    lesson: Lesson,
    checkpoint: Path,
    show: Callable[[float], None] = lambda share: None,
) -> Voice:
    """Fit the voice of a lesson, with whose blend the machine speaks. `checkpoint` is written every
    few steps if possible, and the fit resumes from it; `show` gets the finished share. InvalidInput
    for a text that does not fit the clip.
    """
    parts, style = machine.parts, machine.speaker.style
    material, delivery = prepare(machine, lesson)
    return_freed_memory()
    decoder = load_decoder(parts.published)
    return_freed_memory()
    progress = Progress.from_style(style, len(decoder.norms))
    if checkpoint.is_file():
        progress.restore(checkpoint.read_bytes())
    for _ in run(decoder, parts.source, material, progress):
        show(progress.step / STEPS)
        if progress.step % KEEP_EVERY == 0:
            with suppress(OSError):
                replace_file(checkpoint, progress.packed())
    timbre, shift = progress.timbre.detach().numpy(), progress.shift.detach().numpy()
    about = {**lesson.blend.metadata, "making": LEARNT}
    style = np.concatenate([timbre, style[0, TIMBRE:]])
    tensors = {STYLE: style, SHIFT: shift, **delivery.tensors()}
    return replace(lesson.blend, tensors=tensors, metadata=about)


def part_way(blend: Voice, learnt: Voice, share: float) -> Voice:
    """Mix a blend (share 0) and its learnt voice (share 1), with the latter's pitch and pace."""
    ours, theirs = style_of(blend)[0], style_of(learnt)[0]
    style = ours + share * (theirs - ours)
    shift = np.float32(share) * learnt.tensors[SHIFT].astype(np.float32)
    tensors = {**learnt.tensors, STYLE: style.astype(np.float32), SHIFT: shift}
    return replace(learnt, tensors=tensors)


def prepare(machine: Machine, lesson: Lesson) -> tuple[Material, Delivery]:
    """Return the decoder's target, and the person's delivery relative to the blend's."""
    parts, style, accent = machine.parts, machine.speaker.style, machine.speaker.accent
    words = phoned(machine.espeak, lesson.text)
    _check_length(words)
    natural = plan_natural(parts, style, words, accent=accent)
    said = _say(machine, natural)
    # In a trial outside the graph (eight people) P.808 rose by 0.10, likeness fell by 0.006.
    clean = denoised(lesson.clip, lesson.sample_rate)
    clip = resampled(clean, lesson.sample_rate, SAMPLE_RATE)
    (ours, *own_ends), (theirs, first, last) = sounding(said), sounding(clip)
    clip = clip[max(0, first - _KEPT_AROUND[0]) : last + _KEPT_AROUND[1]]
    clip = np.pad(clip * np.float32(np.sqrt(ours / theirs)), _AIR)
    clip = clip[: len(clip) // FRAME * FRAME].astype(np.float32)
    alignment = align(clip, said, natural.frames)
    spoken_s, clip_s = (each / SAMPLE_RATE for each in (own_ends[1] - own_ends[0], last - first))
    check_alignment(spoken_s, clip_s, alignment)
    speech = plan_natural(parts, style, words, accent=accent, frames_of=lambda _: alignment.frames)
    loud = natural.energy > np.percentile(natural.energy, _QUIET)
    offset = np.median(natural.energy[loud] - energy_of(said)[loud])
    energy = np.maximum(energy_of(clip) + np.float32(offset), natural.energy.min())
    pitch = pitch_of(clip)
    speech = speech.with_curves(parts, pitch, energy)
    before, highest_hz = _say(machine, speech), bandwidth(clip)
    # A learnt breath before the first sound would be audible before every sentence.
    begin, end = FRAME * speech.edges[0], FRAME * speech.edges[-1]
    clip[:begin], clip[end:] = before[:begin], before[end:]
    material = Material(clip, before, speech, highest_hz)
    sentences = [phoned(machine.espeak, each) for each in sentences_in(ENGLISH)]
    spoken = [plan_natural(parts, style, each, accent=accent) for each in sentences]
    moved = own_pitch(np.concatenate([each.pitch for each in spoken]), pitch)
    slowness = float(np.clip(clip_s / max(spoken_s, 0.1), *SLOWNESS))
    return material, Delivery(*moved, slowness=slowness)


def _say(machine: Machine, speech: NaturalSpeech) -> Pcm:
    """Render in pieces: an entire clip at once takes 0.3 GB."""
    total = len(speech.features)
    ends = [*range(0, total, _PIECE), total]
    pieces = (render(machine.parts, machine.given, speech, *each) for each in pairwise(ends))
    return np.concatenate(list(pieces))


def _check_length(words: Sequence[PhonedWord]) -> None:
    if sum(1 + length(word.phones) for word in words) > MOST - 2:
        raise InvalidInput(
            "The recording is too long to be learnt at once.",
            hint="Give at most {seconds} s of it.",
            seconds=_LONGEST_S,
        )
