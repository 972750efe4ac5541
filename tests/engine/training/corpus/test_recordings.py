"""A folder of recordings with transcripts becomes shards; what does not fit is left out."""

import logging
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.errors import InvalidInput
from engine.training.codec.speech import read_speech
from engine.training.corpus import recordings
from engine.training.corpus.shards import read_shards
from engine.training.recipe import Recipe
from engine.training.run import Run
from engine.training.teachers import synthesisers
from engine.training.teachers.synthesisers import Request, Take
from engine.tts.base import Pcm
from tests.engine.training.conftest import needs_flite

TEXT = "The train is at the station now."
pytestmark = needs_flite


@pytest.fixture(scope="module")
def take() -> Take:
    (made,) = synthesisers.speak_all("flite", [Request(TEXT, "slt", 1.0, 170.0)])
    return made


def recorded(tiny: Recipe, work: Path, pcm: Pcm, rate: int, text: str = TEXT) -> Run:
    """A run with the recording, of a person called Maria, and its transcript."""
    person = work / "clips" / "maria"
    person.mkdir(parents=True)
    soundfile.write(person / "one.wav", pcm, rate)
    (person / "one.txt").write_text(text)
    corpus = replace(tiny.corpus, recordings=str(work / "clips"))
    run = Run(replace(tiny, corpus=corpus), work / "work")
    recordings.add(run)
    return run


def test_a_recording_with_its_words_joins_the_corpus(tiny, take, tmp_path):
    run = recorded(tiny, tmp_path, take.pcm, take.sample_rate)
    (own,) = read_shards(run.stage("corpus"))
    (entry,) = own.entries
    assert entry.text == TEXT
    assert entry.speaker == tiny.corpus.speakers + 1
    spoken = next(sound for sound in take.sounds if sound.name != "_")
    known = (take.sounds[-1].start - spoken.start) / take.sample_rate
    assert abs((entry.end - entry.starts[0]) / 24_000 - known) < 0.1
    made = own.index.with_name("0000.json")
    shutil.copyfile(own.index, made)
    shutil.copyfile(own.sound, made.with_suffix(".flac"))
    assert [shard.index for shard in read_shards(run.stage("corpus"))] == [own.index, made]
    assert len(read_speech(run, hours=0.0).training) == 1


def test_a_recording_of_other_words_is_left_out_and_named(tiny, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        run = recorded(tiny, tmp_path, np.zeros(24_000, np.float32), 24_000, "Xyzzyq plugh.")
    assert read_shards(run.stage("corpus")) == ()
    assert "one.wav" in caplog.text
    (run.folder.parent / "clips").rename(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="not there"):
        recordings.add(run)
