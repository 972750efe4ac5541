"""The packs that come with the program, heard: every one speaks, ends, and is understood; and what
the papers say of their systems shows, where it does.

A few seconds a pack. The built-in voice, a VoXtream2, is held to the same.
"""

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from engine.systems import SYSTEMS
from engine.training.evaluation.performance import Spoken, say
from engine.training.evaluation.recognisers import Recogniser, word_error_rate
from engine.training.evaluation.voices import loaded
from engine.tts import packs
from engine.tts.delays import SEED, speak
from tests.engine.training.test_shipped import SENTENCES
from tests.engine.tts.llmvox.small_pack import write_pack
from tests.engine.tts.utterances import say as say_in_chunks

RESOURCES = Path(__file__).parents[3] / "resources"
THERE = {system.name: RESOURCES / packs.SHIPPED / system.name for system in SYSTEMS}
THERE = {name: folder for name, folder in THERE.items() if folder.is_dir()}
FOLDERS = {"voxtream2": RESOURCES / "starter", **THERE}
LARGEST_BYTES = 10_000_000  # of a paper's pack
ALL_BYTES = 34_000_000  # of all of them
SAID = (SENTENCES[1], SENTENCES[13])
# Words wrong, of 11, with a bigram of twenty sentences. Speech is understood, or words are lost
# by the dozen: of weights that know nothing, all are wrong.
BOUND = 0.3


@pytest.fixture(scope="module")
def judge() -> Recogniser:
    return Recogniser(SENTENCES)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    loaded.cache_clear()


def said_by(folder: Path, texts: tuple[str, ...] = SAID, rates: tuple = ()) -> list[Spoken]:
    """What its first voice says."""
    model = loaded(str(folder))
    return [say(model, model.voices()[0], text, *rates) for text in texts]


def words_wrong(judge: Recogniser, said: list[Spoken]) -> float:
    transcripts = [judge.hear(each.pcm, each.sample_rate) for each in said]
    return word_error_rate([each.text for each in said], transcripts)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_it_is_understood_ends_and_is_the_same_word_by_word(name, judge):
    said = said_by(FOLDERS[name])
    assert all(each.ended for each in said)
    assert words_wrong(judge, said) <= BOUND
    model, words = loaded(str(FOLDERS[name])), SAID[0].split()
    # Where a voice reads ahead, which words were known is of the trace: the same one twice.
    chunks = [[word] for word in words] if model.info.reads_ahead else [words]
    assert np.array_equal(said[0].pcm, say_in_chunks(model, chunks, seed=SEED).pcm)


@pytest.mark.slow
def test_weights_that_know_nothing_would_be_noticed(tmp_path, judge):
    assert words_wrong(judge, said_by(write_pack(tmp_path / "pack"))) > 2 * BOUND


def test_the_packs_are_small_and_say_what_they_are():
    sizes = {name: sum(f.stat().st_size for f in at.rglob("*.*")) for name, at in THERE.items()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_BYTES} == {}
    assert sum(sizes.values()) <= ALL_BYTES
    for name, folder in THERE.items():
        assert packs.system_of(folder) == name
        assert 10 < (folder / "CARD.md").read_text(encoding="utf-8").count("\n") < 120


# ------------------------------------------------------------------------- what the papers say


def words_before_sound(folder: Path, text: str) -> int:
    model = loaded(str(folder))
    with model.open(model.voices()[0], seed=SEED) as session:
        return next(speak(session, text.split())).words


@pytest.mark.slow
def test_voxtream_begins_at_the_first_word():
    before = {
        name: median(words_before_sound(folder, text) for text in SENTENCES[:3])
        for name, folder in FOLDERS.items()
    }
    assert before["voxtream"] == min(before.values()) == 1


@pytest.mark.slow
def test_each_word_that_speakstream_knows_ahead_costs_a_word_s_delay(tmp_path):
    needed = []
    for window in (1, 2, 3):
        folder = shutil.copytree(FOLDERS["speakstream"], tmp_path / str(window))
        config = json.loads((folder / packs.CONFIG_FILE).read_text(encoding="utf-8"))
        config["generation"] |= {"window": window, "hop": 1}
        (folder / packs.CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
        needed.append(words_before_sound(folder, SENTENCES[0]))
    assert {later - sooner for sooner, later in pairwise(needed)} == {1}


@pytest.mark.slow
def test_voxtream2_follows_a_rate_best():
    """By the errors of the slowest and a high rate, as shares: 0.3 of it, of the next 1.3."""
    errors = {
        name: sum(
            abs(said_by(folder, SENTENCES[:1], ((asked,),))[0].rate / asked - 1)
            for asked in (2.0, 6.0)
        )
        for name, folder in FOLDERS.items()
        if name != "voxtream"
    }
    assert min(errors, key=lambda name: errors[name]) == "voxtream2"
