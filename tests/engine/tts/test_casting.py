"""A name or a file becomes a voice, or an error that lists what there is."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.errors import InvalidInput, ModelError, UnreadableClip
from engine.tts import voices
from engine.tts.base import Pcm, Voice
from engine.tts.casting import choose, voice_names
from tests.fakes_tts import FakeTts

GRANDMA = Voice("Grandma", "fake", metadata={"clip": "x"})


class CloningTts(FakeTts):
    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        return Voice("clip", "fake", {"pcm": pcm}, {"sample_rate": str(sample_rate)})


def test_nothing_wanted_is_the_default(tmp_path: Path) -> None:
    assert choose(FakeTts(), "", kept_in=tmp_path).name == "Tone"


def test_a_name_is_found_whatever_its_case(tmp_path: Path) -> None:
    assert choose(FakeTts(), "tONE", kept_in=tmp_path).name == "Tone"


def test_a_kept_voice_is_found_and_named(tmp_path: Path) -> None:
    voices.save(GRANDMA, tmp_path)
    voices.save(Voice("Stranger", "another"), tmp_path)
    assert choose(FakeTts(), "grandma", kept_in=tmp_path) == GRANDMA
    assert voice_names(FakeTts(), kept_in=tmp_path) == ("Tone", "Grandma")


def test_a_saved_voice_file_is_loaded(tmp_path: Path) -> None:
    path = voices.save(GRANDMA, tmp_path / "elsewhere").path
    assert choose(FakeTts(), str(path), kept_in=tmp_path) == GRANDMA


def test_a_saved_voice_of_another_model_is_refused(tmp_path: Path) -> None:
    path = voices.save(Voice("Stranger", "another"), tmp_path).path
    with pytest.raises(InvalidInput, match="another"):
        choose(FakeTts(), str(path), kept_in=tmp_path)


def test_a_recording_is_encoded_at_its_own_rate(tmp_path: Path) -> None:
    path = tmp_path / "me.wav"
    soundfile.write(path, np.full(4410, 0.25), 44_100)
    voice = choose(CloningTts(), str(path), kept_in=tmp_path)
    assert voice.metadata["sample_rate"] == "44100"
    assert len(voice.tensors["pcm"]) == 4410


def test_a_recording_for_a_voice_that_cannot_clone_says_so(tmp_path: Path) -> None:
    path = tmp_path / "me.wav"
    soundfile.write(path, np.full(4410, 0.25), 44_100)
    with pytest.raises(ModelError, match="cannot clone"):
        choose(FakeTts(), str(path), kept_in=tmp_path)


def test_a_missing_recording_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClip):
        choose(CloningTts(), str(tmp_path / "gone.wav"), kept_in=tmp_path)


def test_an_unknown_name_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as failure:
        choose(FakeTts(), "Nobody", kept_in=tmp_path)
    assert "Tone" in failure.value.hint
