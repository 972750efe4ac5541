"""The stage `codec` of LLMVoX: speech as 50 tokens a second from one codebook, and the vocoder that
turns them into speech again.

Both learn together, so a token comes to mean what the vocoder can say. Every token must tell the
sound of its 20 ms; who speaks, the vocoder is told. Later the tokens stay as they are, and the
vocoder learns on, before a critic. Invariant: what is written as a tokeniser no longer changes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from moshi.quantization.vq import ResidualVectorQuantizer
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.small_parts import SpectralColumns
from engine.codec.vocoder import VocoderConfig, fresh_decoder
from engine.nn.weights_file import shape_metadata
from engine.training import recipe as recipes
from engine.training.codec.sound_losses import SoundLearner
from engine.training.codec.speech import SLOT, SOUND_NUMBERS, Cut, Speech, Windows, read_speech
from engine.training.corpus.shards import read_shards
from engine.training.loop import Losses, StepContext, in_bf16, mean_losses, train_and_save
from engine.training.ranks import is_first
from engine.training.run import Run
from engine.tts.llmvox.config import ENTRY
from engine.tts.speaker.small import load_small_speaker

FILE: Final = "tokens.safetensors"
LEAD: Final = 40  # tokens: what the encoder looks back on
OF_A_PERSON: Final = 20  # utterances whose mean vector a person gets


class Tokeniser(nn.Module):
    """Samples [B, S] -> tokens [B, S / TOKEN_SAMPLES] and their vectors."""

    def __init__(self, recipe: recipes.Codec) -> None:
        super().__init__()
        self.encoder = SpectralColumns(recipe.width, recipe.blocks)
        self.enter = nn.Conv1d(recipe.width, ENTRY, 1)
        self.quantiser: Any = ResidualVectorQuantizer(ENTRY, n_q=1, bins=recipe.codes)

    def latents(self, pcm: Tensor) -> Tensor:
        """Of samples [B, LEAD SLOT + S], those of the last S before they become tokens [B, ENTRY,
        T]."""
        x: Tensor = self.enter(self.encoder.columns(pcm[:, None]))
        return x[..., LEAD:]

    @torch.no_grad()
    def encode(self, pcm: Tensor) -> Tensor:
        """[B, T]"""
        latents = self.latents(functional.pad(pcm, (LEAD * SLOT, 0)))
        codes: Tensor = self.quantiser.encode(latents.float())
        return codes[:, 0]

    def vectors(self) -> Tensor:
        """Of all tokens [codes, ENTRY]."""
        book: Tensor = self.quantiser.vq.layers[0]._codebook.embedding.detach()
        return book


def train_tokens(run: Run) -> None:
    """Train and write tokens.safetensors, as soon as they stay, and vocoder.safetensors."""
    inputs, recipe = run.require("corpus", "speaker"), run.recipe
    speech, folder = read_speech(run, recipe.codec.hours), run.stage("codec")
    people = {number: torch.from_numpy(vector) for number, vector in person_vectors(run).items()}

    def keep(tokens: Tokeniser) -> None:
        if is_first():
            save_file(tokens.state_dict(), folder / FILE)

    def vocoder(mean: dict[str, Tensor]) -> dict[str, Tensor]:
        return {k.removeprefix("vocoder."): v for k, v in mean.items() if k.startswith("voc")}

    train_and_save(
        run,
        folder / "vocoder.safetensors",
        lambda device: TokenLearner(recipe, speech, people, keep, device),
        inputs,
        shape=shape_metadata(vocoder_config(recipe)),
        kept=vocoder,
    )


def vocoder_config(recipe: recipes.Recipe) -> VocoderConfig:
    """A column is a token's vector and the speaker's."""
    return VocoderConfig(ENTRY + recipe.speaker.width, recipe.codec.width, recipe.codec.blocks)


def load_tokeniser(file: Path, recipe: recipes.Codec) -> Tokeniser:
    """One that was trained as the recipe says."""
    tokeniser = Tokeniser(recipe)
    tokeniser.load_state_dict(load_file(file))
    return tokeniser.eval().requires_grad_(requires_grad=False)


def person_vectors(run: Run) -> dict[int, np.ndarray[Any, np.dtype[np.float32]]]:
    """Of every speaker, of length 1; they are worked out once."""
    from engine.training.voice.encode import speaker_vector  # needs what reads texts

    file = run.stage("speaker") / "people.safetensors"
    if not file.is_file():
        encoder = load_small_speaker(run.stage("speaker") / "speaker.safetensors")
        clips: dict[int, list[Any]] = {}
        for shard in read_shards(run.stage("corpus")):
            for entry, pcm in shard.spoken():
                of_person = clips.setdefault(entry.speaker, [])
                if len(of_person) < OF_A_PERSON:
                    of_person.append(speaker_vector(encoder, pcm))
        means = {str(number): np.mean(vectors, axis=0) for number, vectors in clips.items()}
        save_arrays({n: mean / np.linalg.norm(mean) for n, mean in means.items()}, file)
    return {int(number): vector for number, vector in load_arrays(file).items()}


class TokenLearner(SoundLearner):
    """Tokeniser and vocoder, a reader of the sound of every token, and a critic."""

    averaged = "coding"
    exact = ("tokens.",)  # what is encoded later must be what was learnt

    def __init__(
        self,
        whole: recipes.Recipe,
        speech: Speech,
        people: Mapping[int, Tensor],
        keep: Callable[[Tokeniser], None],
        device: torch.device,
    ) -> None:
        """`people`: the vectors of all speakers. `keep` is given the tokeniser once it stays."""
        recipe, device = whole.codec, device
        self._recipe, self._keep = recipe, keep
        self._people = torch.zeros(max(people) + 1, whole.speaker.width, device=device)
        for number, vector in people.items():
            self._people[number] = vector
        self._training, self._validation = (
            Windows(side, recipe.window_frames, LEAD, device)
            for side in (speech.training, speech.validation)
        )
        self._tokens = Tokeniser(recipe)
        self._vocoder = fresh_decoder(vocoder_config(whole))
        self._reader = nn.Linear(ENTRY, len(SOUND_NUMBERS))
        coding = nn.ModuleDict({"tokens": self._tokens, "vocoder": self._vocoder})
        making = nn.ModuleList((coding, self._reader))
        timed = replace(whole.decoder, schedule=recipe.schedule)
        super().__init__(timed, making, device, coding=coding, reader=self._reader)
        self._stays = False

    def learn(self, context: StepContext) -> Losses:
        if context.share >= self._recipe.kept_from and not self._stays:
            self._stay()
        cut = self._training.cut(context.draw, self._batch_size)
        output, losses = self._losses(cut)
        real = cut.pcm[:, LEAD * SLOT :]
        return self._learn_from(losses, real, output, context)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        sums = mean_losses(
            lambda draw: self._losses(self._validation.cut(draw, self._batch_size))[1],
            self._tokens,
        )
        self._tokens.train(not self._stays)
        return sums

    def _stay(self) -> None:
        """From now on the vocoder alone learns."""
        self._stays = True
        self._tokens.eval().requires_grad_(requires_grad=False)
        self._keep(self._tokens)

    def _losses(self, cut: Cut) -> tuple[Tensor, dict[str, Tensor]]:
        """What was made of windows [B, S], and the losses by name."""
        recipe, pcm = self._recipe, cut.pcm[:, LEAD * SLOT :]
        bf16 = recipe.schedule.bf16
        with in_bf16(pcm.device, asked=bf16):
            latents = self._tokens.latents(cut.pcm)
        quantised = self._tokens.quantiser(latents.float(), 50)
        who = self._people[cut.speakers][..., None].expand(-1, -1, quantised.x.shape[-1])
        columns = torch.cat((quantised.x, who), dim=1)
        output, losses = self._sounded(self._vocoder, columns, cut.track, pcm, recipe)
        with in_bf16(pcm.device, asked=bf16):
            sounds = self._reader(quantised.x.transpose(1, 2)).float()  # [B, T, sounds]
        if not self._stays:
            read = functional.cross_entropy(sounds.flatten(0, 1), cut.slots.flatten())
            losses["phones"] = recipe.phones * read
            losses["commitment"] = recipe.commitment * quantised.penalty
        return output, losses
