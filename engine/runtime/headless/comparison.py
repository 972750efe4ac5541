"""Speak one text, word by word, with each system in turn, and measure it.

Everything happens on the calling thread; one model is loaded at a time. The figures are those of
engine/tts/delays.py, as on the page that compares the systems, at their own pace.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from engine.audio.base import Loudspeaker
from engine.errors import DeviceError, EngineError, InvalidInput
from engine.export import write_comparison
from engine.messages.comparison import Compared, ComparisonState, Recital
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.offline_synthesis import Clock
from engine.runtime.headless.say_command import check_writable, opened_loudspeaker, play, write_wav
from engine.settings import Settings, systems
from engine.settings.systems import ESPEAK, KOKORO, LLMVOX_PUBLISHED, STARTER, SYSTEMS
from engine.text.paced import PacedText
from engine.text.speakable import check_length, nothing_to_say
from engine.text.word import Word
from engine.translatable import Translatable, joined
from engine.tts import delays
from engine.tts.base import AudioFrame, Onset, TtsModel, Voice

logger = logging.getLogger(__name__)
_COMPARED: Final = (*(each.name for each in SYSTEMS), LLMVOX_PUBLISHED, ESPEAK, KOKORO)
# The built-in voice stands for the system of its paper.
TITLES: Final = {STARTER: "VoXtream2", **{name: systems.TITLES[name] for name in _COMPARED}}
LONGEST_TEXT: Final = 1_000  # characters
LONGEST_DELAY_MS: Final = 5_000.0
_SHOWN_S: Final = 0.2  # between two reports of a row while a system speaks
_LOST: Final = Translatable("It did not stop, and was cut off.")

Tell = Callable[[Compared], None]


def compare(
    text: str,
    settings: Settings,
    recital: Recital,
    tell: Tell = lambda row: None,
    *,
    factories: Factories | None = None,
    clock: Clock | None = None,
) -> tuple[Compared, ...]:
    """Speak the text with every system, and return their rows; `tell` gets all rows first, then
    each as it grows. A system that cannot be loaded or fails is a row with a note. InvalidInput for
    an invalid text, delay, name or path; DeviceError for the loudspeaker.
    """
    words = _checked(text, recital)
    factories, clock = factories or standard_factories(), clock or Clock()
    names = [name for name in TITLES if name in (recital.only or TITLES)]
    rows = {name: Compared(name, TITLES[name]) for name in names}
    for row in rows.values():
        tell(row)
    speaks = opened_loudspeaker(settings, factories) if recital.aloud else nullcontext()
    with speaks as loudspeaker:
        stage = _Stage(words, recital, settings, factories, clock, loudspeaker)
        for name, row in rows.items():
            rows[name] = stage.perform(row, tell)
            tell(rows[name])
    if recital.table is not None:
        write_comparison(tuple(rows.values()), recital.table)
    return tuple(rows.values())


def _checked(text: str, recital: Recital) -> tuple[Word, ...]:
    """Return the words of a text after checking the options."""
    check_length(text, LONGEST_TEXT)
    if not 0 <= recital.word_delay_ms <= LONGEST_DELAY_MS:
        raise InvalidInput("The delay between words must be from 0 to 5 seconds.")
    if unknown := [name for name in recital.only if name not in TITLES]:
        raise InvalidInput(
            "There is no synthesiser called '{name}'.",
            hint="There are: {names}.",
            name=unknown[0],
            names=", ".join(TITLES),
        )
    files = (recital.folder and recital.folder / "voice.wav", recital.table)
    for file in filter(None, files):
        check_writable(file)
    stream = PacedText(pacing=False)
    words = (*stream.push(text).words, *stream.end().words)
    if not words:
        raise nothing_to_say(left_out=stream.left_out)
    return words


@dataclass(frozen=True)
class _Stage:
    """The common input of all systems."""

    words: tuple[Word, ...]
    recital: Recital
    settings: Settings
    factories: Factories
    clock: Clock
    loudspeaker: Loudspeaker | None  # None = nothing is played, so nothing waits

    def perform(self, row: Compared, tell: Tell) -> Compared:
        """Load one system and let it speak."""
        tell(replace(row, state=ComparisonState.LOADING))
        speech = replace(self.settings.speech, engine=row.name, voice="")
        try:
            with closing(self.factories.synthesiser(speech, lambda text, share: None)) as model:
                voice = model.voices()[0]
                model.warm(voice)
                row = replace(row, state=ComparisonState.SPEAKING, voice=voice.name)
                return self._spoken(row, model, voice, tell)
        except DeviceError:
            raise
        except EngineError as error:
            note = joined((error.message, error.hint)) if error.hint else error.message
        except Exception as error:  # whatever a library raises, the other systems go on
            logger.exception("comparison failed system=%s", row.name)
            note = Translatable("It failed: {error}.", error=error)
        return replace(row, state=ComparisonState.ABSENT, note=note)

    def _spoken(self, row: Compared, model: TtsModel, voice: Voice, tell: Tell) -> Compared:
        take = _Take(self, row, model, voice, tell)
        tell(row)
        sample_rate = model.info.sample_rate
        if self.loudspeaker is not None:
            lead_ms = max(self.settings.audio.lead_ms, model.info.lead_ms, 1)
            play(take, self.loudspeaker, sample_rate=sample_rate, lead_ms=lead_ms, clock=self.clock)
        else:
            for _ in take.frames(self.clock.wait):
                pass
        if self.recital.folder is not None and take.made:
            pcm = np.concatenate([each.frame.pcm for each in take.made])
            write_wav(self.recital.folder / f"{row.name}.wav", [pcm], sample_rate)
        return replace(take.row(), state=ComparisonState.DONE)


@dataclass
class _Take:
    """One system's utterance."""

    stage: _Stage
    before: Compared  # its row before it spoke
    model: TtsModel
    voice: Voice
    tell: Tell
    made: list[delays.TimedFrame] = field(default_factory=list)
    lost: bool = False

    def frames(self, wait: Callable[[float], None]) -> Iterator[AudioFrame]:
        """See Spoken."""
        texts = [word.text for word in self.stage.words]
        left_s = delays.longest_s(texts)
        began = shown_at = self.stage.clock.now()
        delay_s = self.stage.recital.word_delay_ms / 1000

        def await_word(number: int) -> None:
            if self.stage.loudspeaker is not None:
                wait(max(0.0, began + number * delay_s - self.stage.clock.now()))

        with self.model.open(self.voice, seed=self.stage.settings.speech.seed) as session:
            for each in delays.speak(session, texts, await_word):
                self.made.append(each)
                left_s -= len(each.frame.pcm) / self.model.info.sample_rate
                self.lost = left_s < 0
                if self.stage.clock.now() >= shown_at + _SHOWN_S or len(self.made) == 1:
                    shown_at = self.stage.clock.now()
                    self.tell(self.row())
                yield each.frame
                if self.lost:
                    return

    def word(self, onset: Onset) -> Word:
        """Return the word of an onset."""
        return self.stage.words[onset.word]

    def row(self) -> Compared:
        """Return the row so far."""
        if not self.made:
            return self.before
        texts = [word.text for word in self.stage.words]
        trace = delays.traced(texts, self.made, self.model.info.sample_rate)
        found = delays.timing(trace, self.stage.recital.word_delay_ms / 1000)
        begin_s, end_s = trace.speech
        begun = sum(len(each.frame.onsets) for each in self.made)  # words
        syllables = delays.syllables_of(texts[:begun])
        rate = syllables / (end_s - begin_s) if end_s > begin_s else None
        return replace(
            self.before,
            first_sound_ms=1000 * found.first_audible_s,
            words_before=delays.words_before_sound(trace),
            share=delays.real_time_factor(trace),
            rate=rate,
            seconds=sum(frame.seconds for frame in trace.frames),
            dry_ms=1000 * found.dry_s,
            note=_LOST if self.lost else "",
        )
