"""`rubato compare` prints what was measured, and hides nothing that is absent."""

import json
from dataclasses import replace

import pytest

from app.__main__ import main
from engine.errors import ModelError
from engine.messages.comparison import Compared
from engine.runtime.host import comparison
from engine.settings import SpeechSettings
from engine.tts.base import Progress, TtsModel
from tests.fakes import FakeParts
from tests.fakes_tts import FakeTts


@pytest.fixture(autouse=True)
def _espeak_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def synthesiser(settings: SpeechSettings, progress: Progress) -> TtsModel:
        if settings.engine != "espeak":
            raise ModelError("{name} is not here.", name=settings.engine)
        return FakeTts()

    parts = replace(FakeParts().factories(), synthesiser=synthesiser)
    monkeypatch.setattr(comparison, "standard_factories", lambda: parts)


def test_the_table_is_printed_and_written_and_it_fails_where_nobody_speaks(tmp_path, capsys):
    file = tmp_path / "table.csv"
    assert main(["compare", "Go on.", "--only", "espeak,kokoro", "--csv", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "eSpeak NG  Tone" in shown
    assert "Kokoro: kokoro is not here." in shown
    assert file.read_text(encoding="utf-8").count("\n") == 3
    assert main(["compare", "Go on.", "--only", "kokoro"]) == 1


def test_with_json_rows_are_lines_while_they_grow_and_a_document_in_the_end(capsys):
    assert main(["compare", "--json", "--only", "espeak", "--", "-Go on."]) == 0
    out, err = capsys.readouterr()
    (row,) = (Compared.of(each) for each in json.loads(out)["rows"])
    lines = [Compared.of(json.loads(line)["row"]) for line in err.splitlines()]
    assert [line.state.value for line in lines][:2] == ["waiting", "loading"]
    assert lines[-1] == row
