"""GPT-2's blocks (engine/nn/gpt.py) as one graph of low-bit products.

Invariant: it computes what the plain blocks compute with the restored weights.
"""

from engine.nn.packed.stack_graph import LlamaGraph
from engine.nn.transformer import Block


class GptGraph(LlamaGraph):
    """Norms that take the mean away, and an MLP without a gate."""

    NORM = "LayerNormalization"

    def _mlp(self, mark: str, ready: str, weights: Block) -> str:
        """ready [B, T, D] -> down [B, T, D]."""
        self.product(ready, mark + "up", weights.mlp.gate_up.weight, self._precision)
        self.contrib("FastGelu", [mark + "up"], [mark + "bent"])
        return self.product(mark + "bent", mark + "down", weights.mlp.down.weight, self._precision)
