"""A VoXtream2 small enough to run a whole utterance in a second, with every part real."""

from dataclasses import replace
from typing import Any

import torch

from engine.codec.mimi import Mimi
from engine.nn.packed.product_graph import Precision
from engine.nn.transformer import TransformerConfig
from engine.tts.voxtream.config import Edition, ModelConfig
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.voxtream.random_weights import TIMELESS, load_random, random_mimi

CPU = torch.device("cpu")
TARGET = Target(CPU, torch.float32, threads=1)
SMALL = ModelConfig(
    phone=TransformerConfig(layers=6, width=64, heads=4, kv_heads=2, hidden=64),
    temporal=TransformerConfig(layers=2, width=64, heads=4, kv_heads=2, hidden=64),
    depth=TransformerConfig(layers=1, width=64, heads=2, kv_heads=1, hidden=64),
    codebooks=4,
    audio_window=190,
)


def narrow_sections() -> dict[str, Any]:
    """Sections of moshi's configuration that make the real codec's layers narrow."""
    from moshi.models import loaders

    width = 32
    return {
        "seanet": loaders._seanet_kwargs | {"dimension": width, "n_filters": 2},
        "quantizer": loaders._quantizer_kwargs
        | {"dimension": 16, "input_dimension": width, "output_dimension": width},
        "transformer": loaders._transformer_kwargs
        | {
            "d_model": width,
            "num_heads": 2,
            "num_layers": 1,
            "dim_feedforward": 64,
            "input_dimension": width,
            "output_dimensions": [width],
        },
    }


def small_mimi() -> Mimi:
    """The real codec with narrow layers."""
    return random_mimi(SMALL.codebooks, 0, **narrow_sections())


def small(
    precision: Precision = Precision.FLOAT,
    config: ModelConfig = SMALL,
    edition: Edition = TIMELESS,
    *,
    graphs: bool = False,
    **generation: Any,
) -> VoxtreamSynthesiser:
    """`generation`: what differs from the edition's. With `graphs` frames are made as on CUDA, from
    buffers that stay in place.
    """
    edition = replace(edition, generation=replace(edition.generation, **generation))
    mimi = small_mimi()
    made = load_random(
        1, config=config, edition=edition, precision=precision, target=TARGET, mimi=mimi
    )
    made._graphs = graphs
    return made
