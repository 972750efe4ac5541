"""What a precision loses: its logits and codes against fp32, on the same inputs.

    python tests/benchmarks/voxtream_loss.py [--profiles int8] [--frames 20] [--weights FOLDER]

Without --weights (a folder with the published config.json and model.safetensors) the weights are
random: their logits are nearly flat, so codes flip far more easily than a trained model's would,
and only the relative errors carry over. About 3 GB of memory.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import torch
from torch import Tensor

from engine.nn.packed.product_graph import Precision
from engine.nn.transformer import KvCache
from engine.tts.voxtream.config import GENERATION, VOXTREAM2_SHAPE
from engine.tts.voxtream.files.checkpoint import PublishedFile, Source, Target, load_weights
from engine.tts.voxtream.files.published import read_published_shape
from engine.tts.voxtream.network.model import VoxtreamModel, delayed
from tests.engine.tts.voxtream.random_weights import RandomWeights

CPU = torch.device("cpu")
PROMPT_FRAMES = 40


@dataclass
class Trace:
    """What one model made of the same inputs, frame by frame."""

    joint: list[Tensor] = field(default_factory=list)  # [2, N, V]
    tokens: list[Tensor] = field(default_factory=list)  # [1, N] probabilities
    acoustic: list[Tensor] = field(default_factory=list)  # [1, K - 1] codes


def trace(model: VoxtreamModel, codes: Tensor, phones: Tensor) -> Trace:
    """Teacher-forced: codes [K, T] and phone vectors [2, T, D] are given."""
    found, cache = Trace(), KvCache(model.config.temporal, 2)
    depth = model.acoustic_memory()
    columns = delayed(codes[:, :PROMPT_FRAMES])
    hidden = None
    for at in range(PROMPT_FRAMES, codes.shape[1]):
        start, length = cache.length, columns.shape[2]
        vectors = phones[:, start : start + length]
        hidden = model.temporal.append(model.columns(vectors, columns), cache)[:, -1]
        joint = model.joint_logits(hidden)
        found.joint.append(joint)
        found.tokens.append(model.token_probabilities(joint[0], torch.zeros(joint.shape[1])))
        semantic = codes[None, :1, at]
        found.acoustic.append(model.acoustic_codes(hidden, semantic, depth))
        columns = codes[None, :, at, None].expand(2, -1, -1)
    return found


def compare(found: Trace, expected: Trace) -> str:
    def relative(ours: list[Tensor], theirs: list[Tensor]) -> float:
        return mean(
            float((a - b[: len(a)]).norm() / b[: len(a)].norm())
            for a, b in zip(ours, theirs, strict=True)
        )

    def agreement(ours: list[Tensor], theirs: list[Tensor]) -> float:
        return mean(
            float((a.argmax(-1) == b[: len(a)].argmax(-1)).float().mean())
            for a, b in zip(ours, theirs, strict=True)
        )

    moved = mean(
        float((a - b).abs().sum() / 2) for a, b in zip(found.tokens, expected.tokens, strict=True)
    )
    same = mean(
        float((a == b).float().mean())
        for a, b in zip(found.acoustic, expected.acoustic, strict=True)
    )
    return (
        f"temporal logits {relative(found.joint, expected.joint):.4f}, likeliest semantic code "
        f"{agreement(found.joint, expected.joint):.1%} equal, duration probability moved "
        f"{moved:.4f}; acoustic codes {same:.1%} equal\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="loss of VoXtream2's profiles")
    parser.add_argument("--profiles", nargs="+", default=["int8"])
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--weights", type=Path)
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    config, source = VOXTREAM2_SHAPE, None
    if options.weights:
        config = read_published_shape(options.weights / "config.json")
        source = PublishedFile(options.weights / "model.safetensors", config)
    weights: Source = source or RandomWeights(config, 0)
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 2048, (16, PROMPT_FRAMES + options.frames), generator=generator)
    phones = torch.randn(2, PROMPT_FRAMES + 1 + options.frames, config.width, generator=generator)

    def run(precision: Precision) -> Trace:
        target = Target(CPU, torch.float32, threads=1)
        model = load_weights(weights, config, GENERATION, precision, target)
        return trace(model, codes, phones)

    expected = run(Precision.FLOAT)
    for name in options.profiles:
        sys.stdout.write(f"{name}: {compare(run(Precision(name)), expected)}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
