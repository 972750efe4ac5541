"""Fit of a voice to a recording with its transcript, in minutes.

Invariant: it uses one thread, no clock and no random numbers, and resumes from the last checkpoint.
"""

import hashlib
from collections.abc import Callable
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
from engine.machine import return_freed_memory
from engine.tts.base import Pcm, Voice
from engine.tts.kokoro.delivery import SLOWNESS, Delivery
from engine.tts.kokoro.fit.alignment import align
from engine.tts.kokoro.fit.checks import check_alignment
from engine.tts.kokoro.fit.decoder import load_decoder
from engine.tts.kokoro.fit.fitting import KEEP_EVERY, STEPS, FitState, Material, run
from engine.tts.kokoro.fit.measuring import bandwidth, energy_of, pitch_of, sounding
from engine.tts.kokoro.natural import NaturalSpeech, phoned
from engine.tts.kokoro.resemblance import own_pitch
from engine.tts.kokoro.session import VoiceParts
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
    """Mix a blend (share 0) with its learnt voice (share 1). Pitch and pace are the
    learnt voice's.
    """
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
    speech, pitch = machine.natural(words, lambda _: alignment.frames), pitch_of(clip)
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
