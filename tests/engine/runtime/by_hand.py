"""Workers without threads: what is posted to them is done when they are run."""

from types import SimpleNamespace

from engine.llm.base import AssistantState, Message, Role
from engine.messages.events import Event
from engine.runtime.headless.offline_synthesis import Clock
from engine.runtime.turn.facts import Fact
from engine.runtime.turn.replies import Replies
from engine.runtime.turn.reply import LiveControls
from engine.runtime.workers.language_model_worker import LanguageModelWorker
from engine.runtime.workers.voice.orders import SpeechOrder
from engine.settings import LanguageModelSettings
from tests.help.fakes.parts import RATE, FakeLanguageModel, FakeParts, HandLoudspeaker

NOWHERE = AssistantState(rate=None, volume=1.0, voice="", voices=())


class HandWorker:
    """See Worker; works when run() is called."""

    def __init__(self, name: str, **roles: object) -> None:
        self._handle, self._report = roles["handle"], roles["report"]
        self._tick = roles["tick"]
        self._inbox: list[object] = []

    def post(self, message: object) -> None:
        self._inbox.append(message)

    def run(self) -> float | None:
        while self._inbox:
            try:
                self._handle(self._inbox.pop(0))
            except Exception as error:  # noqa: BLE001 - as the real worker does
                self._report(error)
        return self._tick()


class Mind:
    """A language model that is loaded, its worker, who directs it, and all that came out of it.
    Needs HandWorker in the place of Worker.
    """

    def __init__(self, *deltas: object) -> None:
        self.model = FakeLanguageModel(*deltas)
        self.told: list[Fact | Event] = []
        self.said: list[SpeechOrder] = []
        factories = FakeParts(model=self.model).factories()
        self.worker = LanguageModelWorker(
            factories, self.told.append, self.said.append, lambda: NOWHERE
        )
        self.controls = LiveControls(lead_ms=240)
        workers = SimpleNamespace(language_model=self.worker, controls=self.controls)
        self.replies = Replies(workers, lambda: True, lambda: "en")
        self.do(LanguageModelSettings())
        self.told.clear()

    def do(self, *orders: object) -> float | None:
        for order in orders:
            self.worker.post(order)
        return self.worker._worker.run()

    def told_of(self, kind: type) -> list:
        return [each for each in self.told if isinstance(each, kind)]


class HandClock:
    """Moves by waiting, while a loudspeaker plays, and by what speaking a word costs."""

    def __init__(
        self, loudspeaker: HandLoudspeaker | None = None, *, word_cost_s: float = 0.0
    ) -> None:
        self.seconds = 0.0
        self.leads: list[int] = []  # samples that were written and not played, at each wait
        self._loudspeaker = loudspeaker or HandLoudspeaker()
        self._word_cost_s = word_cost_s

    def speak(self, text: str) -> None:
        self.seconds += self._word_cost_s

    def wait(self, seconds: float) -> None:
        self.leads.append(self._loudspeaker.samples_written - self._loudspeaker.samples_played)
        self.seconds += seconds
        self._loudspeaker.play(round(seconds * RATE))

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.seconds, self.wait)


def asked(text: str) -> tuple[Message, ...]:
    return (Message(Role.USER, text),)
