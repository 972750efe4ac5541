"""The stage `decoder` of systems whose vocoder has another entry than codes.

The losses are those of the codec's decoder, without the one that needs its encoder; it may begin
with a shipped decoder, of which only the entry is new.
Invariant: what enters is made of the samples alone, so it never changes while this learns.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mel import COLUMN
from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.source import SourceDecoder
from engine.codec.vocoder import VocoderConfig, fresh_decoder, load_vocoder
from engine.errors import InvalidInput
from engine.nn import stored_weights
from engine.nn.weights_file import shape_metadata
from engine.systems import command_of
from engine.training import recipe as recipes
from engine.training.codec.decoder import long_enough
from engine.training.codec.sound_losses import Criticism, SpectralDistance
from engine.training.codec.speech import Speech, Spoken, read_speech
from engine.training.codec.stage import alike
from engine.training.corpus.pitch import PitchTrack, pitch_track, stacked
from engine.training.loop import Learner, Losses, StepContext, in_bf16, mean_losses, train_and_save
from engine.training.ranks import Ranks
from engine.training.run import Run, file_hash
from engine.tts import packs
from engine.tts.pack_files import VOCODER_FILE
from engine.tts.packs import CODEC_FILE

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
    begin_with = "" if recipe.fresh else run.recipe.begin_with

    def make(ranks: Ranks) -> VocoderLearner:
        return VocoderLearner(recipe, started(config, begin_with), speech, entry, ranks)

    file = run.stage("decoder") / "vocoder.safetensors"
    train_and_save(run, file, make, recipe.schedule, inputs, shape=shape_metadata(config))


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
    source = folder / VOCODER_FILE
    load_vocoder(source, config.entry)
    target = run.stage("decoder") / "vocoder.safetensors"
    partial = target.with_suffix(".partial")
    shutil.copyfile(source, partial)
    partial.replace(target)
    run.finish("decoder", inputs | {"pack": file_hash(source)}, taken_from=name)


def started(config: VocoderConfig, begin_with: str) -> SourceDecoder:
    """A decoder with those weights of a pack's that fit; without a pack a fresh one."""
    decoder = fresh_decoder(config)
    if begin_with:
        own, start = decoder.state_dict(), "decoder."
        shipped = stored_weights.load(Path(begin_with) / CODEC_FILE)
        there = {key.removeprefix(start): value for key, value in shipped.items()}
        decoder.load_state_dict(alike(own, there))
    return decoder


class VocoderLearner(Learner):
    """A decoder behind its entry, and a critic."""

    averaged = "vocoder"

    def __init__(
        self,
        recipe: recipes.Decoder,
        decoder: SourceDecoder,
        speech: Speech,
        entry: Entry,
        ranks: Ranks,
    ) -> None:
        self._recipe, self._entry = recipe, entry
        self._training = long_enough(speech.training, recipe.window_frames)
        self._validation = long_enough(speech.validation, recipe.window_frames)
        self._decoder = decoder.to(ranks.device)
        self._criticism = Criticism(recipe, decoder, ranks.device)
        critic = self._criticism.critic
        super().__init__(recipe.schedule, ranks, vocoder=decoder, critic=critic)
        self.optimisers = self._criticism.optimisers
        self._distance = SpectralDistance().to(ranks.device)
        self._tracks: dict[int, PitchTrack] = {}  # by the utterance's id()

    def learn(self, context: StepContext) -> Losses:
        pcm, output, losses = self._losses(self._training, context.draw)
        return self._criticism.optimise(losses, pcm, output, context)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        return mean_losses(lambda draw: self._losses(self._validation, draw)[2])

    def _losses(
        self, side: tuple[Spoken, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Samples [B, S], what was made of their columns, and the losses by name."""
        recipe = self._recipe
        longer, track = self._batch(side, draw)
        columns = self._entry(longer, draw).transpose(1, 2)  # [B, entry, T]
        pcm = longer[:, LEAD:]
        with in_bf16(pcm.device, asked=recipe.schedule.bf16):
            shape = self._decoder.shape(columns)
        missed = (shape.pitch - track.log_hz).abs() * track.weight
        # The source and its filters are exact; a graphics card has no FFT in bf16 either.
        output = self._decoder.samples(shape, track.log_hz)[:, 0]
        losses = {
            "pitch": recipe.pitch * missed.mean(),
            "mel": recipe.mel * self._distance.mel(output, pcm),
            "waves": recipe.waves * self._distance.waves(output, pcm),
        }
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
