"""`rubato bench` prints the measurements and the pick with its reason; progress goes elsewhere."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.__main__ import main
from engine import api
from engine.bench.machine import Row

ROWS = (
    Row("synthesiser", "voxtream2 int8", "cpu", 2.0, 300.0, 1.3, 1200.0, profile="int8"),
    Row("synthesiser", "voxtream2 int4", "cpu", 1.0, 200.0, 0.74, 900.0, profile="int4"),
    Row("synthesiser", "kokoro", "cpu", 1.0, 150.0, 0.25, 300.0),
)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(settings: Any, *, quick: bool, tell: Callable[[str], None]) -> tuple[Row, ...]:
        tell("Measuring ...")
        return () if quick else ROWS

    monkeypatch.setattr(api, "bench", measured)


def test_the_pick_and_its_reason_follow_the_table(capsys):
    assert main(["bench"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-3:] == [
        "Profile of the neural voice: int4. int4 keeps RTF at 0.74; int8 would need 1.30.",
        "Recogniser 'auto': sphinx. Whisper is not fetched (rubato models get whisper-base).",
        "Synthesiser 'auto': starter. The built-in voice: Kokoro is not fetched (rubato models get "
        "kokoro).",
    ]
    assert err == "Measuring ...\n"


def test_json_is_one_document_with_rows_and_pick(capsys):
    assert main(["bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["profile"] for row in found["rows"]] == ["int8", "int4", ""]
    assert found["pick"]["profile"] == "int4"
    assert found["synthesiser"]["synthesiser"] == "kokoro"
