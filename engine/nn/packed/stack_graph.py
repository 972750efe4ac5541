"""Transformer stacks as one graph each: Llama's blocks, and GPT-2's.

Attention reads the past in place: scores for past and for new positions are computed separately and
then joined, so no cache is copied. Invariant: a stack's graph writes nothing; the keys and values
of new positions are outputs. Letters as in transformer.py; M: slots of the past (the bias says
which of them may be read).
"""

import math
from collections.abc import Iterable

import numpy as np
from torch import Tensor, from_numpy

from engine.nn.packed.product_graph import Array, ProductGraph
from engine.nn.transformer import NORM_EPS, Block, KvCache, Rotation, Stack, TransformerConfig

HIDDEN_SCORE = -1e30  # what a masked position's score gets; -inf would give NaN for an empty row


class LlamaGraph(ProductGraph):
    """Blocks and last norm of transformer.py. `hidden` is the name of the stack's last value so
    far; `change` names what still has to be added to it, which the next norm does.
    """

    NORM = "SimplifiedLayerNormalization"

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.constant("halves", np.array([config.hidden] * 2, dtype=np.int64))
        self._config = config
        self.hidden, self.change = "x", ""
        turned, width = config.heads + config.kv_heads, config.head_width
        sizes = [turned * width, config.kv_heads * width]
        self.constant("qk_v", np.array(sizes, dtype=np.int64))
        self.constant("q_k", np.array([config.heads, config.kv_heads], dtype=np.int64))
        self.constant("split_turned", np.array([0, 0, turned, width], dtype=np.int64))
        self.constant("split_values", np.array([0, 0, config.kv_heads, width], dtype=np.int64))
        self.constant("grouped", np.array([0, config.kv_heads, -1, width], dtype=np.int64))
        self.constant("spread", np.array([0, config.heads, -1, width], dtype=np.int64))
        self.constant("joined", np.array([0, 0, config.width], dtype=np.int64))

    def fill(self, blocks: Iterable[Block], norm_scale: Tensor) -> None:
        """All blocks, taken one at a time, and the norm behind the last, whose output is "y"."""
        for number, block in enumerate(blocks):
            self.block(number, block)
        self.last_norm(norm_scale)
        self.add("Identity", [self.hidden], ["y"])

    def of_layers(self, *kinds: str) -> list[str]:
        """Return the names of the values of these kinds in every layer."""
        return [f"{kind}{layer}" for layer in range(self._config.layers) for kind in kinds]

    def outputs(self) -> list[str]:
        """Return the names of the outputs: "y", and the keys and values of all layers."""
        self.add("Concat", self.of_layers("keys", "values"), ["stored"], axis=0)
        return ["y", "stored"]

    def block(self, layer: int, weights: Block) -> None:
        """hidden -> hidden through one block."""
        mark, attention = f"l{layer}.", weights.attention
        normed = self._norm(mark + "normed", weights.attention_norm.scale)
        self.change = self.attention(layer, normed, attention.qkv.weight, attention.output.weight)
        ready = self._norm(mark + "ready", weights.mlp_norm.scale)
        self.change = self._mlp(mark, ready, weights)

    def last_norm(self, scale: Tensor) -> None:
        self.hidden = self._norm("normed", scale)

    def attention(self, layer: int, normed: str, qkv: Tensor, output: Tensor) -> str:
        """normed [B, T, D] through a layer's attention and its output product."""
        mark = f"l{layer}."
        self._project(layer, normed, qkv)
        self._attend(layer)
        return self.product(mark + "mixed", mark + "out", output)

    def _of(self, name: str, layer: int) -> str:
        """Return the name of a layer's input; here all layers share one."""
        return name

    def _queries(self, layer: int, name: str, *, axis: int) -> str:
        """Return the positions of a value for which a layer computes outputs; here all of them."""
        return name

    def _project(self, layer: int, normed: str, qkv: Tensor) -> None:
        """normed [B, T, D] -> queries [B, G, R T, E], keys and values [B, G, T, E]."""
        mark, config = f"l{layer}.", self._config
        self.product(normed, mark + "qkv", qkv)
        self.add("Split", [mark + "qkv", "qk_v"], [mark + "qk", mark + "v"], axis=-1)
        self.contrib(
            "RotaryEmbedding",
            [mark + "qk", "angles", self._of("cos", layer), self._of("sin", layer)],
            [mark + "turned"],
            interleaved=1,
            num_heads=config.heads + config.kv_heads,
            rotary_embedding_dim=0,
        )
        self.add("Reshape", [mark + "turned", "split_turned"], [mark + "turned4"])
        self.add("Transpose", [mark + "turned4"], [mark + "heads"], perm=[0, 2, 1, 3])
        self.add("Split", [mark + "heads", "q_k"], [mark + "q", f"keys{layer}"], axis=1)
        queries = self._queries(layer, mark + "q", axis=2)
        self.add("Reshape", [queries, "grouped"], [mark + "queries"])
        self.add("Reshape", [mark + "v", "split_values"], [mark + "v4"])
        self.add("Transpose", [mark + "v4"], [f"values{layer}"], perm=[0, 2, 1, 3])

    def _attend(self, layer: int) -> None:
        """queries, keys, values and the past -> mixed [B, T, D]."""
        mark, scale = f"l{layer}.", 1 / math.sqrt(self._config.head_width)
        for part, keys in (("past", f"past_keys{layer}"), ("new", f"keys{layer}")):
            self.contrib(
                "FusedMatMul", [mark + "queries", keys], [mark + part], transB=1, alpha=scale
            )
        self.add("Concat", [mark + "past", mark + "new"], [mark + "scores"], axis=-1)
        self.add("Add", [mark + "scores", self._of("bias", layer)], [mark + "masked"])
        self.add("Softmax", [mark + "masked"], [mark + "shares"], axis=-1)
        widths = self._of("widths", layer)
        self.add("Split", [mark + "shares", widths], [mark + "old", mark + "own"], axis=-1)
        self.add("MatMul", [mark + "old", f"past_values{layer}"], [mark + "from_past"])
        self.add("MatMul", [mark + "own", f"values{layer}"], [mark + "from_new"])
        self.add("Add", [mark + "from_past", mark + "from_new"], [mark + "sum"])
        self.add("Reshape", [mark + "sum", "spread"], [mark + "sum4"])
        self.add("Transpose", [mark + "sum4"], [mark + "rows"], perm=[0, 2, 1, 3])
        self.add("Reshape", [mark + "rows", "joined"], [mark + "mixed"])

    def _norm(self, y: str, scale: Tensor) -> str:
        """Set hidden to hidden + change; return it through a norm."""
        weights = self.constant(f"{y}.scale", scale.detach().float().numpy())
        if not self.change:
            self.add(self.NORM, [self.hidden, weights], [y], axis=-1, epsilon=NORM_EPS)
            return y
        inputs, outputs = [self.hidden, self.change, weights], [y, "", "", f"{y}.sum"]
        self.contrib(f"Skip{self.NORM}", inputs, outputs, epsilon=NORM_EPS)
        self.hidden, self.change = f"{y}.sum", ""
        return y

    def _mlp(self, mark: str, ready: str, weights: Block) -> str:
        """ready [B, T, D] -> down [B, T, D]."""
        self.product(ready, mark + "gate_up", weights.mlp.gate_up.weight)
        self.add("Split", [mark + "gate_up", "halves"], [mark + "gate", mark + "up"], axis=-1)
        self.contrib("QuickGelu", [mark + "gate"], [mark + "silu"], alpha=1.0)
        self.add("Mul", [mark + "silu", mark + "up"], [mark + "product"])
        return self.product(mark + "product", mark + "down", weights.mlp.down.weight)


class GptGraph(LlamaGraph):
    """GPT-2's blocks: norms that subtract the mean, an MLP without a gate."""

    NORM = "LayerNormalization"

    def _mlp(self, mark: str, ready: str, weights: Block) -> str:
        """ready [B, T, D] -> down [B, T, D]."""
        self.product(ready, mark + "up", weights.mlp.gate_up.weight)
        self.contrib("FastGelu", [mark + "up"], [mark + "bent"])
        return self.product(mark + "bent", mark + "down", weights.mlp.down.weight)


class PackedStack(Stack):
    """A stack with packed weights, as one graph."""

    GRAPH: type[LlamaGraph] = LlamaGraph

    def __init__(
        self,
        config: TransformerConfig,
        blocks: Iterable[Block],
        norm_scale: Tensor,
        *,
        threads: int,
    ) -> None:
        super().__init__(config)
        graph = self.GRAPH(config)
        graph.fill(blocks, norm_scale)
        self._session = graph.compile(graph.outputs(), threads=threads)


class PackedTransformer(PackedStack):
    """A Transformer's twin with packed weights: same call, same cache, fp32 activations. It
    computes what the plain one computes with the restored weights.
    """

    def forward(
        self, x: Tensor, rotation: Rotation, cache: KvCache, mask: Tensor | None = None
    ) -> Tensor:
        """As Transformer.forward, for CPU tensors."""
        batch, length, _ = x.shape
        feeds: dict[str, Array] = {
            "x": x.contiguous().numpy(),
            "cos": rotation.cos.contiguous().numpy(),
            "sin": rotation.sin.contiguous().numpy(),
            "angles": np.broadcast_to(np.arange(length), (batch, length)),
            "widths": np.array([cache.capacity, length], dtype=np.int64),
            "bias": np.tile(_bias(cache, length, mask), (1, 1, self.config.group, 1)),
        }
        for layer, (keys, values) in enumerate(cache.stored.numpy()):
            feeds |= {f"past_keys{layer}": keys, f"past_values{layer}": values}
        hidden, stored = map(from_numpy, self._session.run(None, feeds))
        cache.append_all(stored.view(self.config.layers, 2, -1, *stored.shape[1:]))
        return hidden


class PackedGpt(PackedTransformer):
    """A Gpt's twin."""

    GRAPH, TURNS = GptGraph, False


def _bias(cache: KvCache, length: int, mask: Tensor | None) -> Array:
    """Return [T, capacity + T] to add to the scores: 0 where a position may be read."""
    past = cache.capacity
    bias = np.full((length, past + length), HIDDEN_SCORE, dtype=np.float32)
    if mask is None:
        bias[:, : cache.length] = 0
        bias[:, past:] = 0
    else:
        bias[:, : cache.length][mask[:, : cache.length].numpy()] = 0
        bias[:, past:][mask[:, cache.length :].numpy()] = 0
    return bias
