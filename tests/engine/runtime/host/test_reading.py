"""A document read aloud by the whole engine on fakes."""

from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engine import api
from engine.errors import InvalidInput
from engine.history.store import Store
from engine.llm.base import Role
from engine.llm.skills import Skills
from engine.names_file import add
from engine.reading.shelf import Shelf
from engine.runtime.turn.facts import EchoCancelled
from engine.settings import AudioSettings, HistorySettings, Settings
from engine.text.names import Name
from tests.engine.runtime.test_conductor import Host, hosting
from tests.help.fakes.parts import FakeParts, FakeRecogniser
from tests.help.fakes.reading import FakeDocument, FakeLibrary, FakeShelf

BOOK = FakeDocument(
    ["# Aurora", "Benedict slept in Casimir's house. Dora had left him.", "Edgar knew it."],
    ["# Fridolin", "Gustav came home."],
)
SECRETS = {word.strip(".") for word in BOOK.words if word[0].isupper()}
FILE = Path("book.txt")


@contextmanager
def reading(parts: FakeParts | None = None, settings: Settings | None = None):
    """A host with the open document."""
    parts = parts or FakeParts()
    parts.library.documents[FILE.name] = BOOK
    with TemporaryDirectory() as folder, ExitStack() as stack:
        parts.history = parts.history or Path(folder, "history.sqlite")
        host = stack.enter_context(hosting(parts, settings))
        host.post(api.OpenDocument(FILE))
        host.wait(lambda: host.of(api.DocumentOpened))
        yield host


def places(host: Host) -> list[api.Place]:
    found = [each.place for each in host.of(api.PlaceReached)]
    return [each for number, each in enumerate(found) if each != (found[number - 1 :] or found)[0]]


def hear(host: Host, *place: int, playing: int = 400) -> None:
    """Until this place is reached."""
    host.wait(lambda: api.PlaceReached(api.Place(*place)) in host.events, playing=playing)


def paused(host: Host, times: int = 1, *, playing: int = 400) -> None:
    wanted = api.ReadingChanged(aloud=False)
    host.wait(lambda: host.events.count(wanted) >= times, playing=playing)


def spoken(host: Host) -> list[str]:
    return [word for session in host.parts.voice.sessions for word in session.words]


def test_the_document_is_read_to_its_end_in_order():
    with reading() as host:
        host.post(api.ReadAloud())
        host.wait(lambda: api.ReadingChanged(aloud=False, ended=True) in host.events, playing=800)
        assert spoken(host) == BOOK.words
        assert host.of(api.DocumentOpened)[0].chapter_titles == ("Chapter 1", "Chapter 2")
        found = [each.place for each in host.of(api.PlaceReached)]
        assert found == sorted(found)
        assert len(set(found)) == len(BOOK.words)
        phases = [each.phase for each in host.of(api.PhaseChanged)]
        assert phases == [api.Phase.THINKING, api.Phase.SPEAKING, api.Phase.IDLE]
        assert host.of(api.Failed) == []
        host.wait(lambda: host.parts.library.shelf.place("key") == api.Place())


def test_names_are_said_as_the_person_taught_them(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    add([Name("Benedict", "ben")])
    with reading() as host:
        host.post(api.ReadAloud())
        host.wait(lambda: len(spoken(host)) > 3, playing=800)
        assert spoken(host)[:3] == ["Aurora", "ben", "slept"]


def test_a_pause_keeps_the_word_and_the_reading_goes_on_from_it():
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1, 2)))
        hear(host, 0, 1, 4)
        host.post(api.PauseReading())
        paused(host)
        place = host.of(api.PlaceReached)[-1].place
        host.wait(lambda: host.parts.library.shelf.place("key") == place)
        before = len(spoken(host))
        host.post(api.ReadAloud())
        host.wait(lambda: len(spoken(host)) > before)
        assert spoken(host)[before] == BOOK.chapters[0].paragraphs[1].text.split()[place.word]


def test_an_opened_document_goes_on_at_its_place_and_begins_again_after_its_end(tmp_path):
    library = FakeLibrary()
    library.shelf.save_place(BOOK, api.Place(1, 1, 1), 0.0)
    with reading(FakeParts(library=library, history=tmp_path / "history.sqlite")) as host:
        assert host.of(api.DocumentOpened)[0].place == api.Place(1, 1, 1)
        host.post(api.ReadAloud())
        host.wait(lambda: api.ReadingChanged(aloud=False, ended=True) in host.events, playing=800)
        assert spoken(host) == ["came", "home."]
        host.post(api.ReadAloud())
        host.wait(lambda: len(spoken(host)) > 2)
        assert spoken(host)[2] == "Aurora"


def test_a_skip_while_it_reads_is_silent_at_once_and_begins_there():
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 1)
        host.post(api.SkipReading(api.Unit.SENTENCE, 1))
        hear(host, 0, 1, 5)
        host.post(api.SkipReading(api.Unit.CHAPTER, 1))
        hear(host, 1, 0)
        phases = [each.phase for each in host.of(api.PhaseChanged)]
        assert phases == [api.Phase.THINKING, api.Phase.SPEAKING]
        assert host.of(api.TurnEnded) == []


def test_two_skips_before_a_word_was_heard_add_up():
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        host.post(api.SkipReading(api.Unit.PARAGRAPH, 1))
        host.post(api.SkipReading(api.Unit.PARAGRAPH, 1))
        hear(host, 1, 0)


def test_skips_faster_than_the_reader_add_up():
    """Those before the last one are never spoken."""
    with reading() as host:
        host.post(api.ReadAloud(api.Place(1, 1)))
        hear(host, 1, 1, 1)
        for _ in range(30):
            host.post(api.SkipReading(api.Unit.SENTENCE, -1))
        hear(host, 0, 0)


def test_skips_in_the_pause_move_the_place_alone_and_stay_at_the_end_or_end_the_reading():
    with reading() as host:
        host.post(api.SkipReading(api.Unit.CHAPTER, 1))
        hear(host, 1, 0, playing=0)
        for _ in range(5):
            host.post(api.SkipReading(api.Unit.CHAPTER, 1))
        host.wait(lambda: host.of(api.PlaceReached) == [api.PlaceReached(api.Place(1))] * 6)
        assert host.parts.library.shelf.place("key") == api.Place(1)
        assert host.of(api.PhaseChanged) == []
        host.post(api.ReadAloud())
        host.wait(lambda: spoken(host))
        assert spoken(host)[0] == "Fridolin"
        host.post(api.SkipReading(api.Unit.CHAPTER, 1))
        host.wait(lambda: api.ReadingChanged(aloud=False, ended=True) in host.events)
        assert host.of(api.Failed) == []


def test_who_asks_for_the_beginning_hears_it():
    with reading() as host:
        host.post(api.ReadAloud(api.Place(1)))
        hear(host, 1, 0)
        host.post(api.SendText("read the document from the beginning"))
        hear(host, 0, 0)


def test_a_document_that_opens_while_another_is_read_stops_that_and_keeps_its_own_place():
    """As when the reading is begun while a large document is being opened."""
    parts = FakeParts()
    parts.library.documents["two.txt"] = FakeDocument(["# Xenia", "Yorick sat."], key="two")
    with reading(parts) as host:
        host.post(api.OpenDocument(Path("two.txt")))
        host.post(api.ReadAloud(api.Place(1, 1, 1)))
        paused(host)
        host.wait(lambda: parts.library.shelf.place("two") == api.Place())
        host.post(api.ReadAloud())
        host.wait(lambda: spoken(host)[-3:] == ["Xenia", "Yorick", "sat."], playing=400)


def test_a_document_that_is_removed_while_it_is_read_falls_silent():
    with reading() as host:
        host.post(api.ReadAloud())
        hear(host, 0, 0)
        host.post(api.RemoveDocument("key"))
        paused(host, playing=0)
        assert host.parts.library.shelf.kept == {}


class FullShelf(FakeShelf):
    def save_place(self, *_: object) -> None:
        raise InvalidInput("The place in the document cannot be saved.", hint="Make room.")


def test_a_disk_that_refuses_the_place_is_reported_once_and_the_document_is_read():
    with reading(FakeParts(library=FakeLibrary(shelf=FullShelf()))) as host:
        host.engine._conductor._effects.reading._clock = lambda: float(len(host.events))
        host.post(api.ReadAloud())
        host.wait(lambda: api.ReadingChanged(aloud=False, ended=True) in host.events, playing=800)
        assert spoken(host) == BOOK.words
        assert len(host.of(api.Failed)) == 1


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("next chapter", (1, 0)),
        ("next paragraph", (0, 2)),
        ("please skip this paragraph", (0, 2)),
        ("back", (0, 1, 0)),
        ("go back to the beginning of the chapter", (0, 0)),
        ("chapitre suivant", (1, 0)),
    ],
)
def test_a_request_while_it_reads_is_carried_out_and_the_reading_goes_on(said, place):
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 4)
        seen = len(host.events)
        host.post(api.SendText(said))
        wanted = api.PlaceReached(api.Place(*place))
        host.wait(lambda: wanted in host.events[seen:], playing=400)
        assert host.parts.model.histories == []


def test_slower_changes_the_pace_and_the_reading_goes_on():
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 1)
        host.post(api.SendText("slower"))
        hear(host, 0, 1, 6)
        assert any(each.key == "speech.rate" for each in host.of(api.SettingChanged))
        assert host.of(api.TurnEnded) == []


def test_a_question_gets_the_paragraph_and_go_on_goes_on_and_nothing_is_kept(tmp_path):
    file = tmp_path / "history.sqlite"
    settings = Settings(
        audio=AudioSettings(hands_free=False), history=HistorySettings(keep="forever")
    )
    with reading(FakeParts(history=file), settings) as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 2)
        host.post(api.SendText("who is that"))
        assert host.ended(2).reply == "Good day to you."
        context, question = host.parts.model.histories[-1]
        assert (question.text, context.role, context.private) == ("who is that", Role.USER, True)
        assert BOOK.chapters[0].paragraphs[1].text in context.text
        before = len(spoken(host))
        host.post(api.SendText("go on"))
        host.wait(lambda: len(spoken(host)) > before)
        hear(host, 0, 2)
        host.post(api.StopReply())
        paused(host, 2)
        host.ask("and now")
        host.ask("and later")
        later = " ".join(each.text for each in host.parts.model.histories[-1])
        host.engine._conductor.keep(tmp_path / "kept.json")
        ended = host.of(api.TurnEnded)
    kept = (tmp_path / "kept.json").read_text() + file.read_bytes().decode("latin-1")
    texts = " ".join(each.reply + each.heard + each.spoken for each in ended)
    for secret in SECRETS:
        assert secret not in later + kept + texts, secret
    with Store(file) as store:
        assert store is not None


def test_a_timer_is_announced_between_two_paragraphs_and_the_reading_goes_on():
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 1)
        host.post(api.Speak("Tea is ready."))
        wanted = ["left", "him.", "Tea", "is", "ready.", "Edgar", "knew", "it."]
        host.wait(lambda: spoken(host)[7:15] == wanted, playing=400)


@pytest.mark.parametrize("command", [api.StopReply(), api.SendText("who is that")])
def test_who_cuts_the_timer_short_is_not_read_to_until_asked(command):
    with reading() as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 1)
        host.post(api.Speak("Tea is ready."))
        host.wait(lambda: host.of(api.WordHeard), playing=400)
        host.post(command)
        host.ended(2)
        if isinstance(command, api.SendText):
            host.ended(3)
        host.post(api.ShowChapter(0))  # its answer comes after the conductor's next look
        host.wait(lambda: host.of(api.ChapterShown))
        assert [each.aloud for each in host.of(api.ReadingChanged)] == [True, False]
        before = len(spoken(host))
        host.post(api.ReadAloud())
        host.wait(lambda: len(spoken(host)) > before)
        assert spoken(host)[before] == "Edgar"


def test_without_a_loudspeaker_the_reading_pauses_instead_of_running_through_the_book():
    with reading(FakeParts(loudspeakers={})) as host:
        host.post(api.ReadAloud())
        paused(host, playing=0)
        assert host.of(api.Failed)[-1].message == "No loudspeaker is connected."
        assert host.of(api.PlaceReached)[-1].place == api.Place()


def test_a_file_that_cannot_be_opened_is_a_fault_and_the_reading_goes_on():
    with reading() as host:
        host.post(api.OpenDocument(Path("nowhere.txt")))
        host.wait(lambda: host.of(api.Failed))
        assert [each.name for each in host.of(api.DocumentRefused)] == ["nowhere.txt"]
        host.post(api.ReadAloud())
        hear(host, 0, 1, 0)


def test_a_file_that_is_asked_for_in_words_is_opened_and_read(tmp_path):
    (tmp_path / FILE).write_text("")
    skills = Skills(now=lambda: datetime(2026, 1, 5), documents=tmp_path)
    with reading(FakeParts(model=skills)) as host:  # type: ignore[arg-type]
        host.post(api.SendText("read the file book"))
        hear(host, 0, 1, 4)
        assert host.of(api.DocumentOpened)[-1].aloud
        assert host.of(api.Failed) == []


@pytest.mark.parametrize("before", [api.Place(0, 1, 1), None])
def test_a_document_that_is_opened_in_a_private_conversation_leaves_no_trace(before):
    library = FakeLibrary()
    other = FakeDocument(["# Another", "Something else."], key="other")
    library.documents["other.txt"] = other
    if before is not None:
        library.shelf.save_place(other, before, 0.0)
    with reading(FakeParts(library=library)) as host:
        kept = dict(library.shelf.kept)
        host.post(api.NewConversation(private=True))
        host.post(api.OpenDocument(Path("other.txt"), aloud=True))
        host.post(api.NewConversation())  # it stays private: it was opened before
        host.wait(lambda: len(host.of(api.DocumentOpened)) == 2)
        host.post(api.ReadAloud(api.Place()))
        hear(host, 0, 1, 1)
        host.post(api.SkipReading(api.Unit.PARAGRAPH, -1))
        host.post(api.CloseDocument())
        host.wait(lambda: host.of(api.DocumentClosed))
        assert library.shelf.kept["key"].place == kept.pop("key").place
        assert {key: value for key, value in library.shelf.kept.items() if key != "key"} == kept
        host.post(api.OpenDocument(Path("other.txt")))
        host.wait(lambda: "other" in library.shelf.kept)


def test_a_document_is_listed_shown_and_removed():
    with reading() as host:
        host.post(api.ShowChapter(1))
        host.wait(lambda: host.of(api.ChapterShown))
        assert host.of(api.ChapterShown)[0].chapter == BOOK.chapters[1]
        (listed,) = host.of(api.DocumentsListed)[-1].documents
        assert (listed.title, listed.path, listed.chapter) == ("A Book", FILE, "Chapter 1")
        host.post(api.RemoveDocument("key"))
        host.wait(lambda: host.of(api.DocumentClosed))
        host.wait(lambda: host.of(api.DocumentsListed)[-1].documents == ())
        host.post(api.ReadAloud())
        host.wait(lambda: host.of(api.Failed))


@pytest.mark.parametrize(
    ("said", "place"), [("next chapter", (1, 0)), ("back", (0, 1, 0)), ("mhm", (0, 2, 1))]
)
def test_words_spoken_into_the_reading_skip_or_let_it_go_on(said, place):
    """Over a loudspeaker whose echo is cancelled: the reading pauses until the words are known."""
    settings = Settings(audio=AudioSettings(hands_free=True))
    with reading(FakeParts(recogniser=FakeRecogniser(said)), settings) as host:
        host.post(api.ReadAloud(api.Place(0, 1)))
        hear(host, 0, 1, 4)
        seen = len(host.events)
        host.happen(EchoCancelled(cancels=True))
        host.say_something()
        host.wait(lambda: api.PlaceReached(api.Place(*place)) in host.events[seen:], playing=400)
        assert host.of(api.TurnEnded) == []
        assert host.parts.model.histories == []


def test_the_file_has_the_place_while_it_reads_as_a_kill_would_leave_it(tmp_path):
    shelf = Shelf(tmp_path / "documents.json")
    with reading(FakeParts(library=FakeLibrary(shelf=shelf))) as host:
        host.engine._conductor._effects.reading._clock = lambda: float(len(host.events))
        host.post(api.ReadAloud())
        hear(host, 0, 1, 6)
        left = Shelf(tmp_path / "documents.json")
        host.wait(lambda: left.place("key") >= api.Place(0, 1, 4))
        assert (tmp_path / "documents.json").stat().st_mode & 0o077 == 0
