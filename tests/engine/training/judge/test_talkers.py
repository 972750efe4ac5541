"""Who is measured beside a voice."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.training.corpus.speakers import cast
from engine.training.judge import talkers
from engine.training.judge.talkers import PackTalker, TeacherTalker, source_talkers, talkers_beside
from engine.training.recipe import Recipe, read_recipe
from tests.engine.training.conftest import TINY

STARTER = Path(__file__).parents[4] / "resources" / "starter"


def beside(tiny: Recipe, *names: str) -> Recipe:
    return replace(tiny, evaluate=replace(tiny.evaluate, beside=names))


def test_a_pack_beside_speaks_with_all_its_voices(tiny: Recipe) -> None:
    (found,) = talkers_beside(beside(tiny, str(STARTER))).items()
    assert found[0] == "starter"
    assert len(found[1]) == 6
    assert all(isinstance(talker, PackTalker) for talker in found[1])


def test_a_synthesiser_beside_has_to_be_there(
    tiny: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talkers.synthesisers.shutil, "which", lambda name: f"/usr/bin/{name}")
    found = talkers_beside(beside(tiny, "flite"))
    assert [talker.name for talker in found["flite"]][:2] == ["flite rms", "flite slt"]
    monkeypatch.setattr(talkers.synthesisers.shutil, "which", lambda name: None)
    with pytest.raises(InvalidInput, match="is called 'flite'"):
        talkers_beside(beside(tiny, "flite"))
    with pytest.raises(InvalidInput, match="is called 'nowhere'"):
        talkers_beside(beside(tiny, "nowhere"))


def test_of_a_teacher_voices_are_compared_with_that_nobody_learns_from() -> None:
    natural = read_recipe(TINY.with_name("natural.toml"))
    learnt = {name for person in cast(natural) if not person.held_out for name, _ in person.blend}
    voices = [
        talker.voice for talker in source_talkers(natural) if isinstance(talker, TeacherTalker)
    ]
    assert len(voices) == 4
    assert not learnt & set(voices)
