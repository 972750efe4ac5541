"""Run the language model: a history goes in, words go to the speaker as they are written.

Invariant: a reply that has ended (reply.py) is dropped between two deltas; nothing of it is passed
on after that, and nothing before it is `aloud`. While the floor is free, the model prepares for
the next question, a slice at a time.
"""

import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import assert_never

from engine.characters import WholeCharacters
from engine.errors import Cancelled, EngineError, LanguageModelError
from engine.history.subject import written_title
from engine.languages import ENGLISH
from engine.llm import base as llm
from engine.messages.events import Event, Failed, ModelWanted, Notice, ReplyRetracted, Thought
from engine.messages.words import Part
from engine.names_file import in_force
from engine.runtime.factories import Factories
from engine.runtime.turn import facts
from engine.runtime.turn.reply import Reply
from engine.runtime.workers.loaded_part import LoadedPart
from engine.runtime.workers.voice.orders import SayWords, SpeechOrder, Unsay
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import AUTO, LanguageModelSettings, load_key
from engine.text.names import Name, Names
from engine.text.paced import Growth, PacedText
from engine.text.speakable import LEFT_OUT
from engine.translatable import Progress, Translatable

STILL_LOADING = Translatable("The language model's server is still loading its model.")
QUIET_S = 8.0  # without a word, before a title is requested
TITLE_WANTED = "Name the subject of this conversation in two to five words, nothing else."
MOST_DELTAS = 60  # of a title; a model that reasons for longer gives none
BUILT_IN = "skills"  # needs no download, so it is the fallback


@dataclass(frozen=True)
class GetReady:
    """The floor is free: prepare for a question after this history. `title`: the start of a
    conversation that needs a title.
    """

    history: tuple[llm.Message, ...]
    title: datetime | None = None


@dataclass(frozen=True)
class Rest:
    """The floor is taken, and its owner needs the processor."""


_OF_REPLY = (facts.ReplyGrew, facts.WordsReady, SayWords)  # the shown, logged and spoken parts

# Settings of a model; a reply to work on, or to release as it is `aloud` now.
Task = LanguageModelSettings | Reply | GetReady | Rest


class LanguageModelWorker(Actor[Task]):
    """Owns the language model."""

    def __init__(
        self,
        factories: Factories,
        tell: Tell,
        say: Callable[[SpeechOrder], None],
        state: Callable[[], llm.AssistantState],
    ) -> None:
        super().__init__("language model", tell)
        self._factories = factories
        self._say = say
        self._state = state
        self._model: LoadedPart[LanguageModelSettings, llm.LanguageModel] = LoadedPart(
            Part.LANGUAGE_MODEL,
            tell,
            load=self._load,
            use=_use,
            size_bytes=factories.size_bytes,
            stand_in=LanguageModelSettings(engine=BUILT_IN),
        )
        self._wanted: LanguageModelSettings | None = None  # None = the chosen one is loaded
        self._chosen = LanguageModelSettings()  # last; used only by the posting thread
        self._choices = 0  # number of choices, and the end; counted by the posting thread
        self._next = GetReady(())  # the history of the next question
        self._at_ease = False  # the floor is free, and nothing else is being loaded
        # yields delays in seconds; None = ready, or not requested
        self._readying: Generator[float, None, None] | None = None
        self._reply: Reply | None = None  # the last one; None = none yet
        self._open: Reply | None = None  # the same until its last word; None = nothing to write
        # of the last reply, also after a voice has cut it: it may go on; None = closed
        self._deltas: Generator[llm.Delta, None, None] | None = None
        self._written = ""  # text of the last reply
        self._held: list[
            SayWords | llm.Remark | facts.Fact | Event
        ] = []  # to send once the reply is aloud
        self._text = PacedText(pacing=True)
        self._thought = WholeCharacters()
        self._private = False  # part of the reply stays on this computer
        self._remarks: set[Translatable] = set()  # already shown

    def post(self, task: Task) -> None:
        if isinstance(task, LanguageModelSettings):
            self._choices += load_key(task) != load_key(self._chosen)
            self._chosen = task
        super().post(task)

    def stop(self, timeout_s: float) -> bool:
        """See Actor; the conductor has ended the reply."""
        self._choices += 1
        return super().stop(timeout_s)

    def _release(self) -> None:
        self._rest()
        self._close_deltas()
        self._model.close()

    def _handle(self, task: Task) -> None:
        match task:
            case LanguageModelSettings():
                self._wanted = task
            case GetReady():
                self._close_deltas()
                self._next, self._at_ease = task, True
                self._get_ready()
            case Rest():
                self._at_ease = False
                self._rest()
            case Reply() if task is self._reply:
                self._send()
            case Reply():
                deltas = self._begin(task)
                while task.ending is None and (delta := next(deltas, None)) is not None:
                    task.move()
                    if isinstance(delta, llm.TextDelta):
                        self._private = self._private or delta.private
                        self._grow(task, self._text.push(delta.text))
                    else:
                        self._on_mark(task, delta)
                if task.ending is None:
                    self._end_words(task)
                    task.written = task.ending is None
                elif not task.ending.by_voice:
                    self._close_deltas()
            case _:
                assert_never(task)

    def _load(self, settings: LanguageModelSettings, progress: Progress) -> llm.LanguageModel:
        """Load a model; cancelled when another one is chosen, or at the end."""
        choices = self._choices

        def cancellable(text: str, fraction: float | None) -> None:
            if self._choices != choices:
                raise Cancelled("Another language model was chosen.")
            progress(text, fraction)

        return self._factories.language_model(settings, cancellable)

    def _load_wanted(self) -> None:
        """Load the model that was chosen last."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._rest()
            self._close_deltas()
            with suppress(Cancelled):
                self._model.load_or_adjust(wanted)
            self._get_ready()

    def _get_ready(self) -> None:
        self._rest()
        if self._model.now is not None and self._at_ease:
            self._readying = self._use_leisure(self._model.now, self._next)

    def _use_leisure(
        self, model: llm.LanguageModel, order: GetReady
    ) -> Generator[float, None, None]:
        """Get ready for the next question; then find a title, and get ready again."""
        history = order.history
        yield from (0.0 for _ in model.warm(history))
        if order.title is None or model.info.name == BUILT_IN:
            return
        yield QUIET_S
        language = llm.last_language(history)
        asked = (*history, llm.Message(llm.Role.USER, TITLE_WANTED, language=language))
        yield from (0.0 for _ in model.warm(asked))  # in shorter slices than those of a reply
        text, talk = "", [each.text for each in history]
        with closing(model.reply(asked, self._state)) as deltas:
            for delta in islice(deltas, MOST_DELTAS):
                text += delta.text if isinstance(delta, llm.TextDelta) else ""
                done, newline, _ = text.strip().rpartition("\n")
                if newline and written_title(done, talk):
                    break
                yield 0.0
        self._tell(facts.Titled(order.title, written_title(text, talk)))
        self._next = replace(order, title=None)
        yield from (0.0 for _ in model.warm(history))

    def _rest(self) -> None:
        """Stop preparing; the model keeps its state."""
        readying, self._readying = self._readying, None
        if readying is not None:
            readying.close()

    def _tick(self) -> float | None:
        """Do another slice of the preparation."""
        self._load_wanted()
        if self._readying is None:
            return None
        with suppress(LanguageModelError):  # the next reply will report it
            if (wait_s := next(self._readying, None)) is not None:
                return wait_s
        self._rest()
        return None

    def _begin(self, reply: Reply) -> Generator[llm.Delta, None, None]:
        """Begin to write a reply; return its deltas: a new one's, or the rest of the last one's."""
        self._load_wanted()
        self._rest()
        before, start = reply.rest_of or (None, 0)
        if before is None or before is not self._reply or self._deltas is None:
            self._close_deltas()
            deltas = self._open_deltas(reply)
        else:
            known = llm.TextDelta(self._written[start:], self._private)
            deltas = _continued(known, self._deltas)
        self._deltas = deltas
        self._reply = self._open = reply
        self._held.clear()
        self._text = self._new_text(reply)
        self._thought = WholeCharacters()
        self._written, self._private = "", False
        return deltas

    def _close_deltas(self) -> None:
        if self._deltas is not None:
            self._deltas.close()
        self._deltas = None

    def _new_text(self, reply: Reply, more: Names = ()) -> PacedText:
        """The text of a reply in its question's language, or another that the voices speak; in the
        chosen one, if one was chosen.
        """
        now = self._state()
        usual = reply.language if reply.language in now.languages else ENGLISH
        possible = now.languages if now.settings.speech.language == AUTO else ()
        return PacedText(
            pacing=reply.paced, usual=usual, possible=possible, names=(*in_force(), *more)
        )

    def _open_deltas(self, reply: Reply) -> Generator[llm.Delta, None, None]:
        """Yield the text that is read out, or the model's text, or the one and then the other. An
        unanswered question is answered with the fault of the chosen model.
        """
        if reply.text is not None:
            yield llm.TextDelta(reply.text)
            if not reply.asked:
                return
        model = self._model.now
        if model is None:
            raise LanguageModelError(
                "No language model is loaded.", hint="Choose a language model in the settings."
            )
        if reply.ending is not None:
            return
        with closing(model.reply(reply.asked, self._state)) as deltas:
            for delta in deltas:
                yield delta
                if isinstance(delta, llm.Unanswered) and self._model.fault:
                    yield llm.TextDelta(f"I can't answer that: {self._model.fault}")
                    return

    def _on_mark(self, reply: Reply, mark: llm.Mark) -> None:
        match mark:
            case llm.Retraction():
                self._retract(reply)
            case llm.ThoughtDelta(text):
                self._send(Thought(reply.turn, self._thought.push(text)))
            case llm.StillLoading():
                self._send(Notice(STILL_LOADING))
            case llm.Unanswered():
                self._send(ModelWanted(reply.turn))
            case llm.Remark():
                self._send(mark)
            case llm.LearnSound(written, said):  # the answer says it so already
                self._text = self._new_text(reply, (Name(written, said),))
                self._send(facts.ActionAsked(reply.turn, mark))
            case _:
                self._send(facts.ActionAsked(reply.turn, mark))

    def _retract(self, reply: Reply) -> None:
        """Discard the reply's text so far: it was reasoning, and the reply follows."""
        self._text, self._written = self._new_text(reply), ""
        self._held = [each for each in self._held if not isinstance(each, _OF_REPLY)]
        reply.awaits_words = True
        if reply.aloud and reply.ending is None:
            reply.retract()
            self._tell(ReplyRetracted(reply.turn))
            self._say(Unsay(reply))
        self._send()

    def _end_words(self, reply: Reply) -> None:
        growth = self._text.end()
        if self._text.left_out:  # before its end: a reply may have nothing else to say
            self._send(Notice(LEFT_OUT))
        self._grow(reply, growth, last=True)
        self._open = None

    def _grow(self, reply: Reply, growth: Growth, *, last: bool = False) -> None:
        """Show and speak the reply's new text."""
        now, parts = time.monotonic(), list[SayWords | facts.Fact]()
        self._written += growth.text
        if growth.text:
            parts.append(facts.ReplyGrew(reply.turn, growth.text, now, self._private))
        if growth.words:
            parts.append(facts.WordsReady(reply.turn, growth.words, now))
        if growth.words or last:
            language = self._text.language or ENGLISH
            parts.append(SayWords(reply, growth.words, last, language))
        self._send(*parts)

    def _send(self, *parts: SayWords | llm.Remark | facts.Fact | Event) -> None:
        """Send parts of the reply to the speaker or the conductor, after those that were held back;
        hold them all until the reply is aloud.
        """
        self._held += parts
        reply = self._reply
        if reply is None or not reply.aloud or reply.ending is not None:
            return
        held, self._held = self._held, []
        for part in held:
            match part:
                case SayWords():
                    reply.awaits_words = False
                    self._say(part)
                case llm.Remark(text):
                    if text not in self._remarks:
                        self._remarks.add(text)
                        self._tell(Notice(text))
                case _:
                    self._tell(part)

    def _unknown(self, error: Exception) -> EngineError:
        return LanguageModelError(
            "The language model failed: {error}",
            hint="Ask again, or choose another model.",
            error=error,
        )

    def _fail(self, error: EngineError) -> None:
        """Report the fault; text that was already written is spoken to its end."""
        reply = self._open
        turn = None if reply is None or reply.ending is not None else reply.turn
        failed = Failed.of(error, Part.LANGUAGE_MODEL, turn)
        if reply is None or turn is None:
            self._tell(failed)
            return
        reply.broke = True
        self._close_deltas()
        self._send(failed)
        self._end_words(reply)


def _continued(
    known: llm.TextDelta, deltas: Generator[llm.Delta, None, None]
) -> Generator[llm.Delta, None, None]:
    """Yield the text that is known already, then the deltas that follow it."""
    with closing(deltas):
        yield known
        yield from deltas


def _use(model: llm.LanguageModel, settings: LanguageModelSettings) -> str:
    model.adjust(settings)
    return model.info.detail
