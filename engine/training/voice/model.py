"""VoXtream's model in training: it processes many whole sequences at once, which a session feeds
step by step.

Invariant: with the same weights, a lesson's logits are those a session computes step by step.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.nn.transformer import (
    Block,
    Embedding,
    Linear,
    RotaryTable,
    Stored,
    Transformer,
    TransformerConfig,
)
from engine.training import recipe as recipes
from engine.training.stages import VOXTREAM, VOXTREAM2
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    SPECIAL_CODES,
    DurationToken,
    Generation,
    ModelConfig,
)
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.original import config as original

PHONE_VOCABULARY = 125  # as published, so that one set of special ids serves both
CODE_DEVIATION = 0.06  # of embeddings at the start


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

    def stack(shape: recipes.Stack) -> TransformerConfig:
        return TransformerConfig(
            shape.layers, voice.width, shape.heads, shape.kv_heads, shape.hidden
        )

    special = original.SPECIAL_CODES if system == VOXTREAM else SPECIAL_CODES
    return ModelConfig(
        phone=stack(voice.phone),
        temporal=stack(voice.temporal),
        depth=stack(voice.depth),
        phone_vocabulary=PHONE_VOCABULARY,
        audio_vocabulary=codec.codes + special,
        codebooks=codec.codebooks,
        speaker_width=speaker.width,
        duration_tokens=len(tokens_of(system)),
        max_look_ahead=voice.look_ahead,
        special_codes=special,
    )


def tokens_of(system: str) -> tuple[DurationToken, ...]:
    """The duration tokens of a system: VoXtream's are the first of VoXtream2's."""
    return original.TOKENS if system == VOXTREAM else DURATION_TOKENS


def fresh_model(config: ModelConfig, generation: Generation) -> VoxtreamModel:
    """The model with first weights drawn from torch's generator, ready to learn."""
    model = VoxtreamModel(config, generation)
    for module in model.modules():
        if isinstance(module, Embedding):
            nn.init.normal_(module.weight, std=CODE_DEVIATION)
        elif isinstance(module, Linear):
            nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
    for stack in (model.phone, model.temporal, model.depth):
        assert isinstance(stack, Transformer)
        for block in stack.layers:
            assert isinstance(block, Block)
            for product in (block.attention.output, block.mlp.down):
                assert isinstance(product, Linear)
                product.weight.data /= (2 * len(stack.layers)) ** 0.5
    model.semantic_head.weight.data *= 0.3  # start near a uniform distribution
    return model.requires_grad_(requires_grad=True)


def phone_rows(model: VoxtreamModel, batch: Batch, look_ahead: int) -> Tensor:
    """Rows of the phone transformer [B, P, D] under one look-ahead."""
    length, window = batch.text.shape[1], model.config.phone_window
    places = torch.arange(length, device=batch.text.device)
    ahead = places[None] - places[:, None]  # [P, P]
    visible = (ahead <= look_ahead) & (ahead > -window)
    real = places[None] < batch.text_lengths[:, None]  # [B, P]
    mask = (visible[None] & real[:, None]) | torch.eye(length, dtype=torch.bool, device=real.device)
    assert isinstance(model.phone, Transformer)
    return run_stack(model.phone, model.phone_embeddings(batch.text), mask)


def temporal_hidden(model: VoxtreamModel, batch: Batch, phones: Tensor, dropout: float) -> Tensor:
    """Hidden [B, T, D] of every column from phone rows [B, P, D]."""
    pairs = batch.rows.flatten(1)[..., None].expand(-1, -1, phones.shape[-1])
    vectors = phones.gather(1, pairs).view(*batch.rows.shape, -1).sum(dim=2)  # [B, T, D]
    columns = model.columns(vectors, batch.inputs)
    columns = nn.functional.dropout(columns, dropout, training=model.training)
    length = columns.shape[1]
    mask = torch.ones(length, length, dtype=torch.bool, device=columns.device).tril()
    assert isinstance(model.temporal, Transformer)
    return run_stack(model.temporal, columns, mask[None])


def depth_logits(model: VoxtreamModel, hidden: Tensor, codes: Tensor) -> Tensor:
    """Logits [N, K - 1, V] of N frames' acoustic codes from hidden + speaker [N, D] and the codes
    [N, K] themselves, the semantic one first.
    """
    shifts = torch.arange(codes.shape[1] - 1, device=codes.device) * model.config.audio_vocabulary
    embedded = model.audio_embeddings(codes[:, :-1] + shifts).to(hidden.dtype)  # [N, K - 1, D]
    inputs = torch.cat((hidden[:, None], embedded), dim=1)
    length = inputs.shape[1]
    mask = torch.ones(length, length, dtype=torch.bool, device=codes.device).tril()
    assert isinstance(model.depth, Transformer)
    out = run_stack(model.depth, inputs, mask[None])
    logits = [head(out[:, place + 1]) for place, head in enumerate(model.acoustic_heads)]
    return torch.stack(logits, dim=1).float()


def run_stack(stack: Transformer, x: Tensor, mask: Tensor) -> Tensor:
    """A whole stack on [B, T, D] without a cache; mask [B or 1, T, T], True = may look."""
    config = stack.config
    rotation = RotaryTable(config.head_width, x.device, x.shape[1]).slice(0, x.shape[1])
    grouped = mask.repeat(1, config.group, 1)[:, None]  # [B, 1, R T, T]
    for block in stack.layers:
        assert isinstance(block, Block)
        heads = block.project(x, rotation)
        x = block.finish(x, heads.queries, Stored(heads.keys, heads.values), grouped)
    out: Tensor = stack.norm(x)
    return out
