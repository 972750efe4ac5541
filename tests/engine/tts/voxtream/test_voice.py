"""A recording becomes a voice, or the person is told why not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.audio.clips.clip import Clip
from engine.audio.clips.denoise import denoiser
from engine.errors import InvalidInput, ModelError, UnreadableClip
from engine.tts.base import Pcm, Voice
from engine.tts.papers.synthesiser import prompt_codes
from engine.tts.speaker import recording
from engine.tts.voxtream import synthesiser
from engine.tts.voxtream.files.pack import load_speaker_encoder
from tests.engine.tts.voxtream.random_weights import random_speaker_encoder


def with_air(speech: Clip, seconds: float, noise: float = 0.0) -> Pcm:
    """The speech with that much silence around it, and noise over all of it."""
    air = np.zeros(round(seconds * speech.sample_rate), np.float32)
    padded = np.concatenate([air, speech.pcm, air])
    hiss = np.random.default_rng(0).normal(0, noise, len(padded)) if noise else 0
    return (padded + hiss).astype(np.float32)


@pytest.mark.skipif(not denoiser(), reason="livekit is not installed")
def test_a_noisy_recording_is_denoised(synthesiser, speech):
    noisy, clean = (
        synthesiser.encode_voice(with_air(speech, 0.5, noise), speech.sample_rate).metadata
        for noise in (0.02, 0.0)
    )
    assert (noisy["denoising"], clean["denoising"]) == ("webrtc", "none")
    assert noisy["options_sha256"] != clean["options_sha256"]


class Ears:
    """Codec and speaker encoder that keep what they are given."""

    def __init__(self) -> None:
        self.codes_of = self.speaker_of = torch.empty(0)

    def encode(self, pcm: Tensor) -> Tensor:
        self.codes_of = pcm[0, 0]
        return torch.zeros(1, 4, 10)

    def embed(self, pcm: Tensor) -> Tensor:
        self.speaker_of = pcm
        return torch.ones(192)


def test_pauses_and_what_is_behind_twenty_seconds_go(speech):
    seconds = []
    for pcm in (speech.pcm, with_air(speech, 4.0), np.tile(speech.pcm, 10)):
        ears: Any = Ears()
        synthesiser.encode(pcm, speech.sample_rate, ears, ears, "any")
        seconds.append(len(ears.codes_of) / 24_000)
    plain, padded, long = seconds
    assert abs(padded - plain) < 0.8  # 0.3 s of air twice
    assert long == 20


def test_who_speaks_is_told_from_what_was_recorded_and_codes_are_of_what_was_denoised(
    speech, monkeypatch
):
    """As the released implementation does it."""
    noisy, ears = with_air(speech, 0.5, 0.02), Ears()
    monkeypatch.setattr(recording, "denoiser", lambda: "half")
    monkeypatch.setattr(recording, "denoised", lambda pcm, rate: pcm / 2)
    made = synthesiser.encode(noisy, speech.sample_rate, ears, ears, "any")  # type: ignore[arg-type]
    assert made.metadata["denoising"] == "half"
    loud, half = float(ears.speaker_of.std()), float(ears.codes_of.std())
    assert half == pytest.approx(loud / 2, rel=0.05)
    assert len(ears.codes_of) / 24_000 == pytest.approx(len(ears.speaker_of) / 16_000, abs=0.001)


@pytest.mark.parametrize(
    "codes",
    [
        np.full((4, 20), 32, np.int16),  # the mark of a dropped code, and a row of another codebook
        np.full((4, 20), 2047, np.int16),
        np.full((4, 20), -1, np.int16),
        np.full((3, 20), 1, np.int16),
        np.full((4, 1), 1, np.int16),
        np.full((4, 624), 1, np.int16),  # no column of the window would be left to speak in
        np.full((4, 20), 1.0, np.float32),
        np.full(20, 1, np.int16),
    ],
)
def test_codes_of_another_model_are_refused(codes):
    with pytest.raises(InvalidInput, match="does not fit: it holds"):
        prompt_codes(Voice("Eve", "any", {"codes": codes}), 4, 32, 623)


@pytest.mark.parametrize(
    ("pcm", "message"),
    [
        (np.zeros(11_000, np.float32), "too short"),
        (np.zeros(110_000, np.float32), "s of speech were found"),
        (np.full(110_000, np.nan, np.float32), "no sound"),
        (np.full(110_000, 1e9, np.float32), "no sound"),
        (np.zeros((110_000, 2), np.float32), "one channel"),
        (np.random.default_rng(0).normal(0, 0.1, 110_000).astype(np.float32), "speech were found"),
    ],
)
def test_what_is_not_speech_is_refused_with_the_reason(synthesiser, pcm, message):
    with pytest.raises(UnreadableClip, match=message):
        synthesiser.encode_voice(pcm, 22_050)


State = dict[str, Tensor]
DAMAGE: dict[str, Callable[[State], object]] = {
    r"'linear\.bias' holds NaN": lambda state: state["linear.bias"].fill_(torch.nan),
    "holds 'more'": lambda state: state.update(more=torch.ones(1)),
    r"lacks 'linear\.weight', expected \[192, 2304\]": lambda state: state.pop("linear.weight"),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_the_speaker_encoder_s_file_must_hold_its_weights(tmp_path, message):
    file, state = tmp_path / "encoder.pt", random_speaker_encoder(0).state_dict()
    DAMAGE[message](state)
    torch.save({"state_dict": state}, file)
    with pytest.raises(ModelError, match=message):
        load_speaker_encoder(file)
    file.write_bytes(file.read_bytes()[:999])
    with pytest.raises(ModelError, match="damaged"):
        load_speaker_encoder(file)


def test_a_file_with_the_head_of_its_training_is_read(tmp_path):
    file = tmp_path / "encoder.pt"
    encoder = random_speaker_encoder(0)
    head = {"cls_head.2.weight": torch.ones(100, 192), "cls_head.2.bias": torch.ones(100)}
    torch.save({"state_dict": encoder.state_dict() | head}, file)
    pcm = torch.randn(32_000, generator=torch.Generator().manual_seed(0))
    assert torch.equal(load_speaker_encoder(file).embed(pcm), encoder.embed(pcm))


def test_a_pickle_with_code_is_not_run(tmp_path):
    file = tmp_path / "encoder.pt"
    torch.save({"model_config": Path("x"), "state_dict": {}}, file)
    with pytest.raises(ModelError, match="more than weights"):
        load_speaker_encoder(file)
