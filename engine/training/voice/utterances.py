"""Encoded utterances in memory, and the sequences the voice is trained on.

A sequence is a prompt without text, then utterances of the same speaker until the window is full:
    columns      0 .. P          P + 1 ..
    phones       bos, masked     the phones each frame speaks
    codes        prompt's        what was said, one column later (acoustic codes two)
Invariant: a sequence is exactly what a session of `engine.tts.voxtream` would have fed to its
model.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.training.encoded import People
from engine.training.voice.frames import CLOSING_FRAMES, Ints, spans
from engine.tts.phones import BOS, EOS, SILENCE, UNKNOWN

GO_ON: Final = 2  # the token (1, 1): one phone further, one phone in the frame
STAY: Final = 0  # the token (0, 1)
ENDING: Final = 0.4  # share of lessons in which the text ends
MIN_AHEAD, MAX_AHEAD = 3, 20  # phones known beyond a window's end


@dataclass(frozen=True)
class Encoded:
    """One utterance: codes and prompt codes [K, T], a token per speech frame, phone ids; `place` is
    its number in the shard.
    """

    place: int
    speaker: int
    codes: npt.NDArray[np.int16]
    prompt: npt.NDArray[np.int16]
    vector: npt.NDArray[np.float32]
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


@dataclass(frozen=True)
class Lesson:
    """One training sequence. `text` is what the phone transformer reads, `rows` where each column's
    two phones stand in it; labels are -1 where nothing is to be learnt.
    """

    text: Ints  # [P]
    rows: Ints  # [T, 2]
    codes: Ints  # [K, T] of the frames
    tokens: Ints  # [T] the token drawn at each column
    prompt_frames: int
    speaker: npt.NDArray[np.float32]


def person_of(people: People[Encoded], draw: random.Random) -> tuple[Encoded, ...]:
    """The utterances of a random speaker, weighted by how much they said."""
    weights = [sum(utterance.frames for utterance in person) for person in people.values()]
    return draw.choices(list(people.values()), weights)[0]


def sequence(person: Sequence[Encoded], draw: random.Random, window: int, prompt: int) -> Lesson:
    """A sequence of at most `window` frames, of which up to `prompt` are the prompt."""
    opening, speaker = _prompt(person, draw, prompt)
    builder = _Builder(opening.shape[1])
    room, ends = window - opening.shape[1], draw.random() < ENDING
    codes = (opening, *_filled(builder, person, draw, room, ends=ends))
    return builder.lesson(codes, draw, speaker)


def stretch(person: Sequence[Encoded], draw: random.Random, window: int) -> Lesson:
    """At most `window` frames of one speaker with all their text, begun anywhere in an utterance:
    VoXtream's lesson, in which every frame is to be learnt and any part may be a prompt.
    """
    builder = _Builder(0, marked=False)  # VoXtream has no marks
    first = draw.choice(person)
    start = begun_at(first, draw.randrange(len(first.tokens)))
    codes = [builder.add(start, window)]
    codes += _filled(builder, person, draw, window, ends=draw.random() < ENDING)
    return builder.lesson(codes, draw, draw.choice(person).vector)


def begun_at(utterance: Encoded, frame: int) -> Encoded:
    """The rest of an utterance without marks from a speech frame on. Its first token advances by
    one phone, because its phones begin with that frame's.
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
    builder: "_Builder", person: Sequence[Encoded], draw: random.Random, room: int, *, ends: bool
) -> list[npt.NDArray[np.int16]]:
    """Codes [K, T] of utterances until the room is full, or of a text that `ends` within it."""
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
    utterance: Encoded, person: Sequence[Encoded], draw: random.Random, prompt: int
) -> Lesson:
    """The sequence of one whole utterance after at most `prompt` frames of prompt."""
    opening, speaker = _prompt(person, draw, prompt)
    builder = _Builder(opening.shape[1])
    codes = (opening, builder.add(utterance, utterance.frames))
    return builder.lesson(codes, draw, speaker)


def behind_another(
    utterance: Encoded, person: Sequence[Encoded], draw: random.Random, prompt: int
) -> Lesson:
    """VoXtream's sequence of one whole utterance: its prompt is at most the last `prompt` frames of
    speech of another, with their text.
    """
    builder = _Builder(0, marked=False)
    other = draw.choice(person)
    opening = begun_at(other, max(0, len(other.tokens) - prompt))
    most = opening.frames + utterance.frames
    codes = (builder.add(opening, most), builder.add(utterance, most))
    lesson = builder.lesson(codes, draw, draw.choice(person).vector)
    return replace(lesson, prompt_frames=opening.frames)


def _prompt(
    person: Sequence[Encoded], draw: random.Random, frames: int
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """Codes [K, T] of a prompt of at most `frames` frames, and its speaker's unit vector."""
    utterances = [draw.choice(person) for _ in range(1 + frames // 12)]
    codes = np.concatenate([utterance.prompt for utterance in utterances], axis=1)[:, :frames]
    vector = np.mean([utterance.vector for utterance in utterances], axis=0)
    return codes, (vector / (np.linalg.norm(vector) + 1e-9)).astype(np.float32)


class _Builder:
    """Appends utterances to a prompt: text, rows of each column, tokens."""

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

    def add(self, utterance: Encoded, most: int) -> npt.NDArray[np.int16]:
        """Add as much of an utterance as there is room for; return the codes [K, T] that were
        used."""
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
        """End the text after the last utterance; return how many of its last frames are not
        used."""
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
    ) -> Lesson:
        """What was appended, with its codes [K, T] in parts, those of the prompt first."""
        whole = np.concatenate(codes, axis=1).astype(np.int64)
        text, rows, tokens = self._built(draw)
        return Lesson(text, rows, whole, tokens, self._prompt, speaker)

    def _built(self, draw: random.Random) -> tuple[Ints, Ints, Ints]:
        """Text with the prompt's masked phones, rows [T, 2] of all columns, tokens [T]."""
        lead = self._prompt + 1
        furthest = max(last for _, last in self._spans) + draw.randint(MIN_AHEAD, MAX_AHEAD)
        place = self._places[min(furthest, len(self._places) - 1)] + 1
        if furthest >= len(self._places):
            place = len(self._text)
        text = [BOS, *[UNKNOWN] * self._prompt, *self._text[:place]]
        columns = [(column, column) for column in range(lead)]
        columns += [(lead + self._places[a], lead + self._places[b]) for a, b in self._spans[:-1]]
        tokens = [-1] * self._prompt + self._tokens
        return np.asarray(text), np.asarray(columns), np.asarray(tokens)
