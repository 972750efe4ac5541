"""One label is drawn for duration token and code; the cursor goes on by at most one phone."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.codec.mimi import FRAME_SAMPLES, Mimi, MimiStream
from engine.nn.sampling import race_noise
from engine.tts.base import AudioFrame
from engine.tts.phones import EOS, SILENCE, own_table
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.config import FULL, GENERATION
from engine.tts.voxtream.files.checkpoint import RandomWeights, load_weights
from engine.tts.voxtream.voxtream1.config import Generation
from engine.tts.voxtream.voxtream1.frames import choose
from engine.tts.voxtream.voxtream1.script import Cursor, Script
from tests.engine.tts.utterances import push, say
from tests.engine.tts.voxtream.voxtream1.small_voxtream1 import SEED, SMALL, TARGET, small

DRAWS = 2000


@torch.inference_mode()
def test_labels_are_drawn_from_the_best_of_the_joint_distribution() -> None:
    model = load_weights(RandomWeights(SMALL, SEED), SMALL, GENERATION, FULL, TARGET)
    generation, generator = Generation(), torch.Generator().manual_seed(2)
    hidden = torch.randn(1, SMALL.width, generator=generator)
    joint = model.joint_logits(hidden)[0, :, :-1].flatten() / generation.temperature
    best = joint.topk(generation.top)
    wanted = dict(zip(best.indices.tolist(), best.values.softmax(0).tolist(), strict=True))
    drawn: dict[int, int] = {}
    for _ in range(DRAWS):
        choice = choose(model, hidden, generation, race_noise(generation.top, generator))
        label = int(choice.token) * SMALL.codes + int(choice.code)
        drawn[label] = drawn.get(label, 0) + 1
    assert set(drawn) <= set(wanted)
    for label, share in wanted.items():
        assert abs(drawn.get(label, 0) / DRAWS - share) < 0.05


def script_of(phones: int, *, closed: bool) -> Script:
    """A script without a model; only the number of its phones is used."""
    script = Script.__new__(Script)
    script.phone_count, script.closed = phones, closed
    return script


def test_the_end_is_silence_for_a_few_frames_or_one_on_the_end_mark() -> None:
    cursor, script = Cursor(2, Generation()), script_of(4, closed=True)
    assert cursor.advance(3, script) == Span(3, 4)  # two phones: the last and the silence
    assert cursor.left is None
    assert cursor.advance(0, script) == Span(4, 4, ended=True)
    assert cursor.left == 5
    assert cursor.advance(2, script) == Span(5, 5, ended=True)
    assert cursor.left == 1


def test_a_phone_that_is_held_too_long_is_left() -> None:
    generation = Generation(held_frames=3)
    cursor, script = Cursor(2, generation), script_of(9, closed=False)
    firsts = [cursor.advance(0, script).first for _ in range(6)]
    assert firsts == [2, 2, 2, 3, 3, 3]


def test_it_speaks_at_the_first_word_and_takes_one_more_a_frame() -> None:
    """Until it sees ten phones ahead; a frame of the second word needs no third before."""
    model = small()
    with model.open(model.voices()[0], seed=3) as session:
        session.push_word("Seven")
        assert isinstance(session.step(), AudioFrame)
        taken = [session._taken]
        push(session, ["boats", "crossed", "icy", "rivers"], ended=False)
        for _ in range(4):
            session.step()
            taken.append(session._taken)
    assert taken[:3] == [1, 2, 3]
    assert max(later - sooner for sooner, later in itertools.pairwise(taken)) == 1


def test_phones_beyond_the_look_ahead_change_no_frame() -> None:
    model, words = small(), ["Seven", "boats", "crossed", "icy", "rivers"]
    one, other = (say(model, [[*words, last]], seed=4).pcm for last in ("slowly", "music"))
    assert np.array_equal(one[: 4 * FRAME_SAMPLES], other[: 4 * FRAME_SAMPLES])


def test_the_codec_is_told_each_frame_s_phones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame in which a word begins is told that word's first phone."""
    heard: list[tuple[int, ...]] = []
    decode = Mimi.decode_frame

    def keep(mimi: Mimi, stream: MimiStream, codes: Tensor, phones: Tensor | None = None) -> Tensor:
        assert phones is not None
        heard.append(tuple(phones[0, :, 0].tolist()))
        return decode(mimi, stream, codes, phones)

    monkeypatch.setattr(Mimi, "decode_frame", keep)
    firsts = [own_table().ids(first)[0] for first in "sbkmf"]
    frames = say(small(), [["Seven", "boats", "cross", "many", "floods"]], seed=3).frames
    pairs = zip(frames, heard, strict=True)
    begun = [(onset.word, told) for frame, told in pairs for onset in frame.onsets]
    assert [word for word, _ in begun] == list(range(len(firsts)))
    assert all(firsts[word] in told for word, told in begun)
    assert SILENCE in heard[-1] or EOS in heard[-1]
