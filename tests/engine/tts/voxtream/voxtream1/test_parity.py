"""What a session says is what the paper's loop says, which computes everything anew each frame; and
the engine's own limit beside it.
"""

from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.tts.voxtream.config import ModelConfig
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.voxtream1.session import Cursor, Voxtream1Generation
from tests.engine.nn.stacks import at_once
from tests.engine.text.cases import phoned
from tests.engine.tts.utterances import say
from tests.engine.tts.voxtream.random_weights import RandomWeights, own_table
from tests.engine.tts.voxtream.voxtream1.small_voxtream1 import SEED, SMALL, small

# No word that is held until the next one is known.
WORDS = ("Seven", "boats", "crossed", "icy", "rivers", "saw", "green", "hills", "slowly")


class CodeKeeper:
    """In place of the codec: keeps what it is given to decode."""

    def __init__(self) -> None:
        self.codes: list[list[int]] = []

    def open(self) -> None:
        """No stream is needed."""

    def decode_frame(self, stream: None, codes: Tensor, phones: Tensor) -> Tensor:
        self.codes.append(codes[0, :, 0].tolist())
        return torch.zeros(1, 1, 1920)


def phones_of(words: tuple[str, ...]) -> list[list[int]]:
    said, table = phoned(words), own_table()
    assert len(said) == len(words)
    return [[n for phone in each.phones for n in table.ids(phone)] for each in said]


@pytest.mark.parametrize("seed", [1, 2])
@torch.inference_mode()
def test_a_session_says_what_the_slow_loop_says(seed):
    keeper: Any = CodeKeeper()
    model = small(mimi=keeper)
    say(model, [[word] for word in WORDS], seed=seed)
    weights = RandomWeights(SMALL, SEED)
    voice = model.voices()[0]
    tensors = {name: torch.as_tensor(array) for name, array in voice.tensors.items()}
    wanted = speak(model.parts.model, cache(weights.take), tensors, phones_of(WORDS), seed)
    assert keeper.codes == wanted
    assert len(wanted) > len(WORDS)


def test_a_phone_that_is_held_too_long_is_left():
    script: Any = SimpleNamespace(phone_count=9, closed=False)
    cursor = Cursor(2, Voxtream1Generation(held_frames=3))
    assert [cursor.advance(0, script).first for _ in range(6)] == [2, 2, 2, 3, 3, 3]


# ------------------------------------------------------------------------------- the slow loop

# Written from section 2 of the paper and its published loop: for every frame the whole text and the
# whole past are computed anew from the published tensors. Shares no code with the engine but the
# stacks, which the public code is compared with. Two rules are the engine's own: the first frame
# that is heard waits for one word only, and the voice leaves the prompt with it.


Take = Callable[[str], Tensor]
TOKENS = ((0, 1), (0, 2), (1, 1), (1, 2))
TEMPERATURE, TOP, END_FRAMES = 0.9, 5, 5
BOS, SILENCE, EOS = 123, 120, 124
NOT_YET = 10_000  # frames, more than any test has


def speak(
    model: VoxtreamModel,
    take: Take,
    voice: dict[str, Tensor],
    words: Sequence[list[int]],
    seed: int,
) -> list[list[int]]:
    """Codes [K] of every frame that is heard, the phones of each word coming one by one."""
    generator, config = torch.Generator().manual_seed(seed), model.config
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
        inputs = torch.cat((inputs, _columns(model, take, text, spans[len(inputs) :], fed)))
        hidden = at_once(model.temporal, inputs[None])[0, -1]
        token, semantic = _label(take, config, hidden, generator, leaves=iteration == 0)
        if iteration:
            opening = hidden + take("spk_emb_proj.weight") @ voice["speaker"]
            acoustic = torch.tensor(_acoustic(model, take, opening, semantic, generator))
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
    model: VoxtreamModel, take: Take, text: list[int], spans: list[tuple[int, int]], codes: Tensor
) -> Tensor:
    """Inputs [T, D] of the temporal transformer for new columns."""
    config = model.config
    rows = take("phone_embeddings.weight")[torch.tensor(text)]
    rows = at_once(model.phone, rows[None], config.max_look_ahead)[0]
    phones = torch.stack([rows[a] + rows[b] for a, b in spans])
    shifts = torch.arange(config.codebooks)[:, None] * config.audio_vocabulary
    return phones + take("audio_embeddings.weight")[codes + shifts].sum(0)


def _label(
    take: Take, config: ModelConfig, hidden: Tensor, generator: torch.Generator, *, leaves: bool
) -> tuple[int, int]:
    """Duration token and semantic code, drawn as one label; `leaves`: no token that stays."""
    logits = (take("sem_head.weight") @ hidden).view(len(TOKENS), -1)[:, :-1]
    if leaves:
        logits[[shift == 0 for shift, _ in TOKENS]] = -torch.inf
    label = _draw(logits.flatten(), _noise(generator))
    return divmod(label, logits.shape[1])


def _acoustic(
    model: VoxtreamModel, take: Take, opening: Tensor, semantic: int, generator: torch.Generator
) -> list[int]:
    """Codes of codebooks 1.., each drawn given those before."""
    table, config = take("audio_embeddings.weight"), model.config
    noises = [_noise(generator) for _ in range(config.codebooks - 1)]
    inputs, codes = [opening], [semantic]
    for book, noise in enumerate(noises):
        inputs.append(table[codes[-1] + book * config.audio_vocabulary])
        out = at_once(model.depth, torch.stack(inputs)[None])[0, -1]
        codes.append(_draw((out @ take("audio_head")[book])[:-1], noise))
    return codes[1:]


def _noise(generator: torch.Generator) -> Tensor:
    return torch.empty(TOP).exponential_(1.0, generator=generator)


def _draw(logits: Tensor, noise: Tensor) -> int:
    best = (logits / TEMPERATURE).topk(TOP)
    return int(best.indices[(best.values.softmax(0) / noise).argmax()])
