"""Critics that tell real sound from made one, whatever they look at."""

import random
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from engine.codec.mel import BANDS
from engine.codec.vocoder import VocoderConfig, fresh_decoder
from engine.errors import InvalidInput
from engine.nn.optimiser import AdamW
from engine.nn.weights_file import shape_metadata
from engine.training.codec.sound_losses import (
    SLOTS,
    Critic,
    Reading,
    SoundLearner,
    critic_loss,
    feature_loss,
    fooling_loss,
)
from engine.training.codec.speech import SOUND_NUMBERS
from engine.training.codec.vocoder import train_vocoder
from engine.training.loop import Losses, StepContext
from engine.training.recipe import Decoder, Schedule
from engine.training.run import Run, read_json

CPU = torch.device("cpu")


def tones(hz: float) -> Tensor:
    """Two tones of 0.2 s [2, S]."""
    turns = torch.arange(4800) * hz / 24_000
    return torch.stack((turns, 1.5 * turns)).mul(2 * torch.pi).sin() * 0.3


def noises(seed: int) -> Tensor:
    return torch.randn(2, 4800, generator=torch.Generator().manual_seed(seed)) * 0.1


def test_a_critic_learns_to_tell_tones_from_noise():
    torch.manual_seed(1)
    critic = Critic(channels=8)
    descent = AdamW(critic.parameters(), 3e-3)
    for step in range(40):
        descent.zero_grad()
        critic_loss(critic(tones(300.0 + step)), critic(noises(step))).backward()
        descent.step()
    with torch.no_grad():
        real, made = critic(tones(320.5)), critic(noises(100))
        assert float(critic_loss(real, made)) < 1.0
        assert float(fooling_loss(real)) < float(fooling_loss(made)) - 1.0
        assert float(feature_loss(real, critic(tones(330.0)))) < float(feature_loss(real, made))


class Maker(SoundLearner):
    """One linear layer that makes a sound."""

    averaged = "sound"

    def __init__(self, since: float) -> None:
        schedule = Schedule(steps=20, batch=1, learning_rate=1e-3)
        self.making = nn.Linear(1, 4800)
        super().__init__(
            Decoder(schedule, adversary_from=since), self.making, CPU, sound=self.making
        )

    def learn(self, context: StepContext) -> Losses:
        pcm, output = noises(1), self.making(torch.ones(2, 1))
        return self._learn_from({"mel": (output - pcm).abs().mean()}, pcm, output, context)


@pytest.mark.parametrize(
    ("since", "step", "share", "joined"),
    [(9, 8, 0.9, False), (9, 9, 0.1, True), (0.3, 9, 0.2, False), (0.3, 9, 0.4, True)],
)
def test_a_critic_joins_at_a_step_or_at_a_share_of_the_schedule(since, step, share, joined):
    context = StepContext(step, share, random.Random(1))
    assert ("critic" in Maker(since).learn(context)) == joined


def test_a_reader_learns_from_real_speech_and_teaches_what_is_made():
    torch.manual_seed(1)
    slots = torch.randint(0, len(SOUND_NUMBERS), (2, 6 * SLOTS))
    meaning = torch.randn(len(SOUND_NUMBERS), 24)
    real = meaning[slots].view(2, 6, SLOTS, 24).sum(2).transpose(1, 2)  # [B, D, T]
    made = torch.randn(2, 24, 6, requires_grad=True)
    reading = Reading(Schedule(steps=60, batch=1, learning_rate=3e-2), 24, CPU)
    before = [value.clone() for value in reading.reader.parameters()]
    losses = []
    for _ in range(60):
        loss = reading.misread(real, made, slots)
        loss.backward()
        reading.learn()
        losses.append(float(loss.detach()))
    assert made.grad is not None
    assert bool(made.grad.any())
    assert not torch.equal(before[0], reading.reader.weight)
    assert float(reading.misread(real, real, slots)) < 0.2 * losses[0]
    assert losses[-1] > losses[0]  # noise stays noise to it


# -------------------------------------------------------------- the vocoder that systems share


SMALL = VocoderConfig(BANDS, width=16, blocks=1)


@pytest.fixture
def run(tiny, tmp_path, monkeypatch) -> Run:
    """Of a recipe that takes the vocoder of the pack `other`, which is in the data folder."""
    monkeypatch.setattr("engine.tts.packs.data_folder", lambda: tmp_path / "data")
    monkeypatch.setattr("engine.tts.packs.SHIPPED", "no such folder")
    folder = tmp_path / "data" / "packs" / "other"
    folder.mkdir(parents=True)
    (folder / "config.json").touch()
    weights = fresh_decoder(SMALL).half().state_dict()
    save_file(weights, folder / "vocoder.safetensors", shape_metadata(SMALL))
    return Run(replace(tiny, decoder=Decoder(pack="other")), tmp_path / "run")


def test_a_vocoder_is_taken_from_a_pack(run, tmp_path):
    train_vocoder(run, SMALL, lambda pcm, draw: pcm, {})
    source = tmp_path / "data" / "packs" / "other" / "vocoder.safetensors"
    taken = load_file(run.stage("decoder") / "vocoder.safetensors")
    assert all((value == taken[key]).all() for key, value in load_file(source).items())
    assert read_json(run.stage("decoder") / "manifest.json")["taken_from"] == "other"


def test_a_pack_that_is_not_there_is_named_with_the_command_that_makes_it(run):
    other = replace(run, recipe=replace(run.recipe, decoder=Decoder(pack="speakstream")))
    with pytest.raises(InvalidInput, match="speakstream") as error:
        train_vocoder(other, SMALL, lambda pcm, draw: pcm, {})
    assert "recipes/speakstream.toml --install" in str(error.value.hint)
