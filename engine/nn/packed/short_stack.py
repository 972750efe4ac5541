"""A Llama stack for short sequences that keep restarting, like the codes of one frame.

With few positions, most of the time goes into copying a cache and calling small functions around
the products. Here keys and values are written in place, attention is one call, and nothing is
allocated. In tests/benchmarks/voxtream_speed.py, on one core with other work running, the codes of
a full-size frame took 77 ms of CPU with PackedTransformer called from Python, and 58 ms this way
(with the widest products also split in halves). Invariant: a step computes what PackedTransformer
computes; buffers belong to one sequence.
"""

from collections.abc import Iterable
from typing import Any

import onnxruntime
import torch
from torch import Tensor

from engine.nn.packed.product_graph import Bound
from engine.nn.packed.stack_graph import LlamaGraph
from engine.nn.transformer import Block, Rotation, TransformerConfig


class ShortStack:
    """A packed stack for up to as many positions as `rotation` has angles; shared by sequences."""

    def __init__(
        self,
        config: TransformerConfig,
        blocks: Iterable[Block],
        norm_scale: Tensor,
        rotation: Rotation,
        *,
        threads: int,
    ) -> None:
        self.config = config
        self.positions = len(rotation.cos)
        graph = _ShortGraph(config)
        graph.angles(rotation)
        graph.fill(blocks, norm_scale)
        self.session = graph.compiled(threads=threads)

    def open(self, batch: int, first: int) -> "ShortSequence":
        """Return buffers for sequences whose first step has `first` positions."""
        return ShortSequence(self, batch, first)


class ShortSequence:
    """One sequence at a time: fill `opening`, then run(0); fill `following`, then run(1), run(2) ..
    for one more position each. `hidden` then holds the last position's hidden state.
    """

    def __init__(self, stack: ShortStack, batch: int, first: int) -> None:
        config = stack.config
        self.opening = torch.zeros(batch, first, config.width)
        self.following = torch.zeros(batch, 1, config.width)
        self.hidden = torch.zeros(batch, config.width)
        heads = (batch, config.kv_heads, stack.positions, config.head_width)
        stored = torch.zeros(config.layers, 2, *heads)
        past: dict[str, Tensor] = {}
        outputs = {"y": self.hidden}
        for layer, (keys, values) in enumerate(stored):
            past |= {f"past_keys{layer}": keys, f"past_values{layer}": values}
            outputs |= {f"keys{layer}": keys, f"values{layer}": values}
        self._steps = []
        for end in range(first, stack.positions + 1):
            inputs = past | {
                "x": self.opening if end == first else self.following,
                "lengths": torch.full((batch,), end - 1, dtype=torch.int32),  # less one, each row
                "total": torch.tensor(end, dtype=torch.int32),
            }
            self._steps.append(Bound(stack.session, inputs, outputs))

    def run(self, step: int) -> None:
        """Run a step. Step 0 starts a new sequence; no later step may be left out."""
        self._steps[step].run()


class _ShortGraph(LlamaGraph):
    """Attention that keeps keys and values in place; only the last position's hidden state is
    returned."""

    def angles(self, rotation: Rotation) -> None:
        self.constant("cos", rotation.cos.numpy())
        self.constant("sin", rotation.sin.numpy())

    def attention(self, layer: int, normed: str, qkv: Tensor, output: Tensor) -> str:
        mark, config = f"l{layer}.", self._config
        self.product(normed, mark + "qkv", qkv)
        past = [f"past_keys{layer}", f"past_values{layer}"]
        self.contrib(
            "GroupQueryAttention",
            [mark + "qkv", "", "", *past, "lengths", "total", "cos", "sin"],
            [mark + "mixed", f"keys{layer}", f"values{layer}"],
            num_heads=config.heads,
            kv_num_heads=config.kv_heads,
            do_rotary=1,
            rotary_interleaved=1,
        )
        return self.product(mark + "mixed", mark + "out", output)

    def last_norm(self, scale: Tensor) -> None:
        last = self.constant("last", torch.tensor(-1).numpy())
        self.add("Gather", [self.hidden, last], ["last.hidden"], axis=1)
        self.add("Gather", [self.change, last], ["last.change"], axis=1)
        self.hidden, self.change = "last.hidden", "last.change"
        super().last_norm(scale)

    def compiled(self, *, threads: int) -> onnxruntime.InferenceSession:
        config = self._config
        self.add("Identity", [self.hidden], ["y"])
        stored = [None, config.kv_heads, None, config.head_width]
        inputs: dict[str, list[Any]]
        inputs = {"x": [None, None, config.width], "lengths": [None], "total": []}
        outputs: dict[str, list[Any]] = {"y": [None, config.width]}
        for layer in range(config.layers):
            inputs |= {f"past_keys{layer}": stored, f"past_values{layer}": stored}
            outputs |= {f"keys{layer}": stored, f"values{layer}": stored}
        return self.compile(inputs, outputs, threads=threads)
