"""VoXtream as in its paper and its published loop, without a cache: for every frame the whole
text and the whole past are computed anew from the published tensors.

Written from section 2 of the paper for the tests; shares no code with the engine but the rotary
frequencies. One rule is the engine's own: the first frame that is heard waits for one word only.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.nn.transformer import TransformerConfig, rope_frequencies
from engine.tts.voxtream.config import ModelConfig

Take = Callable[[str], Tensor]
TOKENS = ((0, 1), (0, 2), (1, 1), (1, 2))
TEMPERATURE, TOP, END_FRAMES = 0.9, 5, 5
BOS, SILENCE, EOS = 123, 120, 124
NOT_YET = 10_000  # frames, more than any test has


def speak(
    take: Take, config: ModelConfig, voice: dict[str, Tensor], words: Sequence[list[int]], seed: int
) -> list[list[int]]:
    """Codes [K] of every frame that is heard, the phones of each word coming one by one."""
    generator = torch.Generator().manual_seed(seed)
    prompt, codes = [BOS, *voice["phones"].tolist()], voice["codes"].long()
    spans = [(0, 0), *((a + 1, b + 1) for a, b in voice["spans"].tolist())]
    fed = torch.full((config.codebooks, codes.shape[1] + 1), config.audio_vocabulary - 1)
    fed[0, 1:], fed[1:, 2:] = codes[0], codes[1:, :-1]
    inputs = torch.zeros(0, config.width)  # [T, D]; earlier frames stay as they are
    heard: list[list[int]] = []
    acoustic, iteration, left = codes[1:, -1], 0, NOT_YET
    while left:
        text = prompt + [phone for word in words[: max(1, iteration)] for phone in word]
        end, over = len(text), iteration > len(words)
        text += [SILENCE, EOS] if over else []
        inputs = torch.cat((inputs, _columns(take, config, text, spans[len(inputs) :], fed)))
        hidden = _stack(take, "temp_former", config.temporal, inputs, 0)[-1]
        token, semantic = _label(take, config, hidden, generator)
        if iteration:
            opening = hidden + take("spk_emb_proj.weight") @ voice["speaker"]
            acoustic = torch.tensor(_acoustic(take, config, opening, semantic, generator))
            heard.append([int(fed[0, -1]), *acoustic.tolist()])
        fed = torch.cat((torch.tensor([semantic]), acoustic))[:, None]
        spans.append(_moved(spans[-1][1], TOKENS[token], end, over=over))
        left -= 1
        if spans[-1][0] >= end and over:
            left = min(left, 1 if spans[-1][0] > end else END_FRAMES)
        iteration += 1
    return heard


def _moved(last: int, token: tuple[int, int], end: int, *, over: bool) -> tuple[int, int]:
    """First and last phone of the next frame; `end` is behind the text's last one."""
    start = last + token[0]
    if over and start >= end:
        return (min(start, end + 1),) * 2
    return start, start + token[1] - 1 if over else min(start + token[1], end) - 1


def _columns(
    take: Take, config: ModelConfig, text: list[int], spans: list[tuple[int, int]], codes: Tensor
) -> Tensor:
    """Inputs [T, D] of the temporal transformer for new columns."""
    rows = take("phone_embeddings.weight")[torch.tensor(text)]
    rows = _stack(take, "phone_former", config.phone, rows, config.max_look_ahead)
    phones = torch.stack([rows[a] + rows[b] for a, b in spans])
    shifts = torch.arange(config.codebooks)[:, None] * config.audio_vocabulary
    return phones + take("audio_embeddings.weight")[codes + shifts].sum(0)


def _label(
    take: Take, config: ModelConfig, hidden: Tensor, generator: torch.Generator
) -> tuple[int, int]:
    """Duration token and semantic code, drawn as one label."""
    logits = (take("sem_head.weight") @ hidden).view(len(TOKENS), -1)[:, :-1]
    label = _draw(logits.flatten(), _noise(generator))
    return divmod(label, logits.shape[1])


def _acoustic(
    take: Take, config: ModelConfig, opening: Tensor, semantic: int, generator: torch.Generator
) -> list[int]:
    """Codes of codebooks 1.., each drawn given those before."""
    table = take("audio_embeddings.weight")
    noises = [_noise(generator) for _ in range(config.codebooks - 1)]
    inputs, codes = [opening], [semantic]
    for book, noise in enumerate(noises):
        inputs.append(table[codes[-1] + book * config.audio_vocabulary])
        out = _stack(take, "dep_former", config.depth, torch.stack(inputs), 0)[-1]
        codes.append(_draw((out @ take("audio_head")[book])[:-1], noise))
    return codes[1:]


def _noise(generator: torch.Generator) -> Tensor:
    return torch.empty(TOP).exponential_(1.0, generator=generator)


def _draw(logits: Tensor, noise: Tensor) -> int:
    best = (logits / TEMPERATURE).topk(TOP)
    return int(best.indices[(best.values.softmax(0) / noise).argmax()])


def _stack(take: Take, name: str, config: TransformerConfig, x: Tensor, ahead: int) -> Tensor:
    """A Llama stack on [T, D]; position t sees up to t + ahead."""
    length, width = len(x), config.head_width
    angles = torch.arange(length)[:, None] * rope_frequencies(width)
    turn = torch.polar(torch.ones_like(angles), angles)[:, None]
    places = torch.arange(length)
    visible = places[None] <= places[:, None] + ahead
    for layer in range(config.layers):
        key = f"{name}.layers.{layer}."
        normed = _norm(x, take(key + "sa_norm.scale"))
        q, k, v = (
            (normed @ take(f"{key}attn.{part}_proj.weight").T).view(length, -1, width)
            for part in "qkv"
        )
        q, k = (_rotated(heads, turn) for heads in (q, k))
        k, v = (heads.repeat_interleave(config.heads // config.kv_heads, 1) for heads in (k, v))
        scores = torch.einsum("thd,shd->hts", q, k) / width**0.5
        weights = scores.masked_fill(~visible, -torch.inf).softmax(-1)
        mixed = torch.einsum("hts,shd->thd", weights, v).flatten(1)
        x = x + mixed @ take(key + "attn.output_proj.weight").T
        normed = _norm(x, take(key + "mlp_norm.scale"))
        gate, up = (normed @ take(f"{key}mlp.{part}.weight").T for part in ("w1", "w3"))
        x = x + (functional.silu(gate) * up) @ take(key + "mlp.w2.weight").T
    return _norm(x, take(f"{name}.norm.scale"))


def _rotated(heads: Tensor, turn: Tensor) -> Tensor:
    pairs = torch.view_as_complex(heads.view(*heads.shape[:2], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)


def _norm(x: Tensor, scale: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * scale
