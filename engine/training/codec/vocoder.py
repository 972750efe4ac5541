"""The stage `decoder` of systems whose vocoder has another entry than codes.

The losses are those of the codec's decoder, without the one that needs its encoder.
Invariant: what enters is made of the samples alone, so it never changes while this learns.
"""

import random
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mel import COLUMN
from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.source import SourceDecoder
from engine.codec.vocoder import VocoderConfig, fresh_decoder, load_vocoder
from engine.errors import InvalidInput
from engine.nn.weights_file import shape_metadata
from engine.systems import command_of
from engine.training import recipe as recipes
from engine.training.codec.decoder import long_enough
from engine.training.codec.sound_losses import SoundLearner
from engine.training.codec.speech import (
    PitchTrack,
    Speech,
    Spoken,
    pitch_track,
    read_speech,
    stacked,
)
from engine.training.loop import Losses, StepContext, train_and_save
from engine.training.run import Run
from engine.tts import packs
from engine.tts.pack_files import VOCODER_FILE

LEAD = 5 * COLUMN  # samples before a window, that its first columns need
Entry = Callable[[Tensor, random.Random], Tensor]
"""Samples [B, LEAD + S] -> what the vocoder is given of the last S of them [B, T, entry]."""


def train_vocoder(run: Run, config: VocoderConfig, entry: Entry, inputs: dict[str, str]) -> None:
    """Train and write vocoder.safetensors, or take that of the pack which the recipe names.
    InvalidInput when that pack is not here, ModelError when it has none for these columns.
    """
    recipe = run.recipe.decoder
    if recipe.pack:
        _take_vocoder(run, config, inputs)
        return
    speech = read_speech(run, recipe.hours)

    def make(device: torch.device) -> VocoderLearner:
        return VocoderLearner(recipe, fresh_decoder(config), speech, entry, device)

    file = run.stage("decoder") / "vocoder.safetensors"
    train_and_save(run, file, make, inputs, shape=shape_metadata(config))


def _take_vocoder(run: Run, config: VocoderConfig, inputs: dict[str, str]) -> None:
    """One vocoder behind several networks compares the networks."""
    name = run.recipe.decoder.pack
    folder = packs.find(name)
    if folder is None:
        raise InvalidInput(
            "The recipe takes the vocoder of the pack '{name}', which is not on this machine.",
            hint="Make it first: {command}",
            name=name,
            command=command_of(name),
        )
    load_vocoder(folder / VOCODER_FILE, config.entry)
    run.take("decoder", folder / VOCODER_FILE, "vocoder.safetensors", inputs, name)


class VocoderLearner(SoundLearner):
    """A decoder behind its entry, and a critic."""

    averaged = "vocoder"

    def __init__(
        self,
        recipe: recipes.Decoder,
        decoder: SourceDecoder,
        speech: Speech,
        entry: Entry,
        device: torch.device,
    ) -> None:
        self._recipe, self._entry = recipe, entry
        self._training = long_enough(speech.training, recipe.window_frames)
        self._validation = long_enough(speech.validation, recipe.window_frames)
        self._decoder = decoder
        super().__init__(recipe, decoder, device, vocoder=decoder)
        self._tracks: dict[int, PitchTrack] = {}  # by the utterance's id()

    def learn(self, context: StepContext) -> Losses:
        pcm, output, losses = self._losses(self._training, context.draw)
        return self._learn_from(losses, pcm, output, context)

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        return self._losses(self._validation, draw)[2]

    def _losses(
        self, side: tuple[Spoken, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Samples [B, S], what was made of their columns, and the losses by name."""
        recipe = self._recipe
        longer, track = self._batch(side, draw)
        columns, pcm = self._entry(longer, draw).transpose(1, 2), longer[:, LEAD:]
        output, losses = self._sounded(self._decoder, columns, track, pcm, recipe)
        return pcm, output, losses

    def _batch(self, side: tuple[Spoken, ...], draw: random.Random) -> tuple[Tensor, PitchTrack]:
        """Samples [B, LEAD + S] and the pitch of the last S, of windows of whole frames."""
        frames = self._recipe.window_frames
        samples, tracks = [], []
        for _ in range(self._batch_size):
            utterance = draw.choice(side)
            if id(utterance) not in self._tracks:
                self._tracks[id(utterance)] = pitch_track(utterance)
            there = len(utterance.pcm) // FRAME_SAMPLES
            first = draw.randrange(max(1, there - frames + 1))
            start = first * FRAME_SAMPLES
            lead = min(LEAD, start)
            piece = utterance.samples(start - lead, lead + frames * FRAME_SAMPLES)
            samples.append(functional.pad(piece, (LEAD - lead, 0)))
            tracks.append(self._tracks[id(utterance)].window(first, frames))
        return torch.stack(samples).to(self._device), stacked(tracks, frames).to(self._device)
