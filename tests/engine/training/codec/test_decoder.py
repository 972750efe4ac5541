"""What a decoder is told: the phones of each frame, as a session tells them."""

import random

import torch

from engine.codec.mimi import NOTHING
from engine.training.codec.decoder import PAUSED, UNTOLD, said, told
from engine.tts.phones import SILENCE, own_ids
from tests.engine.training.voice.test_voice_model import PHONES, WALK, encoded

IDS = [own_ids()[phone] for phone in PHONES]


def test_frames_say_the_phones_that_their_tokens_walk_to() -> None:
    first, last = said(encoded(WALK, pause=2)).tolist()
    assert first == [IDS[n] for n in (0, 0, 1, 3, 4, 5, 7)] + [SILENCE] * 2
    assert last == [IDS[n] for n in (0, 0, 2, 3, 4, 6, 7)] + [SILENCE] * 2


def test_of_some_frames_nothing_is_told_and_a_pause_may_hold_the_last_phone() -> None:
    phones = said(encoded(WALK, pause=4))
    speech, count = len(WALK), 4000
    draw = random.Random(1)
    variants = [told(phones, draw) for _ in range(count)]
    silent = [each for each in variants if bool((each == NOTHING).all())]
    begun = [each for each in variants if each[0, 0] == NOTHING and each[0, -1] != NOTHING]
    held = [each for each in variants if each[0, -1] == IDS[-1]]
    assert abs(len(silent) / count - UNTOLD) < 0.03
    # Of those that begin without phones some end at once: as many as there are frames.
    share = (1 - UNTOLD) * UNTOLD * (1 - 1 / phones.shape[1])
    assert abs(len(begun) / count - share) < 0.03
    assert abs(len(held) / count - (1 - UNTOLD) * PAUSED) < 0.03
    for each in variants:
        known = (each != NOTHING).all(dim=0)
        assert torch.equal(
            each[:, :speech][:, known[:speech]], phones[:, :speech][:, known[:speech]]
        )
