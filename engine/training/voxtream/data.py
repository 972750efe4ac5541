"""The training data of VoXtream2 and VoXtream: each utterance as codes, duration tokens, phone ids
and a speaker vector, and the sequences (lessons) made of them.

A sequence is a prompt without text, then utterances of the same speaker until the window is full:

    columns      0 .. P          P + 1 ..
    phones       bos, masked     the phones each frame speaks
    codes        prompt's        the spoken ones, one column later (acoustic codes two)

Invariants: a sequence is exactly what a session of `engine.tts.voxtream` would feed to its model.
The encoders get the same kind of speech as in use: clean speech to say, and prompts as a person
records them (a share of them with noise and rooms).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small import load_small
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.speakers import People
from engine.training.corpus.utterance import SAMPLE_RATE, Entry
from engine.training.run import Run
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
from engine.training.voxtream.base import built_in_phones
from engine.training.voxtream.durations import Ints, spans, tokens_of, walk
from engine.tts.phones import BOS, EOS, SILENCE, UNKNOWN

CLOSING_FRAMES: Final = 2  # silence after speech that belongs to an utterance
GO_ON: Final = 2  # the token (1, 1): one phone further, one phone in the frame
STAY: Final = 0  # the token (0, 1)
ENDING: Final = 0.4  # share of lessons in which the text ends
MIN_AHEAD, MAX_AHEAD = 3, 20  # phones known beyond a window's end


def encode_corpus(run: Run) -> None:
    """Encode all shards that are not encoded yet."""
    recipe = run.recipe
    table = write_phones(run, built_in_phones() if recipe.system == VOXTREAM else None)
    files = (table, run.weights("speaker"), run.weights("codec"))
    encode_shards(run, _Encoder, files, recipe.seed, recipe.voice.noisy_prompts, recipe.system)


@dataclass(frozen=True)
class VoxtreamUtterance(Utterance):
    """An utterance as codes [K, T]; `prompt` are its codes as a prompt, perhaps with noise.
    `tokens` has a duration token for each speech frame, `place` is the utterance's number in its
    shard.
    """

    place: int
    codes: npt.NDArray[np.int16]
    prompt: npt.NDArray[np.int16]
    tokens: npt.NDArray[np.int8]
    phones: npt.NDArray[np.int16]
    nuclei: npt.NDArray[np.int8]
    marks: npt.NDArray[np.int16]  # [M, 2] phones before it, id

    @property
    def frames(self) -> int:
        return int(self.codes.shape[1])

    def spans(self) -> Ints:
        """First and last phone of every speech frame, [T, 2]."""
        return spans(self.tokens)


class _Encoder(ShardEncoder):
    """Encode utterances as codes, duration tokens and phone ids."""

    def __init__(
        self, table: Path, speaker: Path, codec: Path, seed: int, noisy: float, system: str
    ) -> None:
        """`noisy`: the share of prompts with noise and a room."""
        super().__init__(table, speaker, seed)
        self._codec = load_small(codec, torch.device("cpu"))
        self._noisy, self._tokens = noisy, tokens_of(system)

    def utterance(
        self, place: int, entry: Entry, pcm: Pcm, draw: random.Random
    ) -> VoxtreamUtterance | None:
        phones = aligned_phones(entry, self.table)
        speech_frames = -(-entry.end // FRAME_SAMPLES)
        found = walk(phones["starts"], speech_frames, self._tokens)
        total = -(-len(pcm) // FRAME_SAMPLES)
        if found is None or total < speech_frames + CLOSING_FRAMES:
            return None
        codes = prompt_codes = self._codes(pcm)
        prompt = pcm
        if draw.random() < self._noisy:
            prompt = in_a_room(pcm, SAMPLE_RATE, draw)
            prompt_codes = self._codes(prompt)
        return VoxtreamUtterance(
            entry.speaker,
            self.vector(prompt),
            place,
            codes,
            prompt_codes,
            found.astype(np.int8),
            phones["ids"].astype(np.int16),
            phones["nuclei"].astype(np.int8),
            phones["marks"].astype(np.int16),
        )

    def _codes(self, pcm: Pcm) -> npt.NDArray[np.int16]:
        """Return the codes [K, T] of samples."""
        codes = self._codec.encode(torch.from_numpy(pcm)[None, None])
        return codes[0].numpy().astype(np.int16)


# ------------------------------------------------------------------------------ lessons


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
    speaker: npt.NDArray[np.float32]


def draw_person(
    people: People[VoxtreamUtterance], draw: random.Random
) -> tuple[VoxtreamUtterance, ...]:
    """Draw a speaker, weighted by the length of his or her speech; return the speaker's
    utterances.
    """
    weights = [sum(utterance.frames for utterance in person) for person in people.values()]
    return draw.choices(list(people.values()), weights)[0]


def draw_sequence(
    person: Sequence[VoxtreamUtterance], draw: random.Random, window: int, prompt: int
) -> VoxtreamLesson:
    """Draw a lesson of at most `window` frames, the first up to `prompt` of which are
    the prompt.
    """
    opening, speaker = _prompt(person, draw, prompt)
    builder = _Builder(opening.shape[1])
    room, ends = window - opening.shape[1], draw.random() < ENDING
    codes = (opening, *_filled(builder, person, draw, room, ends=ends))
    return builder.lesson(codes, draw, speaker)


def draw_stretch(
    person: Sequence[VoxtreamUtterance], draw: random.Random, window: int
) -> VoxtreamLesson:
    """Draw a lesson of VoXtream: at most `window` frames of one speaker with all of their text,
    begun anywhere in an utterance. Every frame is to be learnt, so any part may serve as a prompt.
    """
    builder, first = _Builder(0, marked=False), draw.choice(person)  # VoXtream has no marks
    start = _starting_at(first, draw.randrange(len(first.tokens)))
    codes = [builder.add(start, window)]
    codes += _filled(builder, person, draw, window, ends=draw.random() < ENDING)
    return builder.lesson(codes, draw, draw.choice(person).vector)


def _starting_at(utterance: VoxtreamUtterance, frame: int) -> VoxtreamUtterance:
    """Return an utterance from a speech frame on. Its first token advances by one phone, because
    its phones begin with that frame's. Marks keep their old places, so they must not be used.
    """
    first, last = utterance.spans()[frame].tolist()
    tokens = utterance.tokens[frame:].copy()
    tokens[0] = GO_ON + last - first
    return replace(
        utterance,
        codes=utterance.codes[:, frame:],
        tokens=tokens,
        phones=utterance.phones[first:],
        nuclei=utterance.nuclei[first:],
    )


def _filled(
    builder: "_Builder",
    person: Sequence[VoxtreamUtterance],
    draw: random.Random,
    room: int,
    *,
    ends: bool,
) -> list[npt.NDArray[np.int16]]:
    """Add utterances of a speaker until `room` frames are full, or, with `ends`, end the text
    within them. Return the utterances' codes [K, T].
    """
    codes = []
    while builder.frames < room:
        utterance = draw.choice(person)
        if ends and builder.frames and utterance.frames > room - builder.frames:
            break
        codes.append(builder.add(utterance, room))
    if ends and builder.complete and codes:
        codes[-1] = codes[-1][:, : codes[-1].shape[1] - builder.close()]
    return codes


def one_utterance(
    utterance: VoxtreamUtterance,
    person: Sequence[VoxtreamUtterance],
    draw: random.Random,
    prompt: int,
) -> VoxtreamLesson:
    """Return the lesson of a complete utterance after a prompt of at most `prompt` frames; 0 = a
    lesson of VoXtream, whose prompts have their text, so that an utterance needs none before it.
    """
    if not prompt:
        builder, speaker = _Builder(0, marked=False), draw.choice(person).vector
        return builder.lesson((builder.add(utterance, utterance.frames),), draw, speaker)
    opening, speaker = _prompt(person, draw, prompt)
    builder = _Builder(opening.shape[1])
    codes = (opening, builder.add(utterance, utterance.frames))
    return builder.lesson(codes, draw, speaker)


def _prompt(
    person: Sequence[VoxtreamUtterance], draw: random.Random, frames: int
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """Draw a prompt of at most `frames` frames. Return its codes [K, T] and its speaker's unit
    vector.
    """
    utterances = [draw.choice(person) for _ in range(1 + frames // 12)]
    codes = np.concatenate([utterance.prompt for utterance in utterances], axis=1)[:, :frames]
    return codes, mean_vector(utterances)


class _Builder:
    """Builds a lesson: a prompt to which utterances are appended."""

    def __init__(self, prompt_frames: int, *, marked: bool = True) -> None:
        self._prompt, self._marked = prompt_frames, marked
        self._text: list[int] = []  # after the prompt's masked phones
        self._places: list[int] = []  # of phones in the text
        self._spans: list[tuple[int, int]] = []  # phones of every frame
        self._tokens: list[int] = []
        self._spoken = 0  # phones of utterances that are complete
        self._last_speech = 0  # frames up to the last utterance's end of speech
        self.complete = False  # the last utterance fitted completely

    @property
    def frames(self) -> int:
        return len(self._spans)

    def add(self, utterance: VoxtreamUtterance, most: int) -> npt.NDArray[np.int16]:
        """Append as much of an utterance as `most` frames in all leave room for. Return the codes
        [K, T] of the appended frames.
        """
        marks = {int(n): int(number) for n, number in utterance.marks if self._marked}
        for count, phone in enumerate(utterance.phones.tolist()):
            self._places.append(len(self._text))
            self._text.append(phone)
            if count + 1 in marks:
                self._text.append(marks[count + 1])
        spans = [
            (self._spoken + first, self._spoken + last)
            for first, last in utterance.spans().tolist()
        ]
        pause = utterance.frames - len(spans)
        last = self._spoken + len(utterance.phones) - 1
        frames = min(utterance.frames, most - self.frames)
        self.complete = frames == utterance.frames
        self._last_speech = self.frames + len(spans)
        self._spans += (spans + [(last, last)] * pause)[:frames]
        self._tokens += ([int(token) for token in utterance.tokens] + [STAY] * pause)[:frames]
        self._spoken += len(utterance.phones)
        return utterance.codes[:, :frames]

    def close(self) -> int:
        """End the text after the last utterance. Return how many of that utterance's last frames
        are dropped.
        """
        unused = self.frames - self._last_speech - CLOSING_FRAMES
        del self._spans[self._last_speech :], self._tokens[self._last_speech :]
        for number, mark in ((self._spoken, SILENCE), (self._spoken + 1, EOS)):
            self._places.append(len(self._text))
            self._text.append(mark)
            self._spans.append((number, number))
            self._tokens.append(GO_ON)
        return unused

    def lesson(
        self,
        codes: Sequence[npt.NDArray[np.int16]],
        draw: random.Random,
        speaker: npt.NDArray[np.float32],
    ) -> VoxtreamLesson:
        """Return the lesson. `codes` [K, T] are those of the prompt and of each
        appended utterance.
        """
        lead = self._prompt + 1
        furthest = max(last for _, last in self._spans) + draw.randint(MIN_AHEAD, MAX_AHEAD)
        known = [*self._places, len(self._text) - 1][min(furthest, len(self._places))] + 1
        text = [BOS, *[UNKNOWN] * self._prompt, *self._text[:known]]
        rows = [(column, column) for column in range(lead)]
        rows += [(lead + self._places[a], lead + self._places[b]) for a, b in self._spans[:-1]]
        return VoxtreamLesson(
            np.asarray(text),
            np.asarray(rows),
            np.concatenate(codes, axis=1).astype(np.int64),
            np.asarray([-1] * self._prompt + self._tokens),
            self._prompt,
            speaker,
        )
