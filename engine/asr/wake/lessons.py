"""Teaches a head its phrase: the program's own voices call, and talk of other things.

What other talk is made of: words drawn by how common they are, and among them parts of the phrase.
Invariant: what is learnt depends on the phrase, the voices and what they say alone; a recording is
embedded the way the spotter hears it, from a quiet room on.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import soxr

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.english import common_words
from engine.asr.wake.embedding import HOP, Embedding, Windows
from engine.asr.wake.taught import Head
from engine.audio.base import Pcm

Say = Callable[[str, float], Pcm]
"""One person's voice: a text at a rate (SPS), as samples at 16 kHz."""

RATES = (3.2, 4.0, 4.8, 5.6)  # SPS, of the calls
THROATS = (0.9, 1.0, 1.1)  # a voice again as others with a longer or shorter one
ROOMS = 2  # each recording is heard in
BESIDE = 12  # other talk of each voice, in sentences
WORDS = (4, 18)  # of each
SNR_DB = (5.0, 35.0)
LEVEL_DB = (-32.0, -14.0)  # of full scale, rms
BEFORE_S, AFTER_S = (0.2, 1.4), 0.3  # around a recording
RIGHT = (0, 4)  # hops from the end of a call, in which the phrase has just been said
UNSURE = 4  # hops before them, of which nothing is taught
UNITS, STEPS, RENEWED = 64, 1500, 300  # of the network; after so many the hardest are looked up
HARDEST = 1500
CALLS, TALK = 64, 192  # windows a step
# By which a score must exceed even odds: with the search's proposals that left no false wake in
# 0.3 h of other voices' talk, and 96 % of their calls.
MARGIN = 1.0


def teach(
    phrase: str,
    voices: Sequence[Say],
    embedding: Embedding,
    step: Callable[[float], None] = lambda share: None,
) -> Head:
    """A head for a normal phrase. `step` is told the share that is done, 0..1, and may raise to
    cancel. ModelError when a part of the recogniser is missing.
    """
    draw = random.Random(phrase)
    right: list[Windows] = []
    wrong: list[Windows] = []
    for number, say in enumerate(voices):
        for rate in RATES:
            call = say(f"{phrase}.", rate)
            for pcm in _throats(call):
                for _ in range(ROOMS):
                    windows, end = _heard(pcm, embedding, draw)
                    right.append(windows[end + RIGHT[0] : end + RIGHT[1]])
                    wrong.append(windows[: end + RIGHT[0] - UNSURE])
        for text in other_talk(phrase, BESIDE, draw):
            pcm = say(text, draw.uniform(RATES[0], RATES[-1]))
            wrong += [_heard(pcm, embedding, draw)[0] for _ in range(ROOMS)]
        step((number + 1) / (len(voices) + 1))
    return _fitted(np.concatenate(right), np.concatenate(wrong))


def other_talk(phrase: str, count: int, draw: random.Random) -> Iterator[str]:
    """Sentences that are not the phrase, every other one with a part of it."""
    common = common_words()
    words, weights = tuple(common), tuple(common.values())
    own = phrase.split()
    for number in range(count):
        said = draw.choices(words, weights, k=draw.randint(*WORDS))
        if number % 2:
            first = draw.randrange(len(own))
            part = own[first : draw.randint(first + 1, len(own))]
            place = draw.randint(0, len(said))
            said[place:place] = part if len(part) < len(own) else []
        yield " ".join(said) + "."


def _throats(pcm: Pcm) -> Iterator[Pcm]:
    for throat in THROATS:
        yield soxr.resample(pcm, SAMPLE_RATE, SAMPLE_RATE / throat).astype(np.float32)


def _heard(pcm: Pcm, embedding: Embedding, draw: random.Random) -> tuple[Windows, int]:
    """The windows of a recording in some room, and which of them is the last with speech."""
    loud = np.flatnonzero(np.abs(pcm) > 0.02 * np.max(np.abs(pcm), initial=1e-9))
    pcm = pcm[loud[0] : loud[-1] + 1] if len(loud) else pcm
    before = int(draw.uniform(*BEFORE_S) * SAMPLE_RATE)
    level = 10 ** (draw.uniform(*LEVEL_DB) / 20)
    heard = np.pad(pcm, (before, int(AFTER_S * SAMPLE_RATE) + HOP))
    heard *= level / max(1e-9, float(np.sqrt(np.mean(pcm**2))))
    heard += _noise(len(heard), draw) * level * 10 ** (-draw.uniform(*SNR_DB) / 20)
    embedding.reset()
    return embedding.push(heard.astype(np.float32)), (before + len(pcm)) // HOP


def _noise(count: int, draw: random.Random) -> Pcm:
    """Steady, falling 3 to 6 dB an octave as in rooms; rms 1."""
    numbers = np.random.default_rng(draw.getrandbits(32))
    spectrum = np.fft.rfft(numbers.normal(size=count))
    spectrum /= np.maximum(np.arange(len(spectrum)), count * 100 / SAMPLE_RATE) ** draw.uniform(
        0.5, 1
    )
    noise = np.fft.irfft(spectrum, count)
    return (noise / np.std(noise)).astype(np.float32)


def _fitted(right: Windows, wrong: Windows) -> Head:
    """A network fitted to windows [N, HOPS, WIDTH] of calls and of other talk."""
    import torch

    mean, spread = wrong.mean((0, 1)), wrong.std((0, 1))
    said, other = (torch.from_numpy((each - mean) / spread).flatten(1) for each in (right, wrong))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network = torch.nn.Sequential(
            torch.nn.Dropout(0.2),
            torch.nn.Linear(said.shape[1], UNITS),
            torch.nn.LayerNorm(UNITS, eps=0.0),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.2),
            torch.nn.Linear(UNITS, 1),
        )
        optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
        pick = partial(torch.randint, size=(TALK // 2,))
        hard = torch.arange(len(other))
        for step in range(STEPS):
            if step and step % RENEWED == 0:
                network.eval()
                with torch.no_grad():
                    hard = network(other)[:, 0].argsort(descending=True)[:HARDEST]
                network.train()
            batch = torch.cat(
                (
                    said[torch.randint(len(said), (CALLS,))],
                    other[pick(len(other))],
                    other[hard[pick(len(hard))]],
                )
            )
            wanted = (torch.arange(len(batch)) < CALLS).float()
            scores = network(batch + 0.1 * torch.randn_like(batch))[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    first, first_bias, scale, shift, second, bias = (
        each.detach().numpy() for each in network.parameters()
    )
    return Head(mean, spread, first.T, first_bias, scale, shift, second[0], bias[0] - MARGIN)
