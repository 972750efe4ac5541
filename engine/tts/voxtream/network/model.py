"""VoXtream2's three transformers and their tables, from phones to the codes of one frame.

    phones ──phone transformer──┐ sum of a frame's two rows
    codes so far ──embeddings───┴─▶ temporal transformer ─▶ (duration token, semantic code)
    speaker ──projection────────────────────────┴─▶ depth transformer ─▶ 15 acoustic codes

Invariant: no state here; caches, streams and noise come in as arguments.
Letters: B = 2 rows (0 conditional, 1 unconditional: guidance as a batch), K codebooks, T columns,
P phones, D width, N duration tokens, V audio vocabulary.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.nn.packed.stack_graph import PackedTransformer
from engine.nn.sampling import draw_nucleus, draw_top, guide
from engine.nn.transformer import Embedding, KvCache, Linear, Transformer
from engine.tts.voxtream.config import ROWS, VOXTREAM2_SHAPE, ModelConfig, VoxtreamGeneration
from engine.tts.voxtream.network.acoustic import AcousticSteps, PackedAcoustics
from engine.tts.voxtream.network.phones import PackedTail


@dataclass(frozen=True)
class Controls:
    """Controls of one frame. Noise comes from outside, so that a frame is a pure function of its
    inputs.
    """

    guidance: Tensor  # [] semantic guidance
    rate_bias: Tensor  # [N] added to the duration tokens' log-probabilities
    token_noise: Tensor  # [1, N] Exp(1)
    code_noise: Tensor  # [1, top codes] Exp(1)


@dataclass(frozen=True)
class Choice:
    """A duration token and a semantic code, drawn together; [1, 1] each."""

    token: Tensor
    code: Tensor


class VoxtreamModel(nn.Module):
    """The weights, and functions of them. Products may be plain or packed (see checkpoint.py)."""

    def __init__(self, config: ModelConfig, generation: VoxtreamGeneration) -> None:
        super().__init__()
        self.config = config
        self.generation = generation
        self.codebooks = config.codebooks
        width, vocabulary = config.width, config.audio_vocabulary
        self.phone_embeddings = Embedding(config.phone_vocabulary, width)
        self.audio_embeddings = Embedding(vocabulary * config.codebooks, width)
        self.speaker_projection = Linear(config.speaker_width, width)
        self.semantic_head = Linear(width, config.duration_tokens * vocabulary)
        self.acoustic_heads = nn.ModuleList(
            Linear(width, vocabulary) for _ in range(config.codebooks - 1)
        )
        self.phone: Transformer | PackedTail = Transformer(config.phone)
        self.temporal: Transformer | PackedTransformer = Transformer(config.temporal)
        # Packed, it holds the heads as well.
        self.depth: Transformer | PackedAcoustics = Transformer(config.depth)

    @property
    def device(self) -> torch.device:
        return self.phone_embeddings.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of activations."""
        return self.phone_embeddings.weight.dtype

    # ------------------------------------------------------------ temporal

    def columns(self, phones: Tensor, codes: Tensor) -> Tensor:
        """Return inputs of the temporal transformer: phone vectors [B, T, D] plus the embeddings of
        codes [B, K, T].
        """
        context = codes[:, : self.codebooks]
        shifts = torch.arange(context.shape[1], device=codes.device) * self.config.audio_vocabulary
        embedded: Tensor = self.audio_embeddings(context + shifts[:, None])  # [B, K, T, D]
        return phones + embedded.sum(dim=1, dtype=phones.dtype)

    # ------------------------------------------------- semantic and duration

    def joint_logits(self, hidden: Tensor) -> Tensor:
        """Return logits of duration token and semantic code together, [B, N, V], from hidden [B,
        D].
        """
        logits: Tensor = self.semantic_head(hidden)
        return logits.float().view(len(hidden), self.config.duration_tokens, -1)

    def choose(self, hidden: Tensor, controls: Controls) -> Choice:
        """Draw the frame's duration token, then its semantic code given the token."""
        joint, generation = self.joint_logits(hidden), self.generation  # [B, N, V]
        tokens = self.token_probabilities(joint[0], controls.rate_bias)  # [1, N]
        token = draw_nucleus(tokens, generation.nucleus, controls.token_noise)
        guided = guide(joint[:1], joint[1:], controls.guidance)  # [1, N, V]
        row = guided.gather(1, token[..., None].expand(-1, -1, guided.shape[-1]))[:, 0]
        # Codes after the real ones are not sounds; the released loop can draw them.
        codes = (row / generation.temperature).softmax(-1)[:, : self.config.codes]
        return Choice(token, draw_top(codes, generation.top_codes, controls.code_noise))

    def token_probabilities(self, joint: Tensor, rate_bias: Tensor) -> Tensor:
        """Return the probabilities of the duration tokens [1, N]: those of the conditional row [N,
        V], summed over the codes, with a bias [N]. Guidance is left out, because it would make
        speech faster (VoXtream2, 3.5).
        """
        marginal = joint.logsumexp(-1)  # [N]
        probabilities = (marginal / self.generation.temperature).softmax(-1) * rate_bias.exp()
        return (probabilities / probabilities.sum())[None]

    # -------------------------------------------------------------- acoustic

    def speaker_rows(self, speaker: Tensor) -> Tensor:
        """Project a speaker vector [192] to rows [B, D] for the depth transformer; the
        unconditional row is zero.
        """
        projected = self.speaker_projection(speaker.to(self.device, self.dtype))
        weighted = projected * self.generation.speaker_weight
        return torch.stack((weighted, torch.zeros_like(weighted)))

    def acoustic_memory(self, batch: int = ROWS) -> KvCache | AcousticSteps:
        """Return buffers that acoustic_codes() needs, for one utterance."""
        if isinstance(self.depth, PackedAcoustics):
            embeddings, vocabulary = self.audio_embeddings.weight, self.config.audio_vocabulary
            return AcousticSteps(self.depth, embeddings, vocabulary)
        growth = self.codebooks
        cache = KvCache(self.config.depth, batch, self.device, self.dtype, growth=growth)
        cache.reserve(self.codebooks)
        return cache

    def acoustic_codes(
        self,
        hidden: Tensor,
        semantic: Tensor,
        memory: KvCache | AcousticSteps,
        choose: Callable[[int, Tensor], Tensor] | None = None,
    ) -> Tensor:
        """Return the codes [1, K - 1] of a frame's acoustic codebooks, given temporal output plus
        speaker [B, D] and its semantic code [1, 1]. `memory` is overwritten. `choose(n, logits)`
        returns a code [1, 1] of the codebook n + 1 from the logits of real codes [B, V]; None = the
        most likely one with guidance (VoXtream2, 3.5).
        """
        if isinstance(memory, AcousticSteps):
            return memory.codes(hidden, semantic)
        assert isinstance(self.depth, Transformer)
        memory.restart()
        choose, code, codes = choose or self._best, semantic, list[Tensor]()
        for number, head in enumerate(self.acoustic_heads):
            row = self.audio_embeddings(code[0] + number * self.config.audio_vocabulary)
            x = row.to(self.dtype).expand_as(hidden)[:, None]
            x = x if number else torch.cat((hidden[:, None], x), dim=1)
            logits = head(self.depth.append(x, memory)[:, -1])[:, : self.config.codes]
            code = choose(number, logits.float())  # guidance triples bf16's rounding
            codes.append(code)
        return torch.cat(codes, dim=1)

    def _best(self, number: int, logits: Tensor) -> Tensor:
        guided = guide(logits[:1], logits[1:], self.generation.acoustic_guidance)
        return guided.argmax(-1, keepdim=True)


def delayed(codes: Tensor, config: ModelConfig = VOXTREAM2_SHAPE) -> Tensor:
    """Shift prompt codes [K, T] to columns [B, K, T + 1] with the acoustic delay, for both rows.

    Column t has semantic code t - 1 and acoustic codes t - 2; the last frame's acoustic codes are
    not used. The unconditional row has a marker in place of the prompt.
    """
    codebooks, frames = codes.shape
    dropped, pad = config.codes, config.pad
    columns = codes.new_full((codebooks, frames + 1), pad)
    columns[0, 1:] = codes[0]
    columns[1:, 2:] = codes[1:, :-1]
    unheard = columns.masked_fill(columns != pad, dropped)
    return torch.stack((columns, unheard))
