"""All stages of SMLLE on a few seconds of speech and a few steps: they run, and the pack speaks."""

import shutil

import numpy as np
import pytest

from engine.errors import ModelError
from engine.training.codec.speech import read_speech
from engine.training.evaluation.performance import spoken_rate
from engine.training.packing import pack_folder
from engine.training.run import Run
from engine.training.smlle.export import FASTEST, SLOWEST, sentences
from engine.training.smlle.utterances import own_rate, read_tokens
from engine.training.voice.rate_table import enough
from engine.tts.smlle import synthesiser
from engine.tts.smlle.config import read_pack_config
from engine.tts.smlle.synthesiser import SmlleSynthesiser
from tests.engine.tts.utterances import speak

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def run(run_of) -> Run:
    return run_of("smlle")


@pytest.fixture(scope="module")
def loaded(run) -> SmlleSynthesiser:
    return synthesiser.load(pack_folder(run))


def test_its_own_rate_is_how_fast_it_speaks(loaded, run):
    generation = read_pack_config(pack_folder(run) / "config.json").generation
    people = read_tokens(run).training
    learnt = own_rate([each for person in people.values() for each in person])
    heard = spoken_rate(loaded, enough(sentences(), learnt, 1.0))
    assert generation.own_rate == min(max(heard, SLOWEST), FASTEST)
    assert generation.own_rate != learnt


def test_a_clip_becomes_a_voice_of_the_pack(loaded, run):
    spoken = max(read_speech(run, 1.0).training, key=lambda each: len(each.pcm))
    made = loaded.encode_voice(spoken.pcm.astype(np.float32) / 32768, 24_000)
    assert made.model == loaded.info.voice_model
    assert set(made.tensors["phones"].tolist()) == {loaded.parts.spectrum.shape.masked}
    with loaded.open(made, seed=1) as session:
        assert speak(session, ["Yes."])


def test_every_utterance_is_as_many_tokens_as_columns_and_alignments(run):
    everybody = [each for person in read_tokens(run).training.values() for each in person]
    assert everybody
    for each in everybody:
        assert len(each.mel) == 2 * each.steps == 2 * len(each.spoken_by)
        assert (np.diff(each.spoken_by) >= 0).all()
        assert each.spoken_by[0] == 0  # silence before speech
        assert each.spoken_by[-1] == len(each.phones) + 1  # and behind it
        assert len(each.marks) == len(each.phones)


def test_a_pack_with_a_file_of_another_network_is_refused(run, tmp_path):
    folder = tmp_path / "pack"
    shutil.copytree(pack_folder(run), folder)
    shutil.copy(folder / synthesiser.SPECTRUM_FILE, folder / synthesiser.TRANSDUCER_FILE)
    with pytest.raises(ModelError, match="transducer"):
        synthesiser.load(folder)
