"""The measured rate two seconds after a move of the slider, against the places of the phones.

    python -m tests.benchmarks.measured_rate [--engine kokoro] [--seed 7] [--moves 10]

Moves the slider in each of four texts, between 1.5 and 7 syllables a second, while the speaker's
own thread plays them through a loudspeaker on a clock that is stepped by hand. The true rate is
that of the speech since the move is heard, without a silence at its end; the phones come from the
synthesiser, the syllables are divided here: one consonant, or half of several, begins a syllable.
"""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from engine.messages.events import RateMeasured
from engine.runtime.turn import playback, reply
from engine.runtime.turn.orders import UseDevice
from engine.runtime.turn.reply import LiveControls
from engine.runtime.workers.voice import reserve
from engine.runtime.workers.voice.orders import SayWords
from engine.runtime.workers.voice.speech_worker import SpeechWorker
from engine.settings import SpeechSettings
from engine.settings.systems import KOKORO
from engine.text.phonemes import is_nucleus
from engine.text.word import Word
from engine.tts import registry
from engine.tts.espeak import articulation
from engine.tts.espeak.cutting import cut
from engine.tts.espeak.model import EspeakSession
from engine.tts.kokoro.session import KokoroSession
from engine.tts.kokoro.symbols import MARKS, SPACE
from engine.tts.session import Session
from tests.help.fakes.parts import RATE, FakeParts
from tests.help.fakes.stepped_clock import SteppedClock

TEXTS = (
    "We walk along the river and look at the boats, because they are under way again. The old man "
    "at the lock waves to us, and his dog runs after a ball that somebody threw into the grass. ",
    "International organisations occasionally underestimate administrative responsibilities. "
    "Unfortunately, characteristically enthusiastic representatives communicate extraordinarily "
    "complicated recommendations. ",
    "It was late. The rain fell. She ran home. No one was there. The cat sat on the mat. He had a "
    "plan. We all knew why. Go to bed now. They said yes. I can not see it. The door was shut. ",
    "I am unbelievably tired. The university's refrigerator broke, so Ann called an electrician; "
    "he came at once. Yes. It took approximately seventeen minutes. Good! We ate. ",
)
AFTER_S, TICK = 2.0, RATE // 100


@dataclass(frozen=True)
class Phone:
    """Samples at which a phone begins and ends; `word`: the same for all phones of a word."""

    begin: float
    end: float
    vowel: bool
    word: Any


@dataclass
class Truth:
    """The phones of an utterance, and where the newest rate begins."""

    phones: list[Phone] = field(default_factory=list)
    moved: int = 0

    def take_back(self, sample: int) -> None:
        kept = (each for each in self.phones if each.begin < sample)
        self.phones = [replace(each, end=min(each.end, sample)) for each in kept]

    def syllables(self) -> Iterator[tuple[float, float]]:
        words = defaultdict(list)
        for phone in self.phones:
            words[phone.word].append(phone)
        for phones in words.values():
            vowels = [place for place, phone in enumerate(phones) if phone.vowel]
            inner = [phones[a + 1 + (b - a - 1) // 2].begin for a, b in pairwise(vowels)]
            if vowels:
                yield from pairwise([phones[0].begin, *inner, phones[-1].end])

    def rate(self, now: int, sample_rate: int) -> float | None:
        heard = [(b, min(e, now), e - b) for b, e in self.syllables() if b < now and e > self.moved]
        if not heard:
            return None
        count = sum((end - max(begin, self.moved)) / length for begin, end, length in heard)
        return count * sample_rate / (max(end for _, end, _ in heard) - self.moved)


def pieces(last: SimpleNamespace) -> Iterator[Any]:
    """Patches that note what the formant voice cuts out of a context, in `last`."""
    stretch = articulation._stretch
    hear, speak = articulation.Articulation._hear, articulation.Articulation.speak

    def on_cut(speech: Any, context: Any) -> Any:
        last.speech, last.cut = speech, cut(speech, context)
        return last.cut

    def on_stretch(*given: Any) -> Any:
        last.stretch = stretch(*given)
        return last.stretch

    def on_hear(self: Any, body: Any) -> Any:
        last.dropped = hear(self, body)
        return last.dropped

    def on_speak(self: Any, piece: Any, *given: Any) -> Any:
        last.cut = None
        sound = speak(self, piece, *given)
        last.pcm, last.word = sound[0], piece.word
        return sound

    yield patch.object(articulation, "cut", on_cut)
    yield patch.object(articulation, "_stretch", on_stretch)
    yield patch.object(articulation.Articulation, "_hear", on_hear)
    yield patch.object(articulation.Articulation, "speak", on_speak)


def formant_phones(truth: Truth) -> Iterator[Any]:
    """Patches by which the formant voice writes its phones to `truth`."""
    append, last = EspeakSession._append, SimpleNamespace(pcm=None)

    def on_append(self: Any, pcm: Any) -> None:
        if last.pcm is pcm and last.cut:
            start, begin = self._made - last.dropped, last.cut.span.start
            for phone, following in pairwise(last.speech.phones):
                if phone.ipa and begin <= phone.sample < last.cut.span.end:
                    ends = (phone.sample, min(following.sample, last.cut.span.end))
                    first, end = (start + (each - begin) * last.stretch for each in ends)
                    first, word = max(self._made, first), (self._made, last.word)
                    truth.phones.append(Phone(first, end, is_nucleus(phone.ipa), word))
        append(self, pcm)

    yield from pieces(last)
    yield patch.object(EspeakSession, "_append", on_append)
    yield patch.object(EspeakSession, "rewind", rewound(truth, EspeakSession.rewind))


def kokoro_phones(truth: Truth) -> Iterator[Any]:
    """Patches by which Kokoro writes its phones to `truth`."""
    reported = KokoroSession._reported

    def on_reported(self: Any, state: Any, places: Any) -> Any:
        plan, first = state.plan, state.done
        for place, symbol in enumerate(plan.script.text):
            begin, end = (int(edge) for edge in plan.edges[place : place + 2])
            low, high = max(begin, first), min(end, first + len(places) - 1)
            if high <= low or symbol in MARKS or symbol == SPACE or plan.script.pauses[place]:
                continue
            start, word = int(places[low - first]), (state.first, plan.script.words[place])
            if begin < first and truth.phones and truth.phones[-1].word == word:
                start = int(truth.phones.pop().begin)  # its beginning was in the last window
            vowel = bool(plan.script.nuclei[place])
            truth.phones.append(Phone(start, int(places[high - first]), vowel, word))
        return reported(self, state, places)

    yield patch.object(KokoroSession, "_reported", on_reported)
    yield patch.object(KokoroSession, "_go_back", rewound(truth, KokoroSession._go_back))


def rewound(truth: Truth, rewind: Any) -> Any:
    """Return a rewind that takes back phones, too."""

    def on_rewind(self: Any, sample: int) -> Any:
        before = list(truth.phones)  # a part of them is reported again meanwhile
        end = rewind(self, sample)
        truth.phones = before
        if end is not None:
            truth.take_back(end)
        return end

    return on_rewind


def restarts(truth: Truth) -> Any:
    """A patch that notes where the newest rate begins."""
    note = Session._note_rate

    def on_note(self: Any) -> None:
        if self._rate != self._noted_rate:
            truth.moved = self._made
        note(self)

    return patch.object(Session, "_note_rate", on_note)


def measure(engine: str, text: str, moves: Sequence[float], draw: random.Random) -> Iterator[str]:
    """Yield the line of each move, and its error in %."""
    truth, clock, parts, told = Truth(), SteppedClock(), FakeParts(), list[Any]()
    factories = replace(parts.factories(), synthesiser=registry.load)
    controls = LiveControls(lead_ms=240)
    controls.rate = moves[0]
    time = SimpleNamespace(monotonic=clock)
    patches = [
        *(kokoro_phones(truth) if engine == KOKORO else formant_phones(truth)),
        restarts(truth),
        *(patch.object(module, "time", time) for module in (playback, reply, reserve)),
    ]
    for each in patches:
        each.start()
    speaker = SpeechWorker(factories, told.append, controls)
    words = tuple(Word(word, 0, 0) for word in text.split())
    said = SayWords(reply.Reply(1, controls, aloud=True), words, last=True)
    for order in (SpeechSettings(engine=engine), UseDevice(""), said):
        speaker._handle(order)

    def run(seconds: float) -> None:
        for _ in range(round(seconds * 100)):
            while speaker._tick() == 0.0:
                pass
            parts.loudspeakers[""].play(TICK)
            clock.advance(0.01)

    run(1.0)
    for before, rate in pairwise(moves):
        run(draw.uniform(0.4, 1.4))
        controls.rate = rate
        run(AFTER_S)
        utterance = speaker._utterance
        assert utterance is not None, "the text is too short"
        heard, sample_rate = utterance.playback._heard_sample(), utterance.playback._model_rate
        true = truth.rate(heard, sample_rate)
        shown = [event.measured for event in told if isinstance(event, RateMeasured)][-1]
        error = f"{100 * (shown / true - 1):+.1f}" if shown and true else "-"
        yield f"{before:.1f} -> {rate:.1f}: true {true or 0:.2f}, shown {shown or 0:.2f} {error}"
    for each in patches:
        each.stop()
    speaker._release()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", default=registry.BUILT_IN, choices=(registry.BUILT_IN, KOKORO))
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--moves", type=int, default=10, help="in each text")
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    errors = []
    for text in TEXTS:
        moves = [draw.uniform(1.5, 7.0) for _ in range(asked.moves + 1)]
        for line in measure(asked.engine, text * asked.moves, moves, draw):
            sys.stdout.write(line + "\n")
            errors.append(line.split()[-1])
    found = np.abs([float(error) for error in errors if error != "-"])
    sys.stdout.write(
        f"{len(errors)} moves, {len(found)} shown: median error {np.median(found):.1f} %, largest "
        f"{found.max():.1f} %, within 5 %: {(found <= 5).sum()}\n"
    )


if __name__ == "__main__":
    main()
