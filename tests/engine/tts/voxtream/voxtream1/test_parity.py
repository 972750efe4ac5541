"""What a session says is what the paper's loop says, which computes everything anew each frame; and
the engine's own limit beside it.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.tts.phones import own_table
from engine.tts.voxtream.files.checkpoint import RandomWeights
from engine.tts.voxtream.voxtream1.config import Generation
from engine.tts.voxtream.voxtream1.script import Cursor
from tests.engine.text.phoned import phoned
from tests.engine.tts.utterances import say
from tests.engine.tts.voxtream.voxtream1.slow_loop import speak
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
    cursor = Cursor(2, Generation(held_frames=3))
    assert [cursor.advance(0, script).first for _ in range(6)] == [2, 2, 2, 3, 3, 3]
