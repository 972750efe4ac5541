"""The mind: a history goes in, words go to the speaker as the language model writes them.

Invariant: a reply is given up between two deltas as soon as its task is no longer `live`; nothing
of another task is ever passed on, and nothing of a task that was not yet asked to `perform`. While
nobody has the floor the model gets ready for the next question, a slice at a time.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import assert_never

from engine.errors import EngineError, LanguageModelError
from engine.llm.base import Delta, LanguageModel, Message, Role, Situation, TextDelta
from engine.messages import Event, Loading, Part, Ready
from engine.runtime.happenings import ActionAsked, Happening, PartFailed, ReplyGrew, WordsReady
from engine.runtime.parts import Parts
from engine.runtime.speaker import EndWords, Order, SayWords
from engine.runtime.unloaded import unloaded
from engine.runtime.worker import Worker
from engine.settings import LanguageModelSettings
from engine.text.pace_tags import OFFER
from engine.text.paced import Growth, PacedText

READY = "ready"
BUILT_IN = "skills"  # needs no download, so it stands in when another one will not load


@dataclass(frozen=True)
class LoadLanguageModel:
    settings: LanguageModelSettings


@dataclass(frozen=True)
class Answer:
    """Reply to the last message of `history`; tasks are numbered from 1 on."""

    number: int
    turn: int
    history: tuple[Message, ...]


@dataclass(frozen=True)
class ReadOut:
    """Speak `text` as it is: a timer, for example."""

    number: int
    turn: int
    text: str


@dataclass(frozen=True)
class GetReady:
    """The next question will follow this history; the model may use the quiet until then."""

    history: tuple[Message, ...]


@dataclass(frozen=True)
class _Perform:
    """Let out what is held back of this task."""

    number: int


Task = LoadLanguageModel | Answer | ReadOut | GetReady | _Perform


class Thinker:
    """Owns the language model."""

    def __init__(
        self,
        parts: Parts,
        tell: Callable[[Happening | Event], None],
        say: Callable[[Order], None],
        situation: Callable[[], Situation],
    ) -> None:
        self._parts = parts
        self._tell = tell
        self._say = say
        self._situation = situation
        self._model: LanguageModel | None = None  # None until one is loaded
        self.pacing = True  # whether words of the next reply have paces of their own
        self.at_ease = True  # nobody has the floor; set by the conductor
        self._readying: Generator[None, None, None] | None = None  # None = ready, or not asked to
        self.live = 0  # number of the task worth thinking about; set by the conductor
        self._aloud = 0  # number of the last task that may be heard
        self._number = 0  # of the last task begun
        self._history: tuple[Message, ...] = ()  # after which the next question comes
        self._held: list[Callable[[], None]] = []  # what it would say, tell and do
        self._turn: int | None = None  # the turn being worked on; None = none
        self._text = PacedText(pacing=True)
        self._worker: Worker[Task] = Worker(
            "thinker", handle=self._handle, tick=self._tick, report=self._report
        )

    def start(self) -> None:
        self._worker.start()

    def post(self, task: Task) -> None:
        self._worker.post(task)

    def perform(self, number: int) -> None:
        """Let the task of this number be heard, whatever it has come to; from any thread."""
        self._aloud = number
        self.post(_Perform(number))

    def stop(self, timeout_s: float) -> bool:
        """Give up the reply, end the thread, release the model."""
        self.live = -1
        ended = self._worker.stop(timeout_s)
        if ended and self._model:
            self._rest()
            self._model.close()
        return ended

    def _handle(self, task: Task) -> None:
        match task:
            case LoadLanguageModel(settings):
                self._rest()
                self._load(settings)
                self._get_ready()
            case GetReady(history):
                self._history = history
                self._get_ready()
            case Answer(number, turn, history):
                self._begin(number, turn)
                self._answer(turn, history)
            case ReadOut(number, turn, text):
                self._begin(number, turn)
                self._pass_on(turn, iter((TextDelta(text),)))
            case _Perform(number):
                if number == self._number:
                    self._let_out()
            case _:
                assert_never(task)

    def _load(self, settings: LanguageModelSettings) -> None:
        self._tell(Loading(Part.LANGUAGE_MODEL, f"Loading {settings.engine}"))
        try:
            model = self._parts.language_model(settings)
        except Exception as error:  # noqa: BLE001 - whatever a library raises, another stands in
            self._tell(PartFailed(Part.LANGUAGE_MODEL, unloaded(Part.LANGUAGE_MODEL, error)))
            if self._model is None and settings.engine != BUILT_IN:
                self._load(replace(settings, engine=BUILT_IN, model=""))
            return
        if self._model:
            self._model.close()
        self._model = model
        self._tell(Ready(Part.LANGUAGE_MODEL, model.info.name, model.info.detail))

    def _get_ready(self) -> None:
        self._rest()
        if self._model is not None:
            self._readying = self._model.warm(self._told(self._history))

    def _rest(self) -> None:
        """Get ready no further; what was done for it is kept by the model."""
        readying, self._readying = self._readying, None
        if readying is not None:
            readying.close()

    def _tick(self) -> float | None:
        """Get a little readier, unless somebody speaks, who needs the processor more."""
        if self._readying is None:
            return None
        if self.at_ease:
            with suppress(LanguageModelError):  # the next reply will meet and tell it
                if next(self._readying, READY) is None:
                    return 0.0
        self._rest()
        return None

    def _begin(self, number: int, turn: int) -> None:
        self._rest()
        self._number, self._turn = number, turn
        self._held.clear()
        self._text = PacedText(pacing=self.pacing)

    def _answer(self, turn: int, history: Sequence[Message]) -> None:
        if self._model is None:
            raise LanguageModelError(
                "There is nothing to answer with.", hint="Choose a language model in the settings."
            )
        if self.live != self._number:
            return
        with closing(self._model.reply(self._told(history), self._situation)) as deltas:
            self._pass_on(turn, deltas)

    def _told(self, history: Sequence[Message]) -> Sequence[Message]:
        """What the model is told of a history."""
        return (Message(Role.SYSTEM, OFFER), *history) if self.pacing else history

    def _pass_on(self, turn: int, deltas: Iterator[Delta]) -> None:
        for delta in deltas:
            if self.live != self._number:
                return
            self._let_out()
            if isinstance(delta, TextDelta):
                if not delta.text:  # a sign of life: the model is still at work
                    continue
                self._grow(turn, self._text.push(delta.text))
            else:
                self._hold(partial(self._tell, ActionAsked(turn, delta)))
        if self.live == self._number:
            self._end_words(turn)

    def _end_words(self, turn: int) -> None:
        self._grow(turn, self._text.end())
        self._hold(partial(self._say, EndWords(turn)))

    def _grow(self, turn: int, growth: Growth) -> None:
        """Show and say what became certain of the reply."""
        if growth.text:
            self._hold(partial(self._tell, ReplyGrew(turn, growth.text, time.monotonic())))
        if growth.words:
            ready = WordsReady(turn, growth.words, time.monotonic())
            self._hold(partial(self._tell, ready))
            self._hold(partial(self._say, SayWords(turn, growth.words)))

    def _hold(self, passing_on: Callable[[], None]) -> None:
        self._held.append(passing_on)
        self._let_out()

    def _let_out(self) -> None:
        """Pass on what is held back, if it may be heard."""
        if self._aloud == self._number == self.live:
            held, self._held = self._held, []
            for passing_on in held:
                passing_on()

    def _report(self, error: Exception) -> None:
        """Tell the fault; what was already written is spoken to its end."""
        turn = self._turn
        if not isinstance(error, EngineError):
            error = LanguageModelError(
                f"The language model failed: {error}", hint="Ask again, or choose another model."
            )
        # First: a reply without words is over at once, and must be known to have failed by then.
        failed = partial(self._tell, PartFailed(Part.LANGUAGE_MODEL, error, turn))
        if turn is None:
            failed()
            return
        self._hold(failed)
        self._end_words(turn)
