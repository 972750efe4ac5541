"""Files like the published ones: their keys, seeded random weights, and what lies around them.

Invariant: functions of seeds and sizes alone, of torch's random numbers on the processor.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.assets.store import PINS
from engine.codec.wavtokenizer import FFT
from engine.tts.llmvox.published import paths

BANDWIDTHS = 4  # that the codec's norms know


@dataclass(frozen=True)
class Size:
    """Of a checkpoint; its MLP is four, the codec's blocks three times as wide as what enters."""

    layers: int = 2
    heads: int = 4
    width: int = 128
    tokens: int = 512
    positions: int = 256
    text: int = 64
    codec_width: int = 64
    codec_blocks: int = 2

    @property
    def entry(self) -> int:
        return self.width - self.text


SMALL = Size()
FULL = Size(4, 8, 768, 4096, 8192, 256, 768, 12)
Table = dict[str, Any]


def write_pickles(folder: Path, size: Size = SMALL) -> None:
    """Everything the published LLMVoX needs, as if it had been fetched below this data folder."""
    for asset, table in pickles(size).items():
        file = folder / "models" / asset / paths.PICKLES[asset]
        file.parent.mkdir(parents=True)
        torch.save(table, file)
        pin(file)


def pin(file: Path) -> None:
    """Make the file the one that was fetched."""
    content = file.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    pins = {file.name: {"sha256": sha256, "size": len(content), "revision": "main"}}
    (file.parent / PINS).write_text(json.dumps(pins), encoding="utf-8")


def pickles(size: Size = SMALL) -> dict[str, Table]:
    return {
        paths.NETWORK: {
            "model": {f"_orig_mod.{key}": tensor for key, tensor in network(size).items()},
            "model_args": {
                "n_layer": size.layers,
                "n_head": size.heads,
                "n_embd": size.width,
                "block_size": size.positions,
                "bias": False,
                "vocab_size": size.tokens,
                "dropout": 0.0,
            },
            "optimizer": {"state": {}, "param_groups": [{"lr": 3e-4}]},
            "iter_num": 7,
            "config": {"dtype": "bfloat16"},
        },
        paths.CODEC: {"state_dict": codec(size), "epoch": 3},
        paths.TEXT: text(size),
    }


def network(size: Size) -> dict[str, Tensor]:
    draw, width = _Draw(4), size.width
    tensors = {"transformer.wpe.weight": draw(size.positions, width, deviation=0.02)}
    for layer in range(size.layers):
        start = f"transformer.h.{layer}."
        tensors |= {
            start + "ln_1.weight": draw.near_one(width),
            start + "attn.c_attn.weight": draw(3 * width, width),
            start + "attn.c_proj.weight": draw(width, width, deviation=0.1 * width**-0.5),
            start + "ln_2.weight": draw.near_one(width),
            start + "mlp.c_fc.weight": draw(4 * width, width),
            start + "mlp.c_proj.weight": draw(width, 4 * width, deviation=0.1 * width**-0.5),
        }
    return tensors | {
        "transformer.ln_f.weight": draw.near_one(width),
        "lm_head.weight": draw(size.tokens, width),
    }


def codec(size: Size) -> dict[str, Tensor]:
    """Of the public WavTokenizer: its decoder, its codebook, and keys that are not needed."""
    draw, width = _Draw(2), size.codec_width
    book = "feature_extractor.encodec.quantizer.vq.layers.0._codebook."
    tensors = {
        book + "embed": draw(size.tokens, size.entry, deviation=1.0),
        book + "cluster_size": draw.near_one(size.tokens),
        "multiperioddisc.discriminators.0.convs.0.bias": draw.near_one(3),
        "head.istft.window": torch.hann_window(FFT),
    }
    tensors |= draw.product("backbone.embed", width, size.entry, 7)
    for place_in_row in (0, 1, 3, 4):
        for number in (1, 2):
            start = f"backbone.pos_net.{place_in_row}."
            tensors |= draw.norm(f"{start}norm{number}", width)
            tensors |= draw.product(f"{start}conv{number}", width, width, 3)
    tensors |= draw.norm("backbone.pos_net.2.norm", width)
    for part in ("q", "k", "v", "proj_out"):
        tensors |= draw.product(f"backbone.pos_net.2.{part}", width, width, 1)
    tensors |= draw.norm("backbone.pos_net.5", width)
    tensors |= draw.adaptive_norm("backbone.norm", width)
    for block in range(size.codec_blocks):
        start = f"backbone.convnext.{block}."
        tensors |= draw.product(start + "dwconv", width, 1, 7)
        tensors |= draw.adaptive_norm(start + "norm", width)
        tensors |= draw.product(start + "pwconv1", 3 * width, width)
        tensors |= draw.product(start + "pwconv2", width, 3 * width)
        tensors[start + "gamma"] = 0.3 * draw.near_one(width)
    tensors |= draw.norm("backbone.final_layer_norm", width)
    return tensors | draw.product("head.out", FFT + 2, width)


def text(size: Size) -> dict[str, Tensor]:
    """Of the public model that spells: the table of ByT5's ids, and keys that are not needed."""
    draw = _Draw(3)
    table = draw(384, size.text, deviation=1.0)
    return {"shared.weight": table, "lm_head.weight": draw(384, size.text)}


class _Draw:
    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape: int, deviation: float | None = None) -> Tensor:
        inputs = 1
        for size in shape[1:]:
            inputs *= size
        drawn = torch.randn(shape, generator=self._generator)
        return drawn * (inputs**-0.5 if deviation is None else deviation)

    def near_one(self, *shape: int) -> Tensor:
        return 1 + 0.1 * torch.randn(shape, generator=self._generator)

    def product(self, key: str, *shape: int) -> dict[str, Tensor]:
        bias = self(shape[0], 1, deviation=0.1)[:, 0]
        return {f"{key}.weight": self(*shape), f"{key}.bias": bias}

    def norm(self, key: str, width: int) -> dict[str, Tensor]:
        bias = self(width, 1, deviation=0.1)[:, 0]
        return {f"{key}.weight": self.near_one(width), f"{key}.bias": bias}

    def adaptive_norm(self, key: str, width: int) -> dict[str, Tensor]:
        return {
            f"{key}.scale.weight": self.near_one(BANDWIDTHS, width),
            f"{key}.shift.weight": self(BANDWIDTHS, width, deviation=0.1),
        }
