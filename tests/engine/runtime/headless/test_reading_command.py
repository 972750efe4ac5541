"""A document is read aloud from its place, and exported, with a voice that is easy to predict."""

import gc
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event

import av
import numpy as np
import psutil
import pytest
import soundfile

from engine.errors import Cancelled, DeviceError, InvalidInput, ModelError
from engine.messages.reading import Place
from engine.reading.audiobook import SUFFIXES
from engine.reading.document import Document, open_document
from engine.reading.parsers.blocks import Kind
from engine.reading.shelf import Shelf
from engine.runtime.factories import Factories
from engine.runtime.headless import reading_command, recording
from engine.runtime.headless.offline_synthesis import Clock
from engine.runtime.headless.reading_command import (
    PlaceKeeper,
    ReadingOptions,
    Watch,
    export_book,
    read_aloud,
)
from engine.settings import Settings, SpeechSettings
from engine.tts.base import TtsInfo, Voice
from tests.engine.runtime.by_hand import HandClock
from tests.help.fakes.parts import RATE, FakeParts, HandLoudspeaker
from tests.help.fakes.tts import SAMPLE_RATE, FakeTts

SETTINGS = Settings(speech=SpeechSettings(engine="fake"))
BOOK = """# The book

## One

Go on now to it all. Do it.

Stop.

## Two

| a | b |
|---|---|
| c | d |

```
code
```

***

The end is it.
"""


class Interrupted(BaseException):
    """As KeyboardInterrupt, which would end the tests if it came late."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.fixture
def book(tmp_path) -> Document:
    (tmp_path / "book.md").write_text(BOOK)
    return open_document(tmp_path / "book.md")


def fakes(model: FakeTts, loudspeaker: HandLoudspeaker | None = None) -> Factories:
    factories = FakeParts().factories()
    factories = replace(factories, synthesiser=lambda settings, progress: model)
    return replace(factories, loudspeaker=lambda name: loudspeaker or HandLoudspeaker())


def read(
    book: Document,
    shelf: Shelf,
    options: ReadingOptions | None = None,
    stop: Callable[[str], None] = lambda text: None,
) -> list[str]:
    """Read until the end, or until `stop` raises; return the paragraphs that were begun."""
    begun: list[str] = []

    def show(title: str, paragraph: object) -> None:
        begun.append(paragraph.text)
        stop(paragraph.text)

    loudspeaker = HandLoudspeaker()
    clock = HandClock(loudspeaker).clock
    model = FakeTts()
    with suppress(Interrupted):
        read_aloud(
            PlaceKeeper(book, shelf, show, clock),
            SETTINGS,
            options or ReadingOptions(),
            factories=fakes(model, loudspeaker),
            clock=clock,
        )
    assert model.closed
    assert loudspeaker.closed
    assert loudspeaker.underruns == 0
    return begun


def export(
    document: Document,
    out: Path,
    model: FakeTts | Factories | None = None,
    options: ReadingOptions | None = None,
    watch: Watch | None = None,
) -> float:
    factories = model if isinstance(model, Factories) else fakes(model or FakeTts())
    options = options or ReadingOptions()
    return export_book(document, out, SETTINGS, options, watch, factories=factories)


ALL = ["The book", "One", "Go on now to it all. Do it.", "Stop.", "Two", "a; b", "c; d"]
ALL += ["Code.", "The end is it."]


def test_a_document_is_read_to_its_end_and_then_begins_again(book, tmp_path):
    shelf = Shelf(tmp_path / "documents.json")
    assert read(book, shelf) == ALL
    assert shelf.place(book.key) == Place()
    assert shelf.entries()[0].title == "The book"
    assert read(book, shelf, ReadingOptions(start=1)) == ALL[4:]


def test_reading_goes_on_at_the_word_where_it_was_stopped(book, tmp_path):
    shelf = Shelf(tmp_path / "documents.json")

    def stop(text: str) -> None:
        if text == "Stop.":
            raise Interrupted

    assert read(book, shelf, stop=stop) == ALL[:4]
    assert shelf.place(book.key) == Place(0, 3, 0)
    assert read(book, shelf) == ALL[3:]


def test_the_place_is_that_of_the_ear_and_not_of_the_voice_and_is_saved_as_it_goes(
    tmp_path, monkeypatch
):
    (tmp_path / "a.txt").write_text(" ".join(["go"] * 400))
    document = open_document(tmp_path / "a.txt")
    shelf = Shelf(tmp_path / "documents.json")
    loudspeaker = HandLoudspeaker()
    hand = HandClock(loudspeaker)
    saved: list[tuple[float, int]] = []  # seconds, word
    save = Shelf.save_place

    def kept(self: Shelf, document: Document, place: Place, read_at: float) -> None:
        saved.append((hand.seconds, place.word))
        save(self, document, place, read_at)
        if hand.seconds > 30:
            raise DeviceError("The disk is gone.")  # as if the program had crashed here

    monkeypatch.setattr(Shelf, "save_place", kept)
    with pytest.raises(DeviceError):
        read_aloud(
            PlaceKeeper(document, shelf, clock=hand.clock),
            SETTINGS,
            ReadingOptions(),
            factories=fakes(FakeTts(), loudspeaker),
            clock=hand.clock,
        )
    assert [seconds for seconds, _ in saved][:3] == pytest.approx([5, 10, 15], abs=0.6)
    for seconds, word in saved:  # four words a second
        assert word == pytest.approx(4 * seconds, abs=2)
    assert shelf.place(document.key).word == saved[-1][1]


@pytest.mark.parametrize(
    ("chosen", "stated", "options", "voice"),
    [
        ("auto", "it", ReadingOptions(), "Suono"),
        ("auto", "de", ReadingOptions(), "Tone"),  # which no voice speaks
        ("auto", "it", ReadingOptions(voice="Tone"), "Tone"),
        ("it", "en", ReadingOptions(), "Suono"),
    ],
)
def test_a_stated_language_chooses_the_voice(chosen, stated, options, voice, tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text(f"<html lang='{stated}'><p>Go on now, do it all.</p></html>")
    voices = (Voice("Tone", "fake"), Voice("Suono", "fake", metadata={"language": "it"}))
    model, warmed = FakeTts(), []
    monkeypatch.setattr(model, "voices", lambda: voices)
    monkeypatch.setattr(model, "warm", lambda each: warmed.append(each.name))
    settings = replace(SETTINGS, speech=replace(SETTINGS.speech, language=chosen))
    document = open_document(tmp_path / "a.html")
    options = replace(options, language=document.language)
    export_book(document, tmp_path / "a.wav", settings, options, factories=fakes(model))
    assert warmed == [voice]


def test_a_rate_and_an_unknown_voice(book, tmp_path):
    shelf = Shelf(tmp_path / "documents.json")
    model = FakeTts()
    nobody = ReadingOptions(voice="Nobody")
    with pytest.raises(InvalidInput, match="Nobody"):
        read_aloud(PlaceKeeper(book, shelf), SETTINGS, nobody, factories=fakes(model))
    assert model.closed
    slow = export(book, tmp_path / "s.wav", options=ReadingOptions(rate=2.0))
    fast = export(book, tmp_path / "f.wav", options=ReadingOptions(rate=6.0))
    assert slow > fast + 5


@pytest.mark.parametrize("rate", [0.0, -3.0, 99.0, float("nan")])
def test_a_rate_that_no_voice_speaks_is_refused(rate, book, tmp_path):
    with pytest.raises(InvalidInput, match="rate"):
        read(book, Shelf(tmp_path / "documents.json"), ReadingOptions(rate=rate))


def test_a_disk_that_refuses_the_place_does_not_stop_the_reading(book, tmp_path, monkeypatch):
    (tmp_path / "reading").write_text("a file in the way")
    monkeypatch.setattr(reading_command, "_SAVE_S", 0.0)
    shelf, begun = Shelf(tmp_path / "reading" / "documents.json"), []
    with pytest.raises(InvalidInput, match="cannot be saved"):
        read(book, shelf, stop=begun.append)
    assert begun == ALL


# ---------------------------------------------------------------------------- export


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_book_is_exported_with_the_marks_of_its_chapters(suffix, book, tmp_path):
    shares: list[float] = []
    out = tmp_path / f"book{suffix}"
    seconds = export(book, out, watch=Watch(shares.append))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    with av.open(str(out)) as file:
        assert file.duration / 1e6 == pytest.approx(seconds, abs=0.3)  # an encoder adds a frame
        if suffix != ".wav":
            tags = {**file.metadata, **file.streams.audio[0].metadata}
            assert {name.lower(): text for name, text in tags.items()}["title"] == "The book"
        marks = file.chapters()
        if suffix in (".m4b", ".mp3", ".opus"):
            assert [mark["metadata"]["title"] for mark in marks] == ["One", "Two"]
            starts = [float(mark["start"] * mark["time_base"]) for mark in marks]
            assert starts == pytest.approx([0.0, 3.7], abs=2.0)
            assert starts[1] > 1
        samples = sum(frame.samples for frame in file.decode(audio=0))
        assert samples / file.streams.audio[0].rate == pytest.approx(seconds, abs=0.3)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["book.md", "data", out.name])
    assert not list((tmp_path / "data" / "reading" / "exports").iterdir())


def test_the_wave_is_the_speech_of_the_paragraphs_with_pauses_between(book, tmp_path):
    model = FakeTts()
    out = tmp_path / "b.wav"
    export(book, out, model, ReadingOptions(start=0, end=1))
    assert " ".join(model.spoken) == "The book One Go on now to it all. Do it. Stop."
    pcm, rate = soundfile.read(out)
    assert rate == SAMPLE_RATE
    quiet = np.abs(pcm) < 1e-4
    changes = np.flatnonzero(np.diff(np.concatenate(([0], quiet.astype(int), [0]))))
    gaps = [
        (b - a) / rate for a, b in zip(changes[::2], changes[1::2], strict=True) if b - a > 1000
    ]
    assert gaps == pytest.approx([0.7, 0.7, 0.4, 0.4], abs=0.05)


@pytest.mark.parametrize("killed", [False, True])
def test_an_export_goes_on_where_it_was_stopped(killed, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "_CHARACTERS", 30)
    paragraphs = [f"This is one of them, {name}." for name in ("one", "two", "three", "four")]
    (tmp_path / "a.txt").write_text("\n\n".join(paragraphs))
    document = open_document(tmp_path / "a.txt")
    out = tmp_path / "a.flac"

    whole = tmp_path / "whole.flac"
    seconds = export(document, whole)
    first = FakeTts()
    if killed:
        monkeypatch.setattr(os, "fsync", lambda _: None)

        def crash(text: str) -> None:
            if text == "three.":
                raise Interrupted

        with pytest.raises(Interrupted):
            export(document, out, FakeTts(crash))
    else:
        watch = Watch(cancelled=lambda: "three." in first.spoken)
        with pytest.raises(Cancelled):
            export(document, out, first, watch=watch)
    assert not out.exists()
    second = FakeTts()
    assert export(document, out, second) == seconds
    assert second.spoken[-1] == "four."
    assert "two." not in second.spoken
    np.testing.assert_array_equal(soundfile.read(out)[0], soundfile.read(whole)[0])


def test_an_export_that_was_divided_otherwise_goes_on_without_a_word_twice(
    book, tmp_path, monkeypatch
):
    monkeypatch.setattr(recording, "_CHARACTERS", 40)
    whole, out, first = tmp_path / "whole.wav", tmp_path / "b.wav", FakeTts()
    export(book, whole)
    with pytest.raises(Cancelled):
        export(book, out, first, watch=Watch(cancelled=lambda: "Stop." in first.spoken))
    monkeypatch.setattr(recording, "_CHARACTERS", 10)
    export(book, out)
    np.testing.assert_array_equal(soundfile.read(out)[0], soundfile.read(whole)[0])


class _SideBySide(FakeTts):
    @property
    def info(self) -> TtsInfo:
        return replace(super().info, side_by_side=True)


def _on_two_threads(models: list[FakeTts], monkeypatch) -> Factories:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(recording, "_CHARACTERS", 30)
    made = iter(models)
    return replace(fakes(models[0]), synthesiser=lambda settings, progress: next(made))


def test_two_models_record_the_same_book_as_one(book, tmp_path, monkeypatch):
    one, two = tmp_path / "one.wav", tmp_path / "two.wav"
    export(book, one)
    meeting = Barrier(2)  # each waits with its first word for that of the other one

    models = [_SideBySide(), _SideBySide()]
    for model in models:
        spoken = model.spoken
        model.on_word = lambda _, spoken=spoken: meeting.wait(20) if len(spoken) == 1 else None
    shares: list[float] = []
    export(book, two, _on_two_threads(models, monkeypatch), watch=Watch(shares.append))
    assert all(model.spoken and model.closed for model in models)
    np.testing.assert_array_equal(soundfile.read(one)[0], soundfile.read(two)[0])
    assert shares == sorted(shares)


@pytest.mark.parametrize("broken", [0, 1])
def test_a_fault_of_one_model_ends_the_export_and_the_other_one_too(
    broken, book, tmp_path, monkeypatch
):
    def fail(text: str) -> None:
        raise DeviceError("Broken.")

    models = [_SideBySide(), _SideBySide()]
    models[broken].on_word = fail
    out = tmp_path / "b.wav"
    with pytest.raises(DeviceError):
        export(book, out, _on_two_threads(models, monkeypatch))
    assert all(model.closed for model in models)
    assert not out.exists()


def test_a_fault_of_one_model_stops_the_other_one_at_once(book, tmp_path, monkeypatch):
    has_failed = Event()

    def fail(text: str) -> None:
        raise DeviceError("Broken.")

    models = [_SideBySide(lambda _: has_failed.wait(20)), _SideBySide(fail)]
    models[1].close = has_failed.set
    with pytest.raises(DeviceError):
        export(book, tmp_path / "b.wav", _on_two_threads(models, monkeypatch))
    assert "it." not in models[0].spoken


class _Substitute(FakeTts):
    @property
    def info(self) -> TtsInfo:
        return replace(super().info, edition="other")

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("Tone", "fake other"),)


@pytest.mark.parametrize("loads", [False, True])
def test_a_model_that_loads_once_only_records_alone(loads, book, tmp_path, monkeypatch):
    """With "auto" a substitute is loaded, whose voice is another one."""
    has_tried = Event()
    model, substitute = _SideBySide(lambda _: has_tried.wait(20)), _Substitute()
    substitute.close = has_tried.set
    made = [model]

    def load(settings: SpeechSettings, progress: object) -> FakeTts:
        if made:
            return made.pop()
        if loads:
            return substitute
        has_tried.set()
        raise ModelError("No memory.")

    out = tmp_path / "b.wav"
    seconds = export(book, out, replace(_on_two_threads([model], monkeypatch), synthesiser=load))
    assert soundfile.info(out).duration == pytest.approx(seconds)
    assert model.spoken[-1] == "it."
    assert substitute.spoken == []


def test_of_two_exports_at_once_the_second_is_refused_and_the_first_unharmed(book, tmp_path):
    def again(text: str) -> None:
        if text == "end":
            with pytest.raises(InvalidInput, match="already"):
                export(book, out)

    out = tmp_path / "b.wav"
    model = FakeTts(again)
    seconds = export(book, out, model)
    assert soundfile.info(out).duration == pytest.approx(seconds)
    assert model.spoken[-1] == "it."


def test_other_speech_is_not_mixed_with_the_parts_of_a_stopped_export(book, tmp_path):
    first = FakeTts()
    watch = Watch(cancelled=lambda: "end" in first.spoken)
    with pytest.raises(Cancelled):
        export(book, tmp_path / "b.wav", first, ReadingOptions(rate=2.0), watch)
    second = FakeTts()
    export(book, tmp_path / "b.wav", second, ReadingOptions(rate=3.0))
    assert second.spoken[:2] == ["The", "book"]


def test_stopped_while_the_file_is_written_there_is_no_file_and_the_old_one_stays(
    book, tmp_path, monkeypatch
):
    out = tmp_path / "b.m4b"
    out.write_bytes(b"an older book")

    def crash(_: float) -> None:
        raise Interrupted

    monkeypatch.setattr(reading_command, "write_book", _watched(reading_command.write_book, crash))
    with pytest.raises(Interrupted):
        export(book, out)
    assert out.read_bytes() == b"an older book"
    assert not list(tmp_path.glob(".rubato-*"))


def _watched(write: Callable[..., None], show: Callable[[float], None]) -> Callable[..., None]:
    return lambda path, chapters, metadata, **_: write(path, chapters, metadata, show=show)


@pytest.mark.parametrize(
    ("name", "reason"), [("b.txt", "'.txt'"), ("b", "'b'"), ("none/b.wav", "cannot be written")]
)
def test_a_file_that_cannot_be_written_is_refused_before_a_word(name, reason, book, tmp_path):
    model = FakeTts()
    with pytest.raises(InvalidInput, match=reason):
        export(book, tmp_path / name, model)
    assert model.spoken == []


def test_an_export_that_nobody_went_on_with_is_removed(book, tmp_path):
    old = tmp_path / "data" / "reading" / "exports" / "old"
    old.mkdir(parents=True)
    os.utime(old, (1, 1))
    export(book, tmp_path / "b.wav")
    assert not old.exists()


# ------------------------------------------------------------------------- ten hours


class _LightLoudspeaker(HandLoudspeaker):
    """Counts samples instead of keeping them."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = 0
        self.expecting = False

    @property
    def writable(self) -> int:
        return 10 * RATE - self.waiting

    def write(self, pcm: np.ndarray) -> int:
        taken = min(len(pcm), self.writable)
        self.waiting += taken
        self.samples_written += taken
        return taken

    def play(self, samples: int) -> None:
        taken = min(samples, self.waiting)
        self.waiting -= taken
        self.samples_played += taken
        self.underruns += int(self.expecting and taken < samples)

    def expect_more(self, flag: bool) -> None:
        self.expecting = flag


def _long_book(path: Path, chapters: int) -> Path:
    sentence = "Go on now to it all and do it as it is to be so we go on. "
    text = "\n\n".join([sentence * 20] * 30)
    path.write_text("\n\n".join(f"Chapter {n + 1}\n\n{text}" for n in range(chapters)))
    return path


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_ten_hours_of_reading_neither_run_dry_nor_grow(tmp_path):
    document = open_document(_long_book(tmp_path / "a.txt", 14))
    loudspeaker = _LightLoudspeaker()
    seconds = 0.0
    sizes: list[int] = []
    process = psutil.Process()

    def wait(waited: float) -> None:
        nonlocal seconds
        seconds += waited
        loudspeaker.play(round(waited * RATE))

    def show(title: str, paragraph: object) -> None:
        if paragraph.kind is Kind.HEADING:
            gc.collect()  # what earlier tests left makes a full collection rare
            sizes.append(process.memory_info().rss)

    def cost(text: str) -> None:
        nonlocal seconds
        seconds += 0.02
        loudspeaker.play(round(0.02 * RATE))

    clock = Clock(lambda: seconds, wait)
    model = FakeTts(cost)
    model.spoken = _Forgetful()
    shelf = Shelf(tmp_path / "documents.json")
    read_aloud(
        PlaceKeeper(document, shelf, show, clock),
        SETTINGS,
        ReadingOptions(),
        factories=fakes(model, loudspeaker),
        clock=clock,
    )
    assert seconds > 10 * 3600
    assert loudspeaker.underruns == 0
    assert max(sizes[5:]) - min(sizes[2:5]) < 20 << 20


class _Forgetful(list[str]):
    def append(self, text: str) -> None:
        """Keep nothing: ten hours are many words."""
