"""Who is measured beside a voice."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.training.evaluation import talkers
from engine.training.evaluation.talkers import (
    MOST_VOICES,
    LiveTalker,
    source_talkers,
    talkers_beside,
    talkers_of,
)
from engine.training.recipe import Recipe

STARTER = Path(__file__).parents[4] / "resources" / "starter"


def beside(tiny: Recipe, *names: str) -> Recipe:
    return replace(tiny, evaluate=replace(tiny.evaluate, beside=names))


def test_a_pack_beside_speaks_with_all_its_voices(tiny: Recipe) -> None:
    (found,) = talkers_beside(beside(tiny, str(STARTER))).items()
    assert found[0] == "starter"
    assert len(found[1]) == 6
    assert all(isinstance(talker, LiveTalker) for talker in found[1])


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


def test_kokoro_speaks_whole_texts_and_a_synthesiser_of_the_program_word_by_word() -> None:
    whole = talkers_of("kokoro")
    assert [talker.name for talker in whole][:2] == ["kokoro Heart", "kokoro Michael"]
    assert len(whole) == MOST_VOICES
    assert talkers_of("kokoro", ("George",))[0].name == "kokoro George"
    assert talkers_of("espeak-live", ("Clara",)) == (LiveTalker("espeak", "Clara"),)
    with pytest.raises(InvalidInput, match="one of the voices"):
        talkers_of("espeak-live", ("Clara", "Nobody"))


def test_a_corpus_of_kokoro_is_compared_with_its_first_voices(tiny: Recipe) -> None:
    spoken = replace(tiny, corpus=replace(tiny.corpus, synthesisers=("kokoro", "espeak")))
    assert source_talkers(spoken) == talkers_of("kokoro")
