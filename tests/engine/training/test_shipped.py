"""The voice that ships, heard: its files, its voices, its words at three rates, that it ends."""

import json
import shutil
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from engine.settings.systems import SYSTEMS
from engine.training.evaluation.voices import LiveVoice, Spoken, loaded, say
from engine.training.run import file_hash
from engine.tts import packs
from engine.tts.delays import SEED, speak
from tests.engine.training.bigram import Recogniser, word_error_rate
from tests.engine.tts.llmvox.small_model import write_pack
from tests.engine.tts.utterances import say as say_in_chunks

PACK = Path(__file__).parents[3] / "resources" / "starter"
HASHES = tomllib.loads(Path(__file__).with_name("shipped.toml").read_text("utf-8"))
VOICES = ("Anton", "Bruno", "Clara", "Dario", "Edda", "Fanny")
SENTENCES = tuple(Path(__file__).with_name("sentences.txt").read_text("utf-8").splitlines())
# Words wrong with a bigram of these sentences, of 112 at each rate. Of the pack that ships it was
# 0.9, 0.0 and 0.0 %; another processor rounds otherwise and draws other codes. With its codes in
# another order, or its phones eight places off, more words are wrong than there are.
# 34 s of one core at all rates; make test takes a sentence of every voice at the middle one.
BOUNDS = {2.5: 0.1, 4.0: 0.08, 6.0: 0.08}


def test_its_files_are_those_that_were_measured():
    found = {str(file.relative_to(PACK)): file_hash(file) for file in PACK.rglob("*.*")}
    del found["CARD.md"]
    assert found == HASHES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "sentences"),
    [
        pytest.param(4.0, SENTENCES[: len(VOICES)], id="some at 4 SPS"),
        *(pytest.param(rate, SENTENCES, id=f"all at {rate:g} SPS", marks=pytest.mark.long)
          for rate in BOUNDS),
    ],
)  # fmt: skip
def test_it_is_understood_at_every_rate_and_ends_by_itself(rate, sentences, judge):
    said = [
        spoken
        for number, name in enumerate(VOICES)
        for spoken in LiveVoice(str(PACK), name).speak(sentences[number :: len(VOICES)], rate)
    ]
    heard = [judge.hear(spoken.pcm, spoken.sample_rate) for spoken in said]
    assert word_error_rate([spoken.text for spoken in said], heard) <= BOUNDS[rate]
    assert all(spoken.ended for spoken in said)
    assert sum(spoken.rate for spoken in said) / len(said) == pytest.approx(rate, rel=0.2)


# --------------------------------------------------------------------------- the systems of papers


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


def said_by(folder: Path, texts: tuple[str, ...] = SAID, rate: float | None = None) -> list[Spoken]:
    model = loaded(str(folder))
    return [say(model, model.voices()[0], text, rate) for text in texts]


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


@pytest.mark.long
def test_voxtream2_follows_a_rate_best():
    """By the errors of the slowest and a high rate, as shares: 0.3 of it, of the next 1.3."""
    errors = {
        name: sum(
            abs(said_by(folder, SENTENCES[:1], asked)[0].rate / asked - 1) for asked in (2.0, 6.0)
        )
        for name, folder in FOLDERS.items()
        if loaded(str(folder)).info.rate_range
    }
    assert min(errors, key=lambda name: errors[name]) == "voxtream2"
