"""What a frame is told, and that the cursor goes on."""

from types import SimpleNamespace

import pytest
from torch import Tensor

from engine.codec.mimi import Mimi, MimiStream
from engine.tts.phones import EOS, SILENCE, own_table
from engine.tts.voxtream.voxtream1.config import Generation
from engine.tts.voxtream.voxtream1.script import Cursor
from tests.engine.tts.utterances import say
from tests.engine.tts.voxtream.voxtream1.small_voxtream1 import small


def test_a_phone_that_is_held_too_long_is_left() -> None:
    script = SimpleNamespace(phone_count=9, closed=False)
    cursor = Cursor(2, Generation(held_frames=3))
    firsts = [cursor.advance(0, script).first for _ in range(6)]  # type: ignore[arg-type]
    assert firsts == [2, 2, 2, 3, 3, 3]


def test_the_codec_is_told_each_frame_s_phones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame in which a word begins is told that word's first phone."""
    heard: list[tuple[int, ...]] = []
    decode = Mimi.decode_frame

    def keep(mimi: Mimi, stream: MimiStream, codes: Tensor, phones: Tensor | None = None) -> Tensor:
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
