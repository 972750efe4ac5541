"""One text by every system: measured alike, absent ones say why, and nobody is heard early."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.errors import InvalidInput, ModelError
from engine.export import COLUMNS, comparison_table, write_comparison
from engine.messages.comparison import Compared, ComparisonState, Recital
from engine.runtime.factories import Factories
from engine.runtime.headless.comparison import TITLES, compare
from engine.settings import Settings, SpeechSettings
from engine.settings.systems import SYSTEMS
from engine.translatable import Progress, Translatable
from engine.tts.base import TtsModel, Voice
from engine.tts.delays import timing, trace
from tests.engine.runtime.by_hand import HandClock
from tests.help.fakes.parts import RATE, FakeParts, HandLoudspeaker
from tests.help.fakes.tts import SAMPLE_RATE, FakeTts, LostTts

TEXT = "Go on now, and do it well."
DONE, ABSENT = ComparisonState.DONE, ComparisonState.ABSENT


def factories(**models: TtsModel) -> Factories:
    """These systems are here, no others."""

    def synthesiser(settings: SpeechSettings, progress: Progress) -> TtsModel:
        if settings.engine not in models:
            raise ModelError("{name} is not here.", hint="Make it.", name=settings.engine)
        return models[settings.engine]

    return replace(FakeParts().factories(), synthesiser=synthesiser)


class BrokenTts(FakeTts):
    def warm(self, voice: Voice) -> None:
        raise RuntimeError("bad shape")


def test_a_fault_of_a_library_is_a_note_and_the_others_speak(caplog):
    broken, espeak = BrokenTts(), FakeTts()
    rows = compare(TEXT, Settings(), Recital(), factories=factories(espeak=espeak, kokoro=broken))
    found = {row.name: row for row in rows}
    assert found["kokoro"].note == "It failed: bad shape."
    assert (found["kokoro"].state, found["espeak"].state) == (ABSENT, DONE)
    assert broken.closed
    assert "comparison failed system=kokoro" in caplog.text


def test_every_system_has_a_row_and_who_is_absent_or_finds_no_end_says_so(tmp_path):
    models = {"espeak": FakeTts(), "kokoro": LostTts()}
    recital = Recital(folder=tmp_path)
    rows = compare(TEXT, Settings(), recital, factories=factories(**models))
    assert [row.name for row in rows] == list(TITLES)
    assert {system.name for system in SYSTEMS} < set(TITLES)
    assert [row.state for row in rows] == [DONE if r.name in models else ABSENT for r in rows]
    assert rows[0].note == "starter is not here. Make it."
    notes = {row.name: row.note for row in rows}
    assert "did not stop" in notes["kokoro"]
    assert notes["espeak"] == ""
    assert models["espeak"].closed
    # Each is in a file of its name.
    (row,) = (row for row in rows if row.name == "espeak")
    pcm, sample_rate = soundfile.read(tmp_path / "espeak.wav")
    assert (sample_rate, len(pcm) / sample_rate) == (SAMPLE_RATE, pytest.approx(row.seconds))
    assert np.abs(pcm).max() > 0.2


def test_a_system_is_measured_as_on_the_page_that_compares_them():
    recital, model = Recital(word_delay_ms=300.0, only=("espeak",)), FakeTts()
    (row,) = compare(TEXT, Settings(), recital, factories=factories(espeak=FakeTts()))
    found = trace(model, model.voices()[0], TEXT)
    first_sound_ms = 1000 * timing(found, 0.3).first_audible_s
    assert row.first_sound_ms == pytest.approx(first_sound_ms, abs=20)  # of processor time
    assert (row.words_before, row.voice, row.note) == (2, "Tone", "")
    assert row.rate == pytest.approx(4.0, rel=0.05)
    assert row.seconds == pytest.approx(1.75)
    assert 0 < (row.share or 0.0) < 1
    assert (row.dry_ms or 0.0) > 0  # the fake waits for the next word, which comes late


def test_aloud_words_come_one_by_one_and_all_of_it_is_played():
    loudspeaker = HandLoudspeaker()
    hand = HandClock(loudspeaker)
    said: list[float] = []
    model = FakeTts(on_word=lambda text: said.append(hand.seconds))
    parts = replace(factories(espeak=model), loudspeaker=lambda name: loudspeaker)
    recital = Recital(word_delay_ms=2000.0, aloud=True, only=("espeak",))
    (row,) = compare(TEXT, Settings(), recital, factories=parts, clock=hand.clock)
    words = len(TEXT.split())
    # It says a word when it has the next one, and the last when it knows that none follows.
    due = [2.0 * min(number, words - 1) for number in range(1, words + 1)]
    assert all(at >= earliest - 1e-6 for at, earliest in zip(said, due, strict=True))
    assert row.seconds is not None
    assert loudspeaker.samples_played == pytest.approx(row.seconds * RATE, abs=RATE / 50)
    assert loudspeaker.closed


@pytest.mark.parametrize(
    ("text", "recital", "fault"),
    [
        (" , ", Recital(), "nothing to say"),
        ("go " * 400, Recital(), "1200 characters"),
        (TEXT, Recital(word_delay_ms=-1.0), "from 0 to 5 seconds"),
        (TEXT, Recital(word_delay_ms=float("nan")), "from 0 to 5 seconds"),
        (TEXT, Recital(only=("gramophone",)), "no synthesiser called 'gramophone'"),
        (TEXT, Recital(folder=Path("/no/such/folder")), "cannot be written"),
        (TEXT, Recital(table=Path("/no/such/folder/table.csv")), "cannot be written"),
    ],
)
def test_what_will_not_do_is_refused_before_anything_loads(text, recital, fault):
    with pytest.raises(InvalidInput, match=fault):
        compare(text, Settings(), recital, factories=factories())


ROWS = (
    Compared("espeak", "eSpeak NG", DONE, "Alan", 12.6, 1, 0.014, 4.53, 2.5, 286.0),
    Compared("llmvox", "LLMVoX", ABSENT, note=Translatable("No, {name}.", name="a, b")),
)


def test_a_table_is_written_as_csv_and_printed(tmp_path):
    write_comparison(ROWS, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    assert lines[0] == list(COLUMNS)
    assert lines[1] == ["eSpeak NG", "Alan", "13", "1", "0.01", "4.5", "2.5", "286", ""]
    assert lines[2] == ["LLMVoX", *[""] * 7, "No, a, b."]
    printed = comparison_table(ROWS).splitlines()
    assert printed[1].split() == ["eSpeak", "NG", "Alan", "13", "1", "0.01", "4.5", "2.5", "286"]
    assert printed[-1] == "LLMVoX: No, a, b."
