"""The open document and its reading aloud: begin, pause, skip, by keys and by voice.

A reading is one turn of many replies, a section each. It ends when the user speaks, types or stops
it, and goes on in another turn from the word that was heard last.

Invariant: runs on the conductor's thread. No word of the document gets into the log's history; the
paragraph that a question interrupted is private context of that question.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from engine.errors import DeviceError
from engine.llm.base import Message, Role
from engine.llm.skills.reading import reading_wish
from engine.messages import reading
from engine.messages.commands import StopReply
from engine.messages.events import Event, Failed
from engine.messages.words import Ending, Part, Phase
from engine.runtime.host.port import ConductorPort
from engine.runtime.threads import Workers
from engine.runtime.turn import facts
from engine.runtime.turn.floor import Floor
from engine.runtime.turn.log import TurnLog
from engine.runtime.turn.replies import Replies
from engine.runtime.workers.reader import KeepPlace, ReadSection, no_document
from engine.text.barge_in_words import halts, lets_go_on

KEEP_EVERY_S = 1.0  # a crash loses the words of this time at most
CONTEXT = (
    "The user was listening to the document “{title}”, which you were reading aloud, and interrupts"
    " with a question. The paragraph was: {paragraph}"
)


class Reading:
    """Directs the reading."""

    def __init__(
        self,
        workers: Workers,
        log: TurnLog,
        replies: Replies,
        port: ConductorPort,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._log = log
        self._replies = replies
        self._emit = port.emit
        self._decide = port.decide
        self._clock = clock
        self._document: reading.DocumentOpened | None = None  # None = none is open
        self._place = reading.Place()  # of the word that was heard last
        self._heard = False  # a word of the present section was
        self._kept_at = 0.0  # on the clock
        self._paragraph = ""
        self._start = ReadSection(None)  # of the reading that begins next
        self._turn: int | None = None  # that reads; None = it is paused
        self._waits = False  # a section ended while a voice was heard
        self._resumes = False  # once the floor is free
        self.private = False  # the conversation is: a document opened in it leaves no trace

    @property
    def title(self) -> str:
        """The title of the open document; empty = none is open."""
        return "" if self._document is None else self._document.title or "document"

    # ---------------------------------------------------------------- commands

    def on(self, command: reading.ReadingCommand) -> None:
        """Carry out a command. InvalidInput if it needs a document and none is open."""
        match command:
            case reading.ReadAloud() | reading.SkipReading():
                self._move(command)
            case reading.PauseReading():
                self._pause()
            case reading.OpenDocument(private=private):
                self._pause()
                self._workers.reader.post(replace(command, private=private or self.private))
            case reading.CloseDocument():
                self._pause()
                self._workers.reader.post(command)
            case _:
                self._workers.reader.post(command)

    def see(self, event: Event) -> None:
        """Note what is open, and where the reading is."""
        match event:
            case reading.DocumentOpened():
                self._document, self._place, self._paragraph = event, event.place, ""
                self._pause()  # a reading of the one before that was begun meanwhile
                self._start = ReadSection(None, event.place)
                if event.aloud:
                    self.on(reading.ReadAloud())
            case reading.DocumentClosed():
                self._document = None
                self._pause()
            case reading.PlaceReached(place) if self._turn is None:  # after a skip
                self._place, self._start = place, ReadSection(None, place)
            case reading.PlaceReached(place):
                self._place, self._heard = place, True
                if self._clock() - self._kept_at >= KEEP_EVERY_S:
                    self._keep()

    def look(self, floor: Floor, *, announces: bool) -> None:
        """Go on after something that was said meanwhile, such as a timer's text."""
        if self._resumes and floor.phase is Phase.IDLE and not announces:
            self.on(reading.ReadAloud())

    # ------------------------------------------------------------- turns, sections

    def start(self, turn: int) -> None:
        """Read in this turn, which has just begun, from where the last command said."""
        self._turn, self._resumes = turn, False
        self._log.record(turn).reads = True
        self._section(self._start)
        self._emit(reading.ReadingChanged(aloud=True))

    def goes_on(
        self, fact: facts.ReplyAudible | facts.ReplyEnded, floor: Floor, *, announces: bool
    ) -> bool:
        """A section becomes audible, or is over, and then the next one begins. Return whether the
        reading turn goes on as it is.
        """
        if fact.turn != self._turn:
            return False
        if isinstance(fact, facts.ReplyAudible):
            return floor.phase is Phase.SPEAKING
        return fact.ending is Ending.COMPLETE and self._next_section(floor, announces=announces)

    def resume(self, turn: int, wish: str) -> bool:
        """The voice that paused the reading was not a question. Return whether another section
        begins, by a wish or because the last one had ended.
        """
        order = reading_wish(wish) if turn == self._turn and wish else None
        if isinstance(order, reading.SkipReading):
            self._section(self._skipping(order))
        elif turn == self._turn and self._waits:
            self._section(ReadSection(None))
        else:
            return False
        return True

    def turn_ended(self, turn: int, ending: Ending) -> None:
        """Keep the place if this turn was the reading. After another turn that was interrupted, the
        reading goes on only when it is asked for.
        """
        if turn != self._turn:
            self._resumes = self._resumes and ending is Ending.COMPLETE
        else:
            self._turn, self._waits = None, False
            self._start = ReadSection(None, None if self._resumes else self._place)
            self._keep()
            self._emit(reading.ReadingChanged(aloud=False))

    def learn(self, fact: facts.SectionBegun | facts.DocumentEnded) -> None:
        """Note the next words, or the end of the document."""
        if fact.turn != self._turn:
            return
        if isinstance(fact, facts.SectionBegun):
            self._log.record(fact.turn).forget_words()
            self._paragraph, self._place = fact.paragraph, fact.place
            self._emit(reading.PlaceReached(self._place))
            return
        self._turn, self._place = None, reading.Place()
        self._start = ReadSection(None, self._place)
        self._keep()
        self._emit(reading.ReadingChanged(aloud=False, ended=True))
        self._decide(facts.ReplyEnded(fact.turn, Ending.COMPLETE))

    # -------------------------------------------------------------------- words

    def is_wish(self, said: str) -> bool:
        """Return whether the words spoken into the reading are a skip."""
        return self._turn is not None and isinstance(reading_wish(said), reading.SkipReading)

    def answer(self, turn: int, said: str) -> bool:
        """Carry out a request about the reading in its own turn; False = it is about something
        else.
        """
        if self._document is None:
            return False
        was_reading = self._log.was_reading(turn)
        order = reading_wish(said, bare=was_reading)
        if order is None and lets_go_on(said) and not self._log.left_off(turn):
            order = reading.ReadAloud()
        if isinstance(order, reading.PauseReading) or (was_reading and halts(said)):
            self._replies.begin(turn, text="")  # the voice has already stopped it
        elif isinstance(order, reading.SkipReading):
            self._start = self._skipping(order)
            self.start(turn)
        elif isinstance(order, reading.ReadAloud):
            if order.place is not None:
                self._start = ReadSection(None, order.place)
            self.start(turn)
        else:
            return False
        return True

    def cut_by_voice(self, turn: int) -> bool:
        """Return whether the words of this turn interrupted the reading by voice."""
        cut = self._log.cut_by(turn)
        return self._document is not None and cut is not None and cut.reads

    def context(self, turn: int) -> tuple[Message, ...]:
        """Return what a question of this turn that interrupted the reading is about."""
        if self._document is None or not self._paragraph or not self._log.was_reading(turn):
            return ()
        text = CONTEXT.format(title=self._document.title, paragraph=self._paragraph)
        return (Message(Role.USER, text, private=True),)

    # ------------------------------------------------------------------- inside

    def _move(self, order: reading.ReadAloud | reading.SkipReading) -> None:
        if self._document is None:
            raise no_document()
        if isinstance(order, reading.SkipReading):
            section = self._skipping(order)
            if self._turn is None:
                self._workers.reader.post(section)
            else:
                self._section(section)
            return
        if order.place is not None:
            self._start = ReadSection(None, order.place)
        if self._turn is None:
            self._decide(facts.ReadingAsked())
        elif order.place is not None:
            self._section(self._start)

    def _next_section(self, floor: Floor, *, announces: bool) -> bool:
        reply = None if self._turn is None else self._replies.find(self._turn)
        if reply is not None and reply.ending is None:
            return True  # the fact is about a section that was left since
        if not self._heard:
            silent = DeviceError("No loudspeaker is connected.", hint="Connect one, and try again.")
            self._emit(Failed.of(silent, Part.LOUDSPEAKER))
            return False
        self._resumes = bool(announces or floor.waiting)
        self._waits = floor.candidate is not None
        if not self._waits and not self._resumes:
            self._section(ReadSection(None))
        return not self._resumes

    def _skipping(self, order: reading.SkipReading) -> ReadSection:
        """A skip from the heard word; before one was heard, from where the section began."""
        from_heard = self._heard or self._turn is None
        return ReadSection(None, self._place if from_heard else None, order)

    def _section(self, section: ReadSection) -> None:
        assert self._turn is not None
        self._heard = self._waits = False
        reply = self._replies.begin_section(self._turn)
        self._workers.reader.post(ReadSection(reply, section.start, section.skip))

    def _pause(self) -> None:
        self._resumes = False
        if self._turn is not None:
            self._decide(StopReply())

    def _keep(self) -> None:
        self._kept_at = self._clock()
        if self._document is not None:
            self._workers.reader.post(KeepPlace(self._document.key, self._place))
