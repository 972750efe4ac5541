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

TEXT = "The train is at the station now."
pytestmark = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")


@pytest.fixture(scope="module")
def take() -> Take:
    (made,) = synthesisers.speak_all("flite", [Request(TEXT, "slt", 1.0, 170.0)])
    assert made is not None
    return made


def recorded(tiny: Recipe, folder: Path, work: Path) -> Run:
    corpus = replace(tiny.corpus, recordings=str(folder))
    return Run(replace(tiny, corpus=corpus), work)


def test_a_recording_with_its_words_joins_the_corpus(
    tiny: Recipe, take: Take, tmp_path: Path
) -> None:
    person = tmp_path / "clips" / "maria"
    person.mkdir(parents=True)
    soundfile.write(person / "one.wav", take.pcm, take.sample_rate)
    (person / "one.txt").write_text(TEXT)
    run = recorded(tiny, tmp_path / "clips", tmp_path / "work")
    recordings.add(run)
    (shard,) = read_shards(run.stage("corpus"))
    (entry,) = shard.entries
    assert entry.text == TEXT
    assert entry.speaker == tiny.corpus.speakers + 1
    spoken = next(sound for sound in take.sounds if sound.name != "_")
    known = (take.sounds[-1].start - spoken.start) / take.sample_rate
    assert abs((entry.end - entry.starts[0]) / 24_000 - known) < 0.1


def test_a_recording_of_other_words_is_left_out_and_named(
    tiny: Recipe, take: Take, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    soundfile.write(clips / "noise.wav", np.zeros(24_000, np.float32), 24_000)
    (clips / "noise.txt").write_text("Xyzzyq plugh.")
    run = recorded(tiny, clips, tmp_path / "work")
    with caplog.at_level(logging.WARNING):
        recordings.add(run)
    assert read_shards(run.stage("corpus")) == ()
    assert "noise.wav" in caplog.text


def test_a_folder_that_is_not_there_is_an_input_error(tiny: Recipe, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not there"):
        recordings.add(recorded(tiny, tmp_path / "none", tmp_path / "work"))


def test_who_takes_some_hours_of_a_corpus_takes_its_recordings_first(
    tiny: Recipe, take: Take, tmp_path: Path
) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    soundfile.write(clips / "one.wav", take.pcm, take.sample_rate)
    (clips / "one.txt").write_text(TEXT)
    run = recorded(tiny, clips, tmp_path / "work")
    recordings.add(run)
    (own,) = read_shards(run.stage("corpus"))
    made = own.index.with_name("0000.json")
    shutil.copyfile(own.index, made)
    shutil.copyfile(own.sound, made.with_suffix(".flac"))
    assert [shard.index for shard in read_shards(run.stage("corpus"))] == [own.index, made]
    assert len(read_speech(run, hours=0.0).training) == 1
