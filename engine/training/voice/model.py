"""VoXtream's model in training: it processes many whole sequences at once, which a session feeds
step by step.

Invariant: with the same weights, a lesson's logits are those a session computes step by step.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.training import recipe as recipes
from engine.training.stacks import calm, causal, first_weights, run_stack, stack_config
from engine.training.stages import VOXTREAM, VOXTREAM2
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    SPECIAL_CODES,
    DurationToken,
    Generation,
    ModelConfig,
)
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.voxtream1 import config as original

PHONE_VOCABULARY = 125  # as published, so that one set of special ids serves both


@dataclass(frozen=True)
class Batch:
    """Lessons side by side. B lessons, P phones, T columns, K codebooks; padded at the end."""

    text: Tensor  # [B, P]
    text_lengths: Tensor  # [B]
    rows: Tensor  # [B, T, 2]
    inputs: Tensor  # [B, K, T] codes as fed, with the acoustic delay
    codes: Tensor  # [B, K, T] codes of the frames, -1 behind the end
    tokens: Tensor  # [B, T], -1 where nothing is to be learnt
    speakers: Tensor  # [B, width of speaker vectors]


def model_config(
    voice: recipes.Voice,
    codec: recipes.Codec,
    speaker: recipes.Speaker,
    system: str = VOXTREAM2,
) -> ModelConfig:
    """The shape a recipe asks for."""
    return ModelConfig(
        phone=stack_config(voice.width, voice.phone),
        temporal=stack_config(voice.width, voice.temporal),
        depth=stack_config(voice.width, voice.depth),
        phone_vocabulary=PHONE_VOCABULARY,
        audio_vocabulary=codec.codes + SPECIAL_CODES,
        codebooks=codec.codebooks,
        speaker_width=speaker.width,
        duration_tokens=len(tokens_of(system)),
        max_look_ahead=voice.look_ahead,
    )


def tokens_of(system: str) -> tuple[DurationToken, ...]:
    """The duration tokens of a system: VoXtream's are the first of VoXtream2's."""
    return original.TOKENS if system == VOXTREAM else DURATION_TOKENS


def fresh_model(config: ModelConfig, generation: Generation) -> VoxtreamModel:
    """The model with first weights drawn from torch's generator, ready to learn."""
    model = VoxtreamModel(config, generation)
    first_weights(model)
    for stack in (model.phone, model.temporal, model.depth):
        calm(stack)
    model.semantic_head.weight.data *= 0.3  # start near a uniform distribution
    return model


def phone_rows(model: VoxtreamModel, batch: Batch, look_ahead: int) -> Tensor:
    """Rows of the phone transformer [B, P, D] under one look-ahead."""
    length, window = batch.text.shape[1], model.config.phone_window
    places = torch.arange(length, device=batch.text.device)
    ahead = places[None] - places[:, None]  # [P, P]
    visible = (ahead <= look_ahead) & (ahead > -window)
    real = places[None] < batch.text_lengths[:, None]  # [B, P]
    mask = (visible[None] & real[:, None]) | torch.eye(length, dtype=torch.bool, device=real.device)
    return run_stack(model.phone, model.phone_embeddings(batch.text), mask)


def temporal_hidden(model: VoxtreamModel, batch: Batch, phones: Tensor, dropout: float) -> Tensor:
    """Hidden [B, T, D] of every column from phone rows [B, P, D]."""
    pairs = batch.rows.flatten(1)[..., None].expand(-1, -1, phones.shape[-1])
    vectors = phones.gather(1, pairs).view(*batch.rows.shape, -1).sum(dim=2)  # [B, T, D]
    columns = model.columns(vectors, batch.inputs)
    columns = nn.functional.dropout(columns, dropout, training=model.training)
    return run_stack(model.temporal, columns, causal(columns.shape[1], columns.device))


def depth_logits(model: VoxtreamModel, hidden: Tensor, codes: Tensor) -> Tensor:
    """Logits [N, K - 1, V] of N frames' acoustic codes from hidden + speaker [N, D] and the codes
    [N, K] themselves, the semantic one first.
    """
    shifts = torch.arange(codes.shape[1] - 1, device=codes.device) * model.config.audio_vocabulary
    embedded = model.audio_embeddings(codes[:, :-1] + shifts).to(hidden.dtype)  # [N, K - 1, D]
    inputs = torch.cat((hidden[:, None], embedded), dim=1)
    out = run_stack(model.depth, inputs, causal(inputs.shape[1], inputs.device))
    logits = [head(out[:, place + 1]) for place, head in enumerate(model.acoustic_heads)]
    return torch.stack(logits, dim=1).float()
