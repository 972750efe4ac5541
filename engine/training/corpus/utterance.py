"""An utterance of the corpus: a plan, a synthesiser's take of it, and the take with a virtual
speaker's voice.

Invariant: an utterance depends only on its plan and its take; all random choices are in the plan.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import soxr
from scipy.signal import fftconvolve

from engine.text import syllables
from engine.text.phonemes import Espeak, PhonedWord
from engine.training.corpus import grammar
from engine.training.corpus.speakers import Speaker, draw_speaker
from engine.training.recipe import Recipe
from engine.training.teachers.sounds import match
from engine.training.teachers.synthesisers import EXACT, Request, Take
from engine.tts.kokoro.windows import phoned

Pcm = npt.NDArray[np.float32]

SAMPLE_RATE: Final = 24_000
LEAD, TAIL = 1_920, 7_200  # samples of silence before and after speech
LEVEL: Final = 0.07  # root mean square
DEAREST_MATCH: Final = 0.35  # cost per sound; above it text and sound do not belong together
LOWEST_HZ, HIGHEST_HZ = 60.0, 400.0  # pitch of the synthesisers, before it is changed
LONGEST_SECONDS: Final = 32.0
FADE: Final = 192  # samples, 8 ms, on both sides of a pause
SHORTEST_PAUSE: Final = 2_880  # samples; a shorter one is merged into the next
# People who speak slowly pause between words more than they stretch the sounds. When sounds were
# stretched to 2 SPS, pocketsphinx got 36 % of the words wrong (bigram; open 92 %). When the same
# voice spoke at 3 SPS with pauses that made it 2 SPS, it got 19 % wrong (44 %); at the voice's own
# rate 18 % (28 %).
PAUSING_BELOW: Final = 3.4  # SPS
DRAWN_OUT: Final = 0.4  # share of the slowing, in octaves, that is done by stretching sounds
UNEVEN: Final = (0.4, 1.6)  # shortest and longest pause, as factors on the needed one
QUIETEST_DB, LOUDEST_DB = 30.0, 8.0  # signal to noise of a simulated room
ECHO_SECONDS: Final = (0.08, 0.5)  # until an echo has faded by 60 dB
DIRECT_SHARE: Final = (0.5, 0.95)  # of the energy on the direct path


@dataclass(frozen=True)
class Plan:
    """A text to speak, its speaker, and its rate in syllables a second (None = his or her own)."""

    text: str
    speaker: Speaker
    rate: float | None = None

    def request(self) -> Request:
        """The request to the synthesiser."""
        base, warp, rate = self.speaker.base, self.speaker.warp, self.rate
        pitch = self.speaker.pitch_hz / warp
        if base.synthesiser in EXACT:
            return Request(self.text, base.voice, warp, pitch, rate and rate / warp)
        stretch = base.sps / articulation(rate) * warp if rate else warp
        return Request(self.text, base.voice, stretch, pitch)


@dataclass(frozen=True)
class Entry:
    """An utterance without its samples. Its phones are those that the voice reads at run time; all
    times are in samples. `offset` and `length` are its place in the shard's FLAC file.
    """

    speaker: int
    text: str
    phones: tuple[str, ...]
    marks: tuple[tuple[int, str], ...]  # (phones before it, mark)
    starts: tuple[int, ...]
    end: int  # of speech
    syllables: int
    offset: int = 0
    length: int = 0

    @property
    def rate(self) -> float:
        """Syllables per second from the first sound to the last, pauses inside included."""
        return self.syllables * SAMPLE_RATE / max(1, self.end - self.starts[0])


@dataclass(frozen=True, kw_only=True)
class Utterance(Entry):
    """An utterance with its samples at 24 kHz."""

    pcm: Pcm


def draw_plan(recipe: Recipe, prose: Sequence[str], draw: random.Random) -> Plan:
    """Draw the next utterance; no text is from the grammar's test templates. Half of the rates are
    near the voices' own, half are anywhere in the recipe's range.
    """
    corpus, speaker = recipe.corpus, draw_speaker(recipe, draw)
    if corpus.replies and draw.random() < corpus.replies:
        text = grammar.sentence("reply", draw)
    else:
        from_grammar = not prose or draw.random() < corpus.grammar_share
        text = grammar.sentence("train", draw) if from_grammar else draw.choice(prose)
        if len(text) < 60 and draw.random() < 0.3:
            text += " " + grammar.sentence("train", draw)
    if corpus.own_pace and draw.random() < corpus.own_pace:
        return Plan(text, speaker)
    if draw.random() < 0.5:
        near = max(3.0, corpus.lowest_rate), min(6.0, corpus.highest_rate)
        return Plan(text, speaker, draw.triangular(*near))
    return Plan(text, speaker, draw.uniform(corpus.lowest_rate, corpus.highest_rate))


def seconds(plan: Plan) -> float:
    """Estimate the length of a plan's utterance in seconds."""
    count = sum(syllables.count(word) for word in plan.text.split())
    return count / (plan.rate or plan.speaker.base.sps) + 0.4


def articulation(rate: float) -> float:
    """Return the rate between pauses (SPS): slow speech is made mostly by pauses."""
    return rate if rate >= PAUSING_BELOW else PAUSING_BELOW * (rate / PAUSING_BELOW) ** DRAWN_OUT


def finish(plan: Plan, take: Take, espeak: Espeak) -> Utterance | None:
    """Make the utterance from its take; None if text and sound do not agree."""
    words = phoned(espeak, plan.text)
    phones = tuple(phone for word in words for phone in word.phones)
    alignment = match(phones, take.sounds)
    if alignment is None or alignment.cost > DEAREST_MATCH:
        return None
    scale = SAMPLE_RATE / (take.sample_rate * plan.speaker.warp)
    before = np.cumsum([len(word.phones) for word in words]).tolist()
    utterance = Utterance(
        plan.speaker.number,
        plan.text,
        phones,
        tuple((count, w.mark) for count, w in zip(before, words, strict=True) if w.mark),
        tuple(round(start * scale) for start in alignment.starts),
        round(alignment.end * scale),
        sum(word.syllables for word in words),
        pcm=as_speaker(take, plan.speaker),
    )
    if plan.rate and plan.speaker.base.synthesiser not in EXACT:
        utterance = _insert_pauses(utterance, words, plan.rate)
    return trim(utterance)


def _insert_pauses(utterance: Utterance, words: Sequence[PhonedWord], rate: float) -> Utterance:
    """Insert the pauses that a rate needs, each behind a phone's sound (VoXtream2, 4.1)."""
    # A generator of its own, so that pauses do not change who speaks next in the shard.
    dice = random.Random(f"{utterance.text} {rate}")
    before, shift, phone, deficit = utterance.starts[0], 0, 0, 0.0
    pieces, starts = [utterance.pcm[:before]], list(utterance.starts)
    for word in [word for word in words if word.phones][:-1]:
        phone += len(word.phones)
        lacking = word.syllables * (1 / rate - 1 / articulation(rate)) * SAMPLE_RATE
        deficit += lacking * dice.uniform(*UNEVEN)
        if deficit >= SHORTEST_PAUSE:
            pause, deficit = int(deficit), 0.0
            piece = utterance.pcm[before : utterance.starts[phone]].copy()
            length = min(FADE, len(piece) // 2)
            slope = np.linspace(0, 1, length, dtype=np.float32)
            piece[:length] *= slope
            piece[len(piece) - length :] *= slope[::-1]
            pieces += [piece, np.zeros(pause, np.float32)]
            before, shift = utterance.starts[phone], shift + pause
        starts[phone:] = [start + shift for start in utterance.starts[phone:]]
    pieces.append(utterance.pcm[before:])
    pcm, end = np.concatenate(pieces), utterance.end + shift
    return replace(utterance, pcm=pcm, starts=tuple(starts), end=end)


def trim(utterance: Utterance) -> Utterance | None:
    """Put LEAD and TAIL samples of silence around speech; None if it is too long or short."""
    first, end = utterance.starts[0], min(utterance.end, len(utterance.pcm))
    length = end - first + LEAD + TAIL
    if not utterance.phones or not SAMPLE_RATE // 2 < length < LONGEST_SECONDS * SAMPLE_RATE:
        return None
    pcm = np.zeros(length, np.float32)
    source = max(0, first - LEAD)
    part = utterance.pcm[source : end + TAIL]
    pcm[LEAD - (first - source) :][: len(part)] = part[:length]
    pcm *= min(LEVEL / _level(pcm), 0.95 / max(1e-6, float(np.abs(pcm).max())))
    shift = LEAD - first
    starts = tuple(start + shift for start in utterance.starts)
    return replace(utterance, pcm=pcm, starts=starts, end=end + shift)


def as_speaker(take: Take, speaker: Speaker) -> Pcm:
    """Return a take's samples at 24 kHz with the speaker's pitch, formants and spectral tilt."""
    sound = take.pcm
    if not speaker.base.follows_pitch:
        sound = _pitched(take, speaker.pitch_hz / speaker.warp / speaker.base.pitch_hz)
    pcm: Pcm = soxr.resample(sound, take.sample_rate * speaker.warp, SAMPLE_RATE)
    if not speaker.tilt_db:
        return pcm.astype(np.float32)
    spectrum = np.fft.rfft(pcm)
    hertz = np.fft.rfftfreq(len(pcm), 1 / SAMPLE_RATE).clip(300, 6000)
    octaves = np.log2(hertz / 300) / np.log2(6000 / 300)
    tilted = np.fft.irfft(spectrum * 10 ** (speaker.tilt_db * octaves / 20), len(pcm))
    return tilted.astype(np.float32)


def _pitched(take: Take, factor: float) -> Pcm:
    """Return the take with its pitch multiplied by a factor, by Praat's overlap-add."""
    if factor == 1.0:
        return take.pcm
    from parselmouth import Sound as Recording  # training only
    from parselmouth.praat import call

    recording = Recording(take.pcm.astype(np.float64), take.sample_rate)
    manipulation = call(recording, "To Manipulation", 0.01, LOWEST_HZ, HIGHEST_HZ)
    tier = call(manipulation, "Extract pitch tier")
    if call(tier, "Get number of points") == 0:
        return take.pcm
    call(tier, "Multiply frequencies", recording.xmin, recording.xmax, factor)
    call([tier, manipulation], "Replace pitch tier")
    moved = call(manipulation, "Get resynthesis (overlap-add)").values[0]
    return np.asarray(moved[: len(take.pcm)], np.float32)


def in_a_room(pcm: Pcm, sample_rate: int, draw: random.Random) -> Pcm:
    """Add an echo and coloured noise to samples [S], because a person's recording is never as clean
    as a synthesiser's speech. Length and level stay.
    """
    dice = np.random.default_rng(draw.getrandbits(32))
    # A room's response: a direct path, then decaying noise.
    count = int(draw.uniform(*ECHO_SECONDS) * sample_rate)
    tail = dice.standard_normal(count) * 10 ** (-3 * np.arange(count) / count)
    direct = draw.uniform(*DIRECT_SHARE)
    impulse = tail * np.sqrt((1 - direct) / np.sum(np.square(tail)))
    impulse[0] += np.sqrt(direct)
    # Noise whose power falls with frequency: slope 0 is white, 1 is pink.
    spectrum, slope = np.fft.rfft(dice.standard_normal(len(pcm))), draw.uniform(0.0, 1.5)
    spectrum /= np.maximum(1, np.arange(len(spectrum))) ** (slope / 2)
    noise, level = np.fft.irfft(spectrum, len(pcm)), _level(pcm)
    noise *= level / _level(noise) * 10 ** (-draw.uniform(LOUDEST_DB, QUIETEST_DB) / 20)
    sound = fftconvolve(pcm, impulse)[: len(pcm)] + noise
    return np.asarray(sound * level / _level(sound), np.float32)


def _level(pcm: npt.NDArray[np.floating]) -> float:
    return float(np.sqrt(np.mean(np.square(pcm)) + 1e-9))
