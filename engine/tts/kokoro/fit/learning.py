"""From a recording and its transcript to a voice that learnt from it, in minutes.

Invariant: it takes one thread, uses no clock and no chance, and goes on from the last checkpoint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch

from engine.atomic_write import replace_file
from engine.text.phonemes import PhonedWord
from engine.tts.base import Pcm, Voice
from engine.tts.kokoro.delivery import SLOWNESS, Delivery
from engine.tts.kokoro.fit.alignment import align
from engine.tts.kokoro.fit.decoder import TorchDecoder, inputs_of, timbre_of
from engine.tts.kokoro.fit.fitting import KEEP_EVERY, STEPS, Material, Progress, run
from engine.tts.kokoro.fit.measuring import (
    bandwidth,
    energy_of,
    equaliser,
    own_pitch,
    pitch_of,
    sounding,
)
from engine.tts.kokoro.natural import NaturalSpeech, plan_natural
from engine.tts.kokoro.parts import Floats, Parts
from engine.tts.kokoro.source import FRAME, SAMPLE_RATE
from engine.tts.kokoro.voices import SHIFT, STYLE, TIMBRE, is_british, style_of
from engine.tts.speaker.recording import resampled

_AIR: Final = 6 * FRAME  # silent samples before and behind the clip
_KEPT_AROUND: Final = (2400, 4800)  # samples of the clip before and behind its speech
_QUIET: Final = 30  # percentile of the energy


@dataclass(frozen=True)
class Lesson:
    """What a fit needs: the blend it begins at, the clip (mono) and the words said in it, and the
    words of sentences that show the blend's pitch."""

    blend: Voice
    clip: Pcm
    sample_rate: int
    words: Sequence[PhonedWord]
    sentences: Sequence[Sequence[PhonedWord]]


def learn(
    parts: Parts,
    decoder: TorchDecoder,
    lesson: Lesson,
    checkpoint: Path,
    show: Callable[[float], None] = lambda share: None,
) -> Voice:
    """Fit the voice. `checkpoint` is written every few steps, and the fit goes on from it; `show`
    gets the share that is done.
    """
    style = style_of(lesson.blend)
    material, delivery = prepare(parts, decoder, lesson)
    progress = Progress.from_style(style, len(decoder.norms))
    if checkpoint.is_file():
        progress.restore(checkpoint.read_bytes())
    for _ in run(decoder, parts.source, material, progress):
        show(progress.step / STEPS)
        if progress.step % KEEP_EVERY == 0:
            replace_file(checkpoint, progress.packed())
    timbre, shift = progress.timbre.detach().numpy(), progress.shift.detach().numpy()
    fitted = {STYLE: np.concatenate([timbre, style[0, TIMBRE:]]), SHIFT: shift}
    delivery = _coloured(parts, decoder, lesson, fitted, delivery)
    return replace(lesson.blend, tensors={**fitted, **delivery.tensors()})


def _coloured(
    parts: Parts, decoder: TorchDecoder, lesson: Lesson, fitted: dict, delivery: Delivery
) -> Delivery:
    style = fitted[STYLE][None]
    decoder.set_shift(torch.tensor(fitted[SHIFT]))
    spoken = plan_natural(parts, style, lesson.sentences[0], british=is_british(lesson.blend))
    spoken = spoken.with_curves(parts, delivery.pitched(spoken.pitch), spoken.energy)
    said = say(parts, decoder, spoken, style)
    clip = resampled(lesson.clip, lesson.sample_rate, SAMPLE_RATE)
    return replace(delivery, taps=equaliser(clip, said))


@torch.no_grad()
def say(parts: Parts, decoder: TorchDecoder, speech: NaturalSpeech, style: Floats) -> Pcm:
    """Samples by the decoder, whose norms run over all of it."""
    pcm: Pcm = decoder(*inputs_of(parts.source, speech), timbre_of(style)).numpy()
    return pcm


def prepare(parts: Parts, decoder: TorchDecoder, lesson: Lesson) -> tuple[Material, Delivery]:
    """What the decoder is to say, and how the person's pitch and pace differ from the blend's."""
    style, british = style_of(lesson.blend), is_british(lesson.blend)
    natural = plan_natural(parts, style, lesson.words, british=british)
    said = say(parts, decoder, natural, style)
    clip = resampled(lesson.clip, lesson.sample_rate, SAMPLE_RATE)
    (ours, *own_ends), (theirs, first, last) = sounding(said), sounding(clip)
    clip = clip[max(0, first - _KEPT_AROUND[0]) : last + _KEPT_AROUND[1]]
    clip = np.pad(clip * np.float32(np.sqrt(ours / theirs)), _AIR)
    clip = clip[: len(clip) // FRAME * FRAME].astype(np.float32)
    alignment = align(clip, said, natural.frames)
    speech = plan_natural(
        parts, style, lesson.words, british=british, frames_of=lambda _: alignment.frames
    )
    loud = natural.energy > np.percentile(natural.energy, _QUIET)
    offset = np.median(natural.energy[loud] - energy_of(said)[loud])
    energy = np.maximum(energy_of(clip) + np.float32(offset), natural.energy.min())
    pitch = pitch_of(clip)
    speech = speech.with_curves(parts, pitch, energy)
    material = Material(clip, say(parts, decoder, speech, style), speech, bandwidth(clip))
    spoken = [plan_natural(parts, style, each, british=british) for each in lesson.sentences]
    moved = own_pitch(np.concatenate([each.pitch for each in spoken]), pitch)
    slowness = (last - first) / max(1, own_ends[1] - own_ends[0])
    return material, Delivery(*moved, slowness=float(np.clip(slowness, *SLOWNESS)))
