"""The training data of VoXtream2 and VoXtream: each utterance as codes, duration tokens, phone ids
and a speaker vector, and the sequences (lessons) made of them.

A duration token says which phones an 80 ms frame speaks. Of all sequences of tokens that the
alignment cursor can walk (VoXtream2, 3.1), walk() finds the one that fits the sound best.

A sequence is a prompt without text, then utterances of the same speaker until the window is full:

    columns      0 .. P          P + 1 ..
    phones       bos, masked     the phones each frame speaks
    codes        prompt's        the spoken ones, one column later (acoustic codes two)

Invariants: a walk begins before the first phone and ends exactly on the last one. A sequence is
exactly what a session of `engine.tts.voxtream` would feed to its model. The
encoders get the same kind of speech as in use: clean speech to say, and prompts as a person records
them (a share of them with noise and rooms).
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small import FRAME_RATE, load_small
from engine.resources import resource
from engine.training.corpus.speakers import People
from engine.training.corpus.utterance import SAMPLE_RATE, Entry, in_a_room
from engine.training.run import Run, read_json
from engine.training.utterances import (
    Pcm,
    ShardEncoder,
    Utterance,
    aligned_phones,
    encode_shards,
    mean_vector,
    write_phones,
)
from engine.training.voxtream import VOXTREAM
from engine.tts.pack_files import PHONES_FILE
from engine.tts.phones import BOS, EOS, MARKS, SILENCE, UNKNOWN
from engine.tts.voxtream.config import DURATION_TOKENS, DurationToken
from engine.tts.voxtream.voxtream1 import session as original

CLOSING_FRAMES: Final = 2  # silence after speech that belongs to an utterance, and its end
GO_ON: Final = 2  # the token (1, 1): one phone further, one phone in the frame
STAY: Final = 0  # the token (0, 1)
ENDING: Final = 0.4  # share of lessons in which the text ends
MIN_AHEAD, MAX_AHEAD = 3, 20  # phones known beyond a window's end
ABSENT: Final = 0.3  # cost of a phone in a frame where it does not sound; a wrong frame costs 1
SKIPPED: Final = 0.15  # cost of a phone that no frame speaks
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int16]


def encode_corpus(run: Run) -> None:
    """Encode all shards that are not encoded yet. VoXtream's phones have the ids of the built-in
    voice, whose embeddings it starts from.
    """
    recipe, ids = run.recipe, None
    if recipe.system == VOXTREAM:
        built_in = read_json(resource("starter", PHONES_FILE))
        ids = {phone: number for phone, number in built_in.items() if phone not in MARKS}
    table = write_phones(run, ids)
    files = (table, run.weights("speaker"), run.weights("codec"))
    values = recipe.seed, recipe.voice.noisy_prompts, recipe.system
    encode_shards(run, _Encoder, files, *values)


def tokens_of(system: str) -> tuple[DurationToken, ...]:
    """Return the duration tokens of a system. VoXtream's are the first ones of VoXtream2's."""
    return original.TOKENS if system == VOXTREAM else DURATION_TOKENS


@dataclass(frozen=True)
class VoxtreamUtterance(Utterance):
    """An utterance as codes [K, T], with a duration token for each frame of speech."""

    place: int  # in its shard
    codes: Codes
    prompt: Codes  # codes as a prompt, perhaps with noise
    tokens: npt.NDArray[np.int8]
    phones: npt.NDArray[np.int16]
    nuclei: npt.NDArray[np.int8]
    marks: npt.NDArray[np.int16]  # [M, 2] phones before it, id

    @property
    def frames(self) -> int:
        return int(self.codes.shape[1])

    @property
    def seconds(self) -> float:
        return self.frames / FRAME_RATE

    @property
    def rate(self) -> float:
        """Syllables a second of the speech."""
        return float(self.nuclei.sum()) * FRAME_RATE / max(1, len(self.tokens))


class _Encoder(ShardEncoder):
    """Encode utterances as codes, duration tokens and phone ids."""

    def __init__(
        self, table: Path, speaker: Path, codec: Path, seed: int, noisy: float, system: str
    ) -> None:
        """`noisy`: the share of prompts with noise and a room."""
        super().__init__(table, speaker)
        self._codec = load_small(codec, torch.device("cpu"))
        self._seed, self._noisy, self._tokens = seed, noisy, tokens_of(system)

    def utterance(self, place: int, entry: Entry, pcm: Pcm) -> VoxtreamUtterance | None:
        phones: dict[str, Any] = aligned_phones(entry, self.table)
        speech_frames = -(-entry.end // FRAME_SAMPLES)
        found = walk(phones.pop("starts"), speech_frames, self._tokens)
        total = -(-len(pcm) // FRAME_SAMPLES)
        if found is None or total < speech_frames + CLOSING_FRAMES:
            return None
        codes = prompt_codes = self._codes(pcm)
        prompt, draw = pcm, random.Random(f"{self._seed} prompt {entry.text}")
        if draw.random() < self._noisy:
            prompt = in_a_room(pcm, SAMPLE_RATE, draw)
            prompt_codes = self._codes(prompt)
        own = (place, codes, prompt_codes, found.astype(np.int8))
        return VoxtreamUtterance(entry.speaker, self.vector(prompt), *own, **phones)

    def _codes(self, pcm: Pcm) -> Codes:
        """Return the codes [K, T] of samples."""
        codes = self._codec.encode(torch.from_numpy(pcm)[None, None])
        return codes[0].numpy().astype(np.int16)


def token_spans(tokens: Iterable[int]) -> Ints:
    """Return the first and last phone of each frame [T, 2], given the frames' duration tokens."""
    frames, last = [], -1
    for step in (DURATION_TOKENS[token] for token in tokens):
        first = last + step.shift
        last = first + step.phones - 1
        frames.append((first, last))
    return np.asarray(frames, np.int64)


def walk(starts: Ints, frames: int, tokens: Sequence[DurationToken]) -> Ints | None:
    """Return the duration tokens of `frames` frames for phones that begin at `starts` (samples; the
    first one lasts from sample 0). None if there are too many phones for the frames.
    """
    edges = np.append(np.concatenate(([0], starts[1:])), frames * FRAME_SAMPLES).astype(np.float64)
    count = len(starts)
    best = np.full(count + 1, np.inf)  # by the last phone; place 0 = before the first
    best[0] = 0.0
    choices = np.zeros((frames, count + 1), np.int64)
    for frame in range(frames):
        begin, end = frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES
        sounding = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin), 0, None)
        sounding /= FRAME_SAMPLES  # [P] share of the frame
        costs = np.stack([_token_costs(best, sounding, token) for token in tokens])
        choices[frame] = costs.argmin(axis=0)
        best = costs.min(axis=0)
    if not np.isfinite(best[count]):
        return None
    numbers, place = np.zeros(frames, np.int64), count
    for frame in reversed(range(frames)):
        numbers[frame] = choices[frame, place]
        token = tokens[numbers[frame]]
        place = place - token.phones + 1 - token.shift
    return numbers


def _token_costs(best: Floats, sounding: Floats, token: DurationToken) -> Floats:
    """Return the cost of ending a frame on each phone (index 0 = before the first one) with this
    token. `best`: the costs of the frame before; `sounding`: each phone's share of the frame.
    """
    costs = np.full(len(best), np.inf)
    first = np.arange(len(best) - token.phones)  # 0-based first phone of the frame
    before = first + 1 - token.shift  # place of the last phone of the frame before
    fits = before >= (0 if token.shift else 1)
    first, before = first[fits], before[fits]
    phone_costs = np.where(sounding > 0, 0.0, ABSENT) - sounding
    spoken = phone_costs[first] + (phone_costs[first + 1] if token.phones == 2 else 0)
    skipped = SKIPPED if token.shift == 2 else 0.0
    costs[first + token.phones] = best[before] + 1 + spoken + skipped
    return costs


@dataclass(frozen=True)
class VoxtreamLesson:
    """A training sequence. `text` is the input of the phone transformer, `rows` the indices in it
    of each column's two phones. Labels are -1 where nothing is to be learnt.
    """

    text: Ints  # [P]
    rows: Ints  # [T, 2]
    codes: Ints  # [K, T] of the frames
    tokens: Ints  # [T] the token drawn at each column
    prompt_frames: int
    speaker: Pcm


Person = Sequence[VoxtreamUtterance]  # the utterances of one speaker


def draw_person(people: People[VoxtreamUtterance], draw: random.Random) -> Person:
    """Draw a speaker, weighted by the length of his or her speech."""
    weights = [sum(utterance.frames for utterance in person) for person in people.values()]
    return draw.choices(list(people.values()), weights)[0]


def draw_sequence(person: Person, draw: random.Random, window: int, prompt: int) -> VoxtreamLesson:
    """Draw a lesson of at most `window` frames, at most `prompt` of which are the prompt."""
    opening, speaker = _prompt(person, draw, prompt)
    room, ends = window - opening.shape[1], draw.random() < ENDING
    utterances = iter(lambda: draw.choice(person), None)  # without an end
    return _lesson(opening, speaker, utterances, room, draw, ends=ends)


def draw_stretch(person: Person, draw: random.Random, window: int) -> VoxtreamLesson:
    """Draw a lesson of VoXtream: at most `window` frames of one speaker with all of their text,
    begun anywhere in an utterance. Every frame is to be learnt, so any part may serve as a prompt.
    """
    first, speaker = draw.choice(person), draw.choice(person).vector
    start = _starting_at(first, draw.randrange(len(first.tokens)))
    utterances = chain([start], iter(lambda: draw.choice(person), None))
    return _lesson(None, speaker, utterances, window, draw, ends=draw.random() < ENDING)


def one_utterance(
    said: VoxtreamUtterance, person: Person, draw: random.Random, prompt: int
) -> VoxtreamLesson:
    """Return the lesson of a complete utterance after a prompt of at most `prompt` frames; 0 = a
    lesson of VoXtream, whose prompts have their text, so that an utterance needs none before it.
    """
    if not prompt:
        return _lesson(None, draw.choice(person).vector, [said], said.frames, draw, ends=False)
    opening, speaker = _prompt(person, draw, prompt)
    return _lesson(opening, speaker, [said], said.frames, draw, ends=False)


def _starting_at(utterance: VoxtreamUtterance, frame: int) -> VoxtreamUtterance:
    """Return an utterance from a speech frame on. Its first token advances by one phone, because
    its phones begin with that frame's. Marks keep their old places, so they must not be used.
    """
    first, last = token_spans(utterance.tokens)[frame].tolist()
    tokens = utterance.tokens[frame:].copy()
    tokens[0] = GO_ON + last - first
    return replace(
        utterance,
        codes=utterance.codes[:, frame:],
        tokens=tokens,
        phones=utterance.phones[first:],
        nuclei=utterance.nuclei[first:],
    )


def _prompt(person: Person, draw: random.Random, frames: int) -> tuple[Codes, Pcm]:
    """Draw a prompt of at most `frames` frames. Return its codes [K, T] and its unit vector."""
    utterances = [draw.choice(person) for _ in range(1 + frames // 12)]
    codes = np.concatenate([utterance.prompt for utterance in utterances], axis=1)[:, :frames]
    return codes, mean_vector(utterances)


def _lesson(
    opening: Codes | None,
    speaker: Pcm,
    utterances: Iterable[VoxtreamUtterance],
    room: int,
    draw: random.Random,
    *,
    ends: bool,
) -> VoxtreamLesson:
    """Return a lesson: a prompt's codes [K, P] (None for VoXtream, which has no marks either), then
    utterances until `room` frames are full, or, with `ends`, until the text ends within them.
    """
    text, places = list[int](), list[int]()  # after the prompt's masked phones; of phones in it
    spans, tokens = list[tuple[int, int]](), list[int]()  # of every frame
    codes = [] if opening is None else [opening]
    spoken = speech = 0  # phones; frames up to the end of speech of a complete last utterance
    for utterance in utterances:
        left = room - len(spans)
        if left <= 0 or (ends and spans and utterance.frames > left):
            break
        marks = {int(n): int(number) for n, number in utterance.marks if opening is not None}
        for count, phone in enumerate(utterance.phones.tolist(), start=1):
            places.append(len(text))
            text += [phone, marks[count]] if count in marks else [phone]
        said = token_spans(utterance.tokens) + spoken
        own = [(first, last) for first, last in said.tolist()]
        spoken, pause = spoken + len(utterance.phones), utterance.frames - len(own)
        speech = len(spans) + len(own) if utterance.frames <= left else 0
        spans += [*own, *[(spoken - 1, spoken - 1)] * pause][:left]
        tokens += [*utterance.tokens.tolist(), *[STAY] * pause][:left]
        codes.append(utterance.codes)
    if ends and speech:
        closing = [spoken, spoken + 1]
        spans[speech:], tokens[speech:] = [(n, n) for n in closing], [GO_ON] * CLOSING_FRAMES
        places += [len(text), len(text) + 1]
        text += [SILENCE, EOS]
    prompt = 0 if opening is None else opening.shape[1]
    lead = prompt + 1
    furthest = max(last for _, last in spans) + draw.randint(MIN_AHEAD, MAX_AHEAD)
    known = [*places, len(text) - 1][min(furthest, len(places))] + 1
    rows = [(column, column) for column in range(lead)]
    rows += [(lead + places[first], lead + places[last]) for first, last in spans[:-1]]
    return VoxtreamLesson(
        np.asarray([BOS, *[UNKNOWN] * prompt, *text[:known]]),
        np.asarray(rows),
        np.concatenate(codes, axis=1)[:, : prompt + len(spans)].astype(np.int64),
        np.asarray([-1] * prompt + tokens),
        prompt,
        speaker,
    )
