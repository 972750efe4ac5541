"""The acoustic codes of a frame from packed weights. Each step of the depth transformer is one
graph and each head another; only the code between two steps passes through Python.

Invariant: weights are shared and never change; AcousticSteps is the state of one utterance.
"""

import numpy as np
import torch
from torch import Tensor, nn

from engine.nn.packed.product_graph import Bound, ProductGraph
from engine.nn.packed.short_stack import ShortSequence, ShortStack
from engine.tts.voxtream.config import ROWS

OPENING = 2  # positions: hidden + speaker, and the semantic code


class PackedAcoustics(nn.Module):
    """The depth transformer and the heads of all acoustic codebooks, with weights in 8 bits."""

    def __init__(self, stack: ShortStack, heads: Tensor, *, guidance: float) -> None:
        """`heads`: weights [K - 1, V, D] that give logits of real codes. `guidance`: the weight of
        guidance.
        """
        super().__init__()
        self.stack = stack
        self._heads = [_Head(head, guidance) for head in heads]

    def open(self, embeddings: Tensor, vocabulary: int) -> "AcousticSteps":
        """Return the buffers of an utterance. `embeddings`: of the codes of all codebooks [K *
        vocabulary, D].
        """
        sequence = self.stack.open(ROWS, OPENING)
        return AcousticSteps(sequence, self._heads, embeddings, vocabulary)


class AcousticSteps:
    """Computes the acoustic codes of an utterance's frames, one frame after the other."""

    def __init__(
        self, sequence: ShortSequence, heads: list["_Head"], embeddings: Tensor, vocabulary: int
    ) -> None:
        self._sequence = sequence
        self._embeddings, self._vocabulary = embeddings, vocabulary
        self._found = torch.zeros(len(heads), 1, 1, dtype=torch.int64)
        self._heads = heads
        self._draws = [
            head.bound(self._sequence.hidden, code)
            for head, code in zip(heads, self._found, strict=True)
        ]

    def codes(self, hidden: Tensor, semantic: Tensor) -> Tensor:
        """Return the most likely codes [1, K - 1], given temporal output plus speaker [B, D] and
        the semantic code [1, 1].
        """
        self._open(hidden, semantic)
        for step, draw in enumerate(self._draws):
            if step:
                self._follow(step, self._found[step - 1])
            self._sequence.run(step)
            draw.run()
        return self._found[..., 0].t().clone()

    def _open(self, hidden: Tensor, semantic: Tensor) -> None:
        self._sequence.opening[:, 0] = hidden
        self._sequence.opening[:, 1] = self._embeddings[semantic[0]]

    def _follow(self, codebook: int, code: Tensor) -> None:
        embedded = self._embeddings[code[0] + codebook * self._vocabulary]
        self._sequence.following[:, 0] = embedded


class _Head:
    """A graph that finds the most likely code of one codebook, with guidance from both rows."""

    def __init__(self, weight: Tensor, guidance: float) -> None:
        graph = ProductGraph()
        graph.product("hidden", "rows", weight)
        pairs = graph.constant("pairs", np.array([-1, ROWS, weight.shape[0]], dtype=np.int64))
        graph.add("Reshape", ["rows", pairs], ["both"])
        weights = np.array([[guidance, 1 - guidance]], dtype=np.float32)
        graph.add("MatMul", [graph.constant("guidance", weights), "both"], ["logits"])
        graph.add("ArgMax", ["logits"], ["code"], axis=-1, keepdims=0)
        self._session = graph.compile(
            {"hidden": [None, weight.shape[1]]},
            {"code": [None, 1]},
            threads=1,
        )

    def bound(self, hidden: Tensor, code: Tensor) -> Bound:
        """Bind the graph to the buffers of hidden [B, D] and the code [1, 1]."""
        return Bound(self._session, {"hidden": hidden}, {"code": code})
