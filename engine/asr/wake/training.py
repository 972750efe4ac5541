"""Train a detector head for a phrase: the built-in voices say the phrase, and other talk.

Other talk consists of words drawn by frequency, with parts of the phrase among them. Invariant: the
head depends only on the phrase and the voices' audio. Recordings are embedded as the spotter embeds
audio, after a quiet room.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import soxr

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.english import common_words
from engine.asr.wake.spotter import HOP, HOPS, WIDTH, Embedding, Head, Weights, Windows
from engine.audio.base import Pcm

Say = Callable[[str, float], Pcm]
"""One speaker: a text and a rate (SPS) to samples at 16 kHz."""

RATES = (3.2, 4.0, 4.8, 5.6)  # SPS, of the calls
# Each voice is resampled to further speakers with a longer or shorter vocal tract.
THROATS = (0.84, 0.9, 0.95, 1.0, 1.06, 1.12)
CALL_ROOMS, TALK_ROOMS = 4, 2  # simulated rooms per recording
BESIDE = 40  # sentences of other talk per voice; with 24, twice the false wakes in noise
WORDS = (4, 18)  # per sentence
SNR_DB = (5.0, 35.0)
LEVEL_DB = (-32.0, -14.0)  # of full scale, rms
BEFORE_S, AFTER_S = (0.2, 1.4), 0.3  # silence around a recording
RIGHT = (0, 4)  # hops after the end of a call that count as detections
UNSURE = 4  # hops before them that are not used
UNITS, STEPS, RENEWED = 64, 1500, 300  # of the network; steps between searches for hard windows
HARDEST = 1500
CALLS, TALK = 64, 192  # windows per step
PART = 4096  # windows scored at once
LISTENING = 0.93  # share of the progress for making recordings; the rest is for the network
# Subtracted from the scores. With the search's proposals it left no false wake in 0.6 h of other
# voices' talk (10 in noise at 10 dB below it), and found 96 % of their calls, also in noise.
MARGIN = 1.0


def teach(
    phrase: str,
    voices: Sequence[Say],
    embedding: Embedding,
    step: Callable[[float], None] = lambda share: None,
) -> Head:
    """Train a head for a normalised phrase. `step` is called with the finished share, 0..1, and may
    raise to cancel. ModelError if a part of the recogniser is missing.
    """
    draw = random.Random(phrase)
    heard = _TrainingWindows([], [], [])
    texts = len(voices) * (len(RATES) + BESIDE)
    done = 0
    for say in voices:
        for rate in RATES:
            call = say(f"{phrase}.", rate)
            for throat in THROATS * CALL_ROOMS:
                heard.add(*_in_room(_change_throat(throat, call), embedding, draw), is_call=True)
            done += 1
            step(LISTENING * done / texts)
        for text in other_talk(phrase, BESIDE, draw):
            pcm = say(text, draw.uniform(RATES[0], RATES[-1]))
            # As with the calls, or the effect of resampling would be taken for the phrase.
            for throat in draw.sample(THROATS, TALK_ROOMS):
                heard.add(*_in_room(_change_throat(throat, pcm), embedding, draw), is_call=False)
            done += 1
            step(LISTENING * done / texts)
    return _train(heard)


@dataclass(frozen=True)
class _TrainingWindows:
    """Vectors [N, WIDTH] of each recording. A window is HOPS vectors, identified by the first one's
    index among all. Storing the windows would take sixteen times the memory.
    """

    vectors: list[Weights]
    right: list[range]
    wrong: list[range]

    def add(self, windows: Windows, end: int, *, is_call: bool) -> None:
        """Add a recording; `end` is the index of its last window with speech."""
        first = sum(map(len, self.vectors))
        self.vectors.append(np.concatenate((windows[0], windows[1:, -1])))
        last = len(windows)
        if is_call:
            self.right.append(range(first + end + RIGHT[0], first + min(last, end + RIGHT[1])))
            last = end + RIGHT[0] - UNSURE
        self.wrong.append(range(first, first + last))


def other_talk(phrase: str, count: int, draw: random.Random) -> Iterator[str]:
    """Yield sentences that are not the phrase; every other one contains a part of it."""
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


def _change_throat(throat: float, pcm: Pcm) -> Pcm:
    other: Pcm = soxr.resample(pcm, SAMPLE_RATE, SAMPLE_RATE / throat).astype(np.float32)
    return other


def _in_room(pcm: Pcm, embedding: Embedding, draw: random.Random) -> tuple[Windows, int]:
    """Return a recording's windows in a simulated room, and the last window with speech."""
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
    """Return steady noise that falls 3 to 6 dB per octave as in rooms; rms 1."""
    numbers = np.random.default_rng(draw.getrandbits(32))
    spectrum = np.fft.rfft(numbers.normal(size=count))
    bins = np.maximum(np.arange(len(spectrum)), count * 100 / SAMPLE_RATE)
    spectrum /= bins ** draw.uniform(0.5, 1)
    noise = np.fft.irfft(spectrum, count)
    return (noise / np.std(noise)).astype(np.float32)


def _train(heard: _TrainingWindows) -> Head:
    """Train the network on the collected windows."""
    import torch

    from engine.nn.optimiser import AdamW

    vectors = np.concatenate(heard.vectors)
    mean, spread = vectors.mean(0), vectors.std(0)
    scaled = torch.from_numpy((vectors - mean) / spread)
    said, other = (
        torch.from_numpy(np.concatenate([np.arange(each.start, each.stop) for each in ranges]))
        for ranges in (heard.right, heard.wrong)
    )
    hops = torch.arange(HOPS)

    def windows(firsts: torch.Tensor) -> torch.Tensor:
        return scaled[firsts[:, None] + hops].flatten(1)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network = torch.nn.Sequential(
            torch.nn.Dropout(0.2),
            torch.nn.Linear(HOPS * WIDTH, UNITS),
            torch.nn.LayerNorm(UNITS),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.2),
            torch.nn.Linear(UNITS, 1),
        )
        optimiser = AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
        pick = partial(torch.randint, size=(TALK // 2,))
        hard = other
        for step in range(STEPS):
            if step and step % RENEWED == 0:
                network.eval()
                with torch.no_grad():
                    scores = torch.cat(
                        [network(windows(x))[:, 0] for x in torch.split(other, PART)]
                    )
                    hard = other[scores.argsort(descending=True)[:HARDEST]]
                network.train()
            calls = said[torch.randint(len(said), (CALLS,))]
            batch = windows(torch.cat((calls, other[pick(len(other))], hard[pick(len(hard))])))
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
