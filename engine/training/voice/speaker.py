"""The stage `speaker`: a small network learns to tell hundreds of virtual speakers apart.

Trained as a classifier with an additive angular margin (Deng et al., 2019), judged by the equal
error rate on unseen speakers. Invariant: the speech it is judged on took no part in training.
"""

import math
import random
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soxr
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import InvalidInput
from engine.nn import stored_weights
from engine.nn.weights_file import shape_metadata
from engine.training import recipe as recipes
from engine.training.codec.speech import Speech, Spoken, read_speech
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.loop import Learner, Losses, StepContext, train
from engine.training.ranks import Ranks, is_first
from engine.training.run import Run, file_hash
from engine.tts.packs import SPEAKER_FILE
from engine.tts.speaker.small import SAMPLE_RATE as SPEAKER_RATE
from engine.tts.speaker.small import (
    SmallSpeaker,
    SmallSpeakerConfig,
    load_small_speaker,
)

VALIDATION_CLIPS = 60
NOISY = 0.5  # share of windows with the sound of a room


def config_of(recipe: recipes.Speaker) -> SmallSpeakerConfig:
    """The shape a recipe asks for."""
    return SmallSpeakerConfig(recipe.bands, recipe.channels, recipe.width)


def train_speaker(run: Run) -> None:
    """Train and write speaker.safetensors; the manifest holds the equal error rate."""
    inputs = run.require("corpus")
    recipe = run.recipe.speaker
    speech = read_speech(run, recipe.hours)
    mean = train(
        run, "speaker", recipe.schedule, lambda ranks: SpeakerLearner(run.recipe, speech, ranks)
    )
    if not is_first():
        return
    network = {
        key.removeprefix("network."): v for key, v in mean.items() if key.startswith("network.")
    }
    file = run.stage("speaker") / "speaker.safetensors"
    save_file(network, file, shape_metadata(config_of(recipe)))
    model = SmallSpeaker(config_of(recipe)).eval()
    model.load_state_dict(network)
    clips = list(speech.held_out[:VALIDATION_CLIPS])
    run.finish(
        "speaker", inputs, equal_error_rate=equal_error_rate(model, clips, recipe.window_seconds)
    )


def take_or_train_speaker(run: Run) -> None:
    """The encoder of the pack a recipe begins with; without a pack, or with a schedule, one that is
    trained. InvalidInput when the pack's has another width than the recipe says.
    """
    if not run.recipe.begin_with or run.recipe.speaker.schedule.steps:
        train_speaker(run)
        return
    corpus = run.require("corpus")
    source = Path(run.recipe.begin_with) / SPEAKER_FILE
    width = load_small_speaker(source).config.width
    if width != run.recipe.speaker.width:
        raise InvalidInput(
            "The speaker encoder of {pack} gives {width} numbers, the recipe says {expected}.",
            hint="Set speaker.width, or leave begin_with out.",
            pack=run.recipe.begin_with,
            width=width,
            expected=run.recipe.speaker.width,
        )
    target = run.stage("speaker") / "speaker.safetensors"
    partial = target.with_suffix(".partial")
    shutil.copyfile(source, partial)
    partial.replace(target)
    run.finish("speaker", {**corpus, "pack": file_hash(source)}, taken_from=str(source))


class SpeakerLearner(Learner):
    """The network and the classes it is trained on."""

    averaged = "speaker"

    def __init__(self, whole: recipes.Recipe, speech: Speech, ranks: Ranks) -> None:
        recipe = whole.speaker
        self._recipe = recipe
        self._speech = speech
        numbers = sorted({utterance.entry.speaker for utterance in speech.training})
        self._classes = {number: place for place, number in enumerate(numbers)}
        self._by_speaker = {
            number: [
                utterance for utterance in speech.training if utterance.entry.speaker == number
            ]
            for number in numbers
        }
        network = SmallSpeaker(config_of(recipe))
        if whole.begin_with:
            network.load_state_dict(stored_weights.load(Path(whole.begin_with) / SPEAKER_FILE))
        classes = nn.Linear(recipe.width, len(numbers), bias=False)
        both = nn.ModuleDict({"network": network, "classes": classes})
        super().__init__(recipe.schedule, ranks, speaker=both)

    def learn(self, context: StepContext) -> Losses:
        draw = context.draw
        people = [draw.choice(list(self._by_speaker)) for _ in range(self._batch_size)]
        clips = [self._clip(draw.choice(self._by_speaker[number]), draw) for number in people]
        labels = torch.tensor([self._classes[number] for number in people], device=self._device)
        loss = self._loss(torch.stack(clips).to(self._device), labels)
        return self._optimise({"margin": loss}, context)

    def validate(self) -> dict[str, float]:
        both = self.parts["speaker"].eval()
        assert isinstance(both, nn.ModuleDict)
        network = both["network"]
        assert isinstance(network, SmallSpeaker)
        clips = list(self._speech.held_out[:VALIDATION_CLIPS])
        error = equal_error_rate(network, clips, self._recipe.window_seconds)
        both.train()
        return {"equal_error_rate": error}

    def _clip(self, utterance: Spoken, draw: random.Random) -> Tensor:
        pcm = _window(utterance, self._recipe.window_seconds, draw)
        if draw.random() < NOISY:
            pcm = in_a_room(pcm, SPEAKER_RATE, draw)
        return torch.from_numpy(pcm)

    def _loss(self, pcm: Tensor, labels: Tensor) -> Tensor:
        both = self.parts["speaker"]
        assert isinstance(both, nn.ModuleDict)
        classes = both["classes"]
        assert isinstance(classes, nn.Linear)
        vectors = functional.normalize(both["network"](pcm))
        cosines = functional.linear(vectors, functional.normalize(classes.weight))
        angles = cosines.clamp(-1 + 1e-6, 1 - 1e-6).acos()
        own = functional.one_hot(labels, len(self._classes)).bool()
        with_margin = torch.where(own, (angles + self._recipe.margin).clamp(max=math.pi), angles)
        return functional.cross_entropy(with_margin.cos() * self._recipe.scale, labels)


@torch.no_grad()
def equal_error_rate(model: SmallSpeaker, clips: list[Spoken], seconds: float) -> float:
    """Share of wrong answers to "the same person?" at the threshold where both kinds of error are
    equally frequent; 0.5 unless there are two clips of one person and two people.
    """
    device = next(model.parameters()).device
    draw = random.Random(0)
    vectors, people = [], []
    for utterance in clips:
        pcm = torch.from_numpy(_window(utterance, seconds, draw)).to(device)
        vectors.append(functional.normalize(model.embed(pcm), dim=0).cpu())
        people.append(utterance.entry.speaker)
    if not vectors:
        return 0.5
    matrix = torch.stack(vectors)
    cosines = (matrix @ matrix.T).numpy()
    upper = np.triu_indices(len(people), k=1)
    same = (np.asarray(people)[:, None] == np.asarray(people)[None])[upper]
    return rate_where_equal(cosines[upper][same], cosines[upper][~same])


def rate_where_equal(same: npt.NDArray[np.floating], other: npt.NDArray[np.floating]) -> float:
    """Equal error rate from the scores of pairs of the same person and of different people."""
    if not len(same) or not len(other):
        return 0.5
    thresholds = np.unique(np.concatenate((same, other)))
    misses = (same[None] < thresholds[:, None]).mean(1)
    wrong = (other[None] >= thresholds[:, None]).mean(1)
    best = int(np.abs(misses - wrong).argmin())
    return float((misses[best] + wrong[best]) / 2)


def _window(utterance: Spoken, seconds: float, draw: random.Random) -> npt.NDArray[np.float32]:
    """A window of an utterance at the encoder's rate; short ones are repeated."""
    length = int(seconds * SAMPLE_RATE)
    start = draw.randrange(max(1, len(utterance.pcm) - length))
    part = utterance.pcm[start : start + length].astype(np.float32) / 32768
    if len(part) < length:
        part = np.resize(part, length)
    resampled: npt.NDArray[np.float32] = soxr.resample(part, SAMPLE_RATE, SPEAKER_RATE)
    return resampled
