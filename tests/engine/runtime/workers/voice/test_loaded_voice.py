"""The synthesiser in use, and how much is kept in the ring for it."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine.errors import SynthesisError
from engine.messages.events import Event, Notice, Ready, VoicesChanged
from engine.runtime.turn.facts import Fact
from engine.runtime.turn.playback import RETIME_MARGIN_MS
from engine.runtime.workers.voice import loaded_voice
from engine.runtime.workers.voice import reserve as file
from engine.runtime.workers.voice.loaded_voice import LoadedVoice
from engine.runtime.workers.voice.reserve import _BEHIND_MS, _BLOCK_MS, Reserve
from engine.settings import SpeechSettings
from engine.translatable import Progress
from engine.tts import pick
from engine.tts.base import TtsInfo, Voice
from engine.tts.kokoro.voices import model_file, voices_folder
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import FakeSession, FakeTts

SLOW, SLOWER = "It is slow.", "It is slower."


class NotingTts(FakeTts):
    """Notices only when a voice is made ready, and when a session is opened, that it is slow;
    remembers the seeds of its sessions, and which voices were made ready.
    """

    def __init__(self) -> None:
        super().__init__()
        self.note = ""
        self.seeds: list[int] = []
        self.warmed: list[str] = []

    @property
    def info(self) -> TtsInfo:
        return replace(super().info, note=self.note)

    def voices(self) -> tuple[Voice, ...]:
        return (*super().voices(), Voice("Bell", "fake"))

    def warm(self, voice: Voice) -> None:
        self.note = self.note or SLOW
        self.warmed.append(voice.name)

    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        self.note = SLOWER
        self.seeds.append(seed)
        return super().open(voice, seed=seed)


def loading(make: Callable[..., FakeTts], tell: Callable[[object], None] = print) -> LoadedVoice:
    return LoadedVoice(replace(FakeParts().factories(), synthesiser=make), tell)


def test_a_model_that_makes_a_voice_is_closed_only_after_that(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    models = [FakeTts(), FakeTts()]
    left = iter(models)
    voice = loading(lambda *_: next(left))
    voice.load(SpeechSettings(engine="espeak"))
    closed = []

    def learn(model: FakeTts, *_: object) -> Voice:
        voice.load(SpeechSettings(engine="starter"))  # as the speaker does meanwhile
        closed.append(model.closed)
        return Voice("Me", "fake")

    monkeypatch.setattr(loaded_voice.voice_lookup, "adopt", learn)
    voice.adopt(tmp_path / "me.wav", "Me")
    assert (closed, models[0].closed, models[1].closed) == ([False], True, False)
    voice.close()
    assert models[1].closed


def test_a_model_that_is_released_while_it_is_looked_up_still_makes_the_voice():
    class Released:
        """The model leaves right after the first look at it."""

        def __init__(self, model: FakeTts) -> None:
            self._left = [model]

        @property
        def now(self) -> FakeTts | None:
            return self._left.pop() if self._left else None

    model, voice = FakeTts(), loading(lambda *_: FakeTts())
    voice._model = Released(model)
    assert voice._loaded() is model
    with pytest.raises(SynthesisError, match="No voice has loaded yet"):
        voice._loaded()


def test_the_automatic_synthesiser_is_loaded_as_what_it_is_and_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    told: list[Fact | Event] = []
    loaded: list[str] = []

    def load(settings: SpeechSettings, progress: Progress) -> FakeTts:
        loaded.append(settings.engine)
        return FakeTts()

    voice = loading(load, told.append)
    voice.load(SpeechSettings())
    voice.load(SpeechSettings(seed=3))  # nothing else
    for path in (model_file(), voices_folder() / "af_heart.bin"):
        path.parent.mkdir(parents=True)
        path.touch()
    voice.load(SpeechSettings())
    assert loaded == ["starter", "kokoro"]
    reasons = [event.why for event in told if isinstance(event, Ready)]
    assert reasons == [pick.NOT_FETCHED, pick.NOT_FETCHED, pick.UNMEASURED]


def test_seed_and_voice_apply_without_loading_and_what_a_model_notes_is_told_once_each():
    made: list[NotingTts] = []
    told: list[Fact | Event] = []

    def load(settings: SpeechSettings, progress: Progress) -> NotingTts:
        made.append(NotingTts())
        return made[-1]

    voice = loading(load, told.append)
    voice.load(SpeechSettings(seed=1))
    voice.load(SpeechSettings(seed=2))
    assert [event.text for event in told if isinstance(event, Notice)] == [SLOW]
    voice.open("en")
    voice.load(SpeechSettings(seed=2, voice="Bell"))
    voice.load(SpeechSettings(seed=3, voice="Bell"))
    voice.open("en")
    assert [event.text for event in told if isinstance(event, Notice)] == [SLOW, SLOWER]
    assert [(model.seeds, model.warmed) for model in made] == [([2, 3], ["Tone", "Bell"])]
    voice.load(SpeechSettings(seed=3, voice="Bell", device="cpu"))
    assert [model.warmed for model in made] == [["Tone", "Bell"], ["Bell"]]


class PolyglotTts(FakeTts):
    def __init__(self) -> None:
        super().__init__()
        self.spoke: list[str] = []

    def voices(self) -> tuple[Voice, ...]:
        spanish = (Voice(name, "fake", metadata={"language": "es"}) for name in ("Dora", "Noel"))
        return (*super().voices(), *spanish)

    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        self.spoke.append(voice.name)
        return super().open(voice, seed=seed)


def test_a_question_prepares_the_voice_of_its_language_once():
    class Noting(NotingTts):
        def voices(self) -> tuple[Voice, ...]:
            return (*super().voices(), Voice("Dora", "fake", metadata={"language": "es"}))

    model = Noting()
    voice = loading(lambda *_: model)
    voice.load(SpeechSettings())
    for language in ("en", "es", "en", "es", "fr"):
        voice.get_ready(language)
    assert model.warmed == ["Tone", "Dora"]


def test_each_language_has_the_voice_that_was_chosen_for_it_from_the_next_session_on():
    model, told = PolyglotTts(), list[Fact | Event]()
    voice = loading(lambda *_: model, told.append)
    settings = SpeechSettings(engine="espeak")
    voice.load(settings)
    for change in ({}, {"voice_es": "Noel"}, {"voice": "Dora"}, {"voice": "", "voice_es": ""}):
        settings = replace(settings, **change)
        voice.select(settings)
        for language in ("en", "es", "fr"):
            voice.open(language)
    voice.load(replace(settings, voice_es="Noel", seed=3))
    voice.open("es")
    assert model.spoke[:6] == ["Tone", "Dora", "Tone", "Tone", "Noel", "Tone"]
    assert model.spoke[6:9] == ["Tone", "Dora", "Dora"]  # nobody speaks French
    assert model.spoke[9:] == ["Tone", "Dora", "Tone", "Noel"]
    changed = next(event for event in told if isinstance(event, VoicesChanged))
    assert (changed.names, changed.languages) == (("Tone", "Dora", "Noel"), ("en", "es", "es"))


def test_the_voice_of_the_conversations_language_is_reported():
    told = list[Fact | Event]()
    voice = loading(lambda *_: PolyglotTts(), told.append)
    voice.get_ready("es")  # before anything has loaded
    voice.load(SpeechSettings(engine="espeak"))
    for language in ("en", "en", "fr", "es"):
        voice.get_ready(language)
    voice.select(SpeechSettings(engine="espeak", voice="Noel"))
    changes = [event for event in told if isinstance(event, VoicesChanged)]
    assert [each.selected for each in changes] == ["Dora", "Tone", "Dora", "Noel"]
    assert [each.chosen for each in changes[::3]] == [("Tone", "Dora"), ("Tone", "Noel")]
    assert (changes[0].alike, changes[1].alike) == (("Dora", "Noel"), ("Tone",))


class Steps:
    """A reserve, and steps that take a time and make a frame."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = SimpleNamespace(now=100.0)
        monkeypatch.setattr(file, "time", SimpleNamespace(monotonic=lambda: self.clock.now))
        self.reserve = Reserve()

    def make(self, *steps: tuple[float, float], moved: bool = False) -> None:
        """Milliseconds that each step takes, and that its frame lasts."""
        self.reserve.begin(moved=moved)
        for took_ms, frame_ms in steps:
            self.reserve.before_step()
            self.clock.now += took_ms / 1000
            self.reserve.frame_made(frame_ms)
        self.reserve.before_step()
        self.reserve.end()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch)


@pytest.mark.parametrize(
    ("made", "retime_margin_ms"),
    [
        pytest.param([(10, 80), (10, 80)], RETIME_MARGIN_MS, id="quick: for a loaded machine"),
        pytest.param([(100, 80), (10, 80)], 100 + _BLOCK_MS, id="slow to begin"),
        pytest.param(  # less what was made before
            [(100, 80), (0, 80), (300, 80)], 400 - 160 + _BEHIND_MS, id="slow behind the first"
        ),
        pytest.param([(20, 1000), (300, 80)], RETIME_MARGIN_MS, id="slow, much made before"),
        pytest.param([(5000, 80)], 500, id="a hiccup, to a limit"),
    ],
)
def test_as_much_is_kept_as_the_voice_has_needed(steps, made, retime_margin_ms):
    steps.make(*made)
    assert steps.reserve.retime_margin_ms == pytest.approx(retime_margin_ms)


def test_once_the_slider_was_moved_that_alone_counts(steps):
    """A reply's first frame takes longer, because its words are new."""
    steps.make((300, 200), (10, 80))
    steps.make((120, 200), (10, 80), moved=True)
    steps.make((400, 200), (10, 80))
    assert steps.reserve.retime_margin_ms == pytest.approx(120 + _BLOCK_MS)


def test_most_first_frames_come_in_time_and_all_behind_them(steps):
    for first_ms in (100, 100, 100, 250):
        steps.make((first_ms, 200), (10, 80), moved=True)
    assert steps.reserve.retime_margin_ms == pytest.approx(100 + _BLOCK_MS)
    steps.make((100, 80), (250, 80), moved=True)
    assert steps.reserve.retime_margin_ms == pytest.approx(350 - 80 + _BEHIND_MS)


def test_a_hiccup_is_forgotten_and_waiting_for_words_is_no_need(steps):
    for took_ms in (5000, *[10] * 12):
        steps.make((took_ms, 80))
    steps.reserve.begin()
    steps.clock.now += 5
    steps.reserve.end()
    assert steps.reserve.retime_margin_ms == RETIME_MARGIN_MS


@pytest.mark.parametrize(
    ("made", "start_delay_ms"),
    [
        ([(100, 80), (0, 80), (180, 80)], 1.5 * (20 + _BEHIND_MS)),
        ([(300, 200), (50, 200), (80, 200)], 0),  # the next ones come in time
        ([(300, 80), (1000, 80)], 150),  # never for long
    ],
)
def test_a_first_frame_is_held_back_for_what_the_next_ones_needed(steps, made, start_delay_ms):
    steps.make(*made)
    assert steps.reserve.start_delay_ms == pytest.approx(start_delay_ms)
