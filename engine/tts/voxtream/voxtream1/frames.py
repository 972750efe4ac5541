"""Frames of VoXtream: a batch of one row, drawn from the joint distribution.

VoXtream draws duration token and semantic code together as one label, and also draws acoustic
codes. VoXtream2 draws the token first, uses guidance with a second row, and takes the most likely
acoustic codes. Invariant: given the noise, a frame is a function of the weights, the phones and the
codes before.
"""

import torch
from torch import Tensor

from engine.codec.mimi import Mimi
from engine.nn.cache import KvCache
from engine.nn.sampling import draw_top, race_noise
from engine.nn.transformer import RotaryTable, causal_mask
from engine.tts.voxtream.network.frames import DrawnFrame
from engine.tts.voxtream.network.model import Choice, VoxtreamModel
from engine.tts.voxtream.prompt import PreparedPrompt, PromptState
from engine.tts.voxtream.voxtream1.config import MOVES_ON, Voxtream1Generation


def choose(
    model: VoxtreamModel,
    hidden: Tensor,
    generation: Voxtream1Generation,
    noise: Tensor,
    least: int = 0,
) -> Choice:
    """Draw the frame's label (duration token and semantic code) from the most likely ones, given
    hidden [1, D] and noise [1, top]. Tokens before `least` are not allowed.

    Padding is never drawn; the released loop can draw it.
    """
    codes = model.config.codes
    joint = model.joint_logits(hidden)[:, least:, :codes]  # [1, N, V]
    label = _draw(joint.flatten(1), generation, noise)
    return Choice(label // codes + least, label % codes)


def acoustic_codes(
    model: VoxtreamModel,
    opening: Tensor,
    table: RotaryTable,
    cache: KvCache,
    generation: Voxtream1Generation,
    noise: Tensor,
) -> Tensor:
    """Draw the acoustic codes of a frame [1, K - 1]. `opening` [1, 2, D]: temporal output plus
    speaker, and the semantic code's embedding. `noise` [K - 1, top]: a row for each codebook. The
    cache is overwritten.
    """
    cache.restart()
    x, codes = opening, []
    for codebook, row in enumerate(noise):
        start, length = cache.length, x.shape[1]
        mask = causal_mask(start, length, x.device) if length > 1 else None
        out = model.depth(x, table.slice(start, start + length), cache, mask)
        cache.advance(length)
        logits = model.acoustic_heads[codebook](out[:, -1]).float()[:, : model.config.codes]
        codes.append(_draw(logits, generation, row[None]))
        x = embedded(model, codebook + 1, codes[-1])[:, None]
    return torch.cat(codes, dim=1)


def embedded(model: VoxtreamModel, codebook: int, code: Tensor) -> Tensor:
    """Return the embedding [1, D] of one code [1, 1], in the dtype of activations."""
    row: Tensor = model.audio_embeddings(code[0] + codebook * model.config.audio_vocabulary)
    return row.to(model.dtype)


def _draw(logits: Tensor, generation: Voxtream1Generation, noise: Tensor) -> Tensor:
    """Draw one of the `top` most likely entries of logits [1, V], [1, 1]."""
    probabilities = (logits / generation.temperature).softmax(-1)
    return draw_top(probabilities, generation.top, noise.to(logits.device))


class Voxtream1Frames:
    """Makes the frames of one passage: first() once, then next() for each."""

    def __init__(self, prompt: PreparedPrompt, mimi: Mimi, generation: Voxtream1Generation) -> None:
        model = prompt.model
        self._prompt, self._model, self._generation = prompt, model, generation
        self._mimi, self._stream = mimi, mimi.open()
        self._depth = KvCache(model.config.depth, 1, model.device, model.dtype)
        self._cache: KvCache | None = None
        self._codes = prompt.last_acoustic  # [1, K] once the first frame is drawn

    def first(self, opened: PromptState, generator: torch.Generator) -> int:
        """Draw the first frame after the prompt. Return its duration token, which always moves on;
        in the released loop the voice may stay in the pause after the prompt. The frame's acoustic
        codes and samples come with the next frame.
        """
        self._cache = opened.cache
        noise = race_noise(self._generation.top, generator)
        choice = choose(self._model, opened.hidden, self._generation, noise, MOVES_ON)
        self._codes = torch.cat((choice.code, self._prompt.last_acoustic), dim=1)
        return int(choice.token)

    def next(self, phones: Tensor, said: tuple[int, int], generator: torch.Generator) -> DrawnFrame:
        """Draw a frame, given the phone vector [1, D] and the phone ids of the frame before."""
        model, generation, prompt = self._model, self._generation, self._prompt
        cache = self._cache
        assert cache is not None, "first() comes first"
        # Copied to the device before work is queued there.
        phone_ids = torch.tensor(said, device=model.device).view(1, -1, 1)
        rotation = prompt.tables.temporal.slice(cache.length, cache.length + 1)
        columns = model.columns(phones[:, None], self._codes[:, :, None])
        hidden = model.advance(columns, rotation, cache, None)
        cache.advance(1)
        noise = torch.cat(
            [race_noise(generation.top, generator) for _ in range(model.codebooks)]
        )  # [K, top]
        choice = choose(model, hidden, generation, noise[:1])
        opening = torch.stack((hidden + prompt.speaker, embedded(model, 0, choice.code)), dim=1)
        acoustic = acoustic_codes(
            model, opening, prompt.tables.depth, self._depth, generation, noise[1:]
        )
        codes = torch.cat((self._codes[:, :1], acoustic), dim=1)
        self._codes = torch.cat((choice.code, acoustic), dim=1)
        pcm = self._mimi.decode_frame(self._stream, codes[:, :, None], phone_ids)
        return DrawnFrame(int(choice.token), pcm[0, 0].float().cpu())  # the frame's only sync
