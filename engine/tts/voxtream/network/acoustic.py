"""The acoustic codes of a frame from packed weights, by a graph of the depth transformer.

With few positions, most of the time goes into copying a cache and calling small functions around
the products. Here keys and values are written in place, attention is one call, and nothing is
allocated; only the code between two steps passes through Python. In
tests/benchmarks/voxtream_speed.py, on one core with other work running, the codes of a full-size
frame took 77 ms of CPU with PackedTransformer called from Python, and 58 ms this way (with the
widest products also split in halves). Invariant: weights are shared and never change; AcousticSteps
is the state of one utterance. A step computes what PackedTransformer computes.
"""

from collections.abc import Iterable

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from engine.nn.packed.product_graph import Bound, ProductGraph
from engine.nn.packed.stack_graph import LlamaGraph
from engine.nn.transformer import Block, RotaryTable, TransformerConfig
from engine.tts.voxtream.config import ROWS

OPENING = 2  # positions: hidden + speaker, and the semantic code


class PackedAcoustics(nn.Module):
    """The depth transformer and the heads of all acoustic codebooks, with weights in 8 bits."""

    def __init__(
        self,
        config: TransformerConfig,
        blocks: Iterable[Block],
        norm_scale: Tensor,
        heads: Tensor,
        *,
        guidance: float,
        threads: int,
    ) -> None:
        """`heads`: weights [K - 1, V, D] that give logits of real codes. `guidance`: the weight of
        guidance.
        """
        super().__init__()
        self.config = config
        graph = _DepthGraph(config, len(heads) + 1)
        graph.fill(blocks, norm_scale)
        self.stack = graph.compile(graph.outputs(), threads=threads)
        # The head of a codebook finds its most likely code, with guidance from both rows.
        self.heads = [_head(head, guidance) for head in heads]


class AcousticSteps:
    """Computes the acoustic codes of an utterance's frames, one frame after the other."""

    def __init__(self, acoustics: PackedAcoustics, embeddings: Tensor, vocabulary: int) -> None:
        """`embeddings`: of the codes of all codebooks [K * vocabulary, D]."""
        config, last = acoustics.config, len(acoustics.heads) + OPENING
        self._embeddings, self._vocabulary = embeddings, vocabulary
        self._found = torch.zeros(len(acoustics.heads), 1, 1, dtype=torch.int64)
        self._opening = torch.zeros(ROWS, OPENING, config.width)
        self._following = torch.zeros(ROWS, 1, config.width)
        hidden = torch.zeros(ROWS, config.width)  # of the last position
        stored = torch.zeros(config.layers, 2, ROWS, config.kv_heads, last - 1, config.head_width)
        past: dict[str, Tensor] = {}
        outputs = {"y": hidden}
        for layer, (keys, values) in enumerate(stored):
            past |= {f"past_keys{layer}": keys, f"past_values{layer}": values}
            outputs |= {f"keys{layer}": keys, f"values{layer}": values}
        self._steps = []
        for end in range(OPENING, last):
            inputs = past | {
                "x": self._opening if end == OPENING else self._following,
                "lengths": torch.full((ROWS,), end - 1, dtype=torch.int32),  # less one, each row
                "total": torch.tensor(end, dtype=torch.int32),
            }
            self._steps.append(Bound(acoustics.stack, inputs, outputs))
        self._draws = [
            Bound(head, {"hidden": hidden}, {"code": code})
            for head, code in zip(acoustics.heads, self._found, strict=True)
        ]

    def codes(self, hidden: Tensor, semantic: Tensor) -> Tensor:
        """Return the most likely codes [1, K - 1], given temporal output plus speaker [B, D] and
        the semantic code [1, 1].
        """
        self._opening[:, 0] = hidden
        self._opening[:, 1] = self._embeddings[semantic[0]]
        for number, (step, draw) in enumerate(zip(self._steps, self._draws, strict=True)):
            if number:
                code = self._found[number - 1, 0] + number * self._vocabulary
                self._following[:, 0] = self._embeddings[code]
            step.run()
            draw.run()
        return self._found[..., 0].t().clone()


class _DepthGraph(LlamaGraph):
    """Attention that keeps keys and values in place, for up to `positions` positions; only the last
    one's hidden state is returned.
    """

    def __init__(self, config: TransformerConfig, positions: int) -> None:
        super().__init__(config)
        rotation = RotaryTable(config.head_width).slice(0, positions)
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

    def outputs(self) -> list[str]:
        return ["y", *self.of_layers("keys", "values")]

    def last_norm(self, scale: Tensor) -> None:
        last = self.constant("last", torch.tensor(-1).numpy())
        self.add("Gather", [self.hidden, last], ["last.hidden"], axis=1)
        self.add("Gather", [self.change, last], ["last.change"], axis=1)
        self.hidden, self.change = "last.hidden", "last.change"
        super().last_norm(scale)


def _head(weight: Tensor, guidance: float) -> onnxruntime.InferenceSession:
    """Return the graph from hidden [B, D] to the most likely code [1, 1]."""
    graph = ProductGraph()
    graph.product("hidden", "rows", weight)
    pairs = graph.constant("pairs", np.array([-1, ROWS, weight.shape[0]], dtype=np.int64))
    graph.add("Reshape", ["rows", pairs], ["both"])
    weights = np.array([[guidance, 1 - guidance]], dtype=np.float32)
    graph.add("MatMul", [graph.constant("guidance", weights), "both"], ["logits"])
    graph.add("ArgMax", ["logits"], ["code"], axis=-1, keepdims=0)
    return graph.compile(["code"], threads=1)
