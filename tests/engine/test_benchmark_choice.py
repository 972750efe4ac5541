"""A pick is found again as it was written, and nothing else is taken for one."""

from dataclasses import dataclass

import pytest

from engine.benchmark_choice import read_pick, write_pick
from engine.errors import SettingsError
from engine.translatable import Translatable, joined


@dataclass(frozen=True)
class Pick:
    engine: str
    reason: str


def test_a_reason_keeps_its_template_and_that_of_an_older_file_is_english(tmp_path):
    file = tmp_path / "pick.json"
    reason = joined((Translatable("{name} is quick.", name="Steam {x}"), Translatable("Go.")))
    write_pick(Pick("steam", reason), file, what="engine", setting="car.engine")
    found = read_pick(Pick, file)
    assert found is not None
    assert isinstance(found.reason, Translatable)
    assert (found.reason, found.reason.values) == ("Steam {x} is quick. Go.", reason.values)
    file.write_text('{"engine": "steam", "reason": "{x} is quick."}')
    assert read_pick(Pick, file) == Pick("steam", "{x} is quick.")


def test_what_is_no_pick_counts_as_none_and_one_that_cannot_be_kept_is_told(tmp_path):
    file = tmp_path / "pick.json"
    assert read_pick(Pick, file) is None
    wrong = ('{"engine": "steam"}', '{"engine": 1, "reason": ""}', '{"engine": "x", "reason": 2}')
    for text in ("", "[]", "{}", *wrong, "[" * 100_000):
        file.write_text(text)
        assert read_pick(Pick, file) is None
    with pytest.raises(SettingsError, match="choice of engine cannot be saved") as refusal:
        write_pick(
            Pick("steam", "It is quick."), file / "pick.json", what="engine", setting="car.engine"
        )
    assert "car.engine" in refusal.value.hint
