"""What the codec is told of each frame: the phones that the frame says."""

from functools import partial
from itertools import groupby

import pytest
from torch import Tensor

from engine.codec.mimi import NOTHING, Mimi, MimiStream
from engine.tts.phones import EOS, SILENCE, own_table
from tests.engine.text.phoned import phoned
from tests.engine.tts.utterances import say
from tests.engine.tts.voxtream import small_model as voxtream2
from tests.engine.tts.voxtream.voxtream1 import small_voxtream1 as voxtream

WORDS = ["Seven", "boats", "cross", "many", "floods"]


@pytest.mark.parametrize("chunks", [[WORDS], [[word] for word in WORDS]], ids=["whole", "words"])
@pytest.mark.parametrize(
    "make",
    [voxtream2.small, partial(voxtream2.small, graphs=True), voxtream.small],
    ids=["voxtream2", "voxtream2, graph", "voxtream"],
)
def test_the_codec_is_told_each_frame_s_phones(make, chunks, monkeypatch):
    """A frame in which a word begins is told that word's first phone; the phones are those of the
    text in order, of which some may be skipped and none is said twice.
    """
    told: list[tuple[int, ...]] = []
    decode = Mimi.decode_frame

    def keep(mimi: Mimi, stream: MimiStream, codes: Tensor, phones: Tensor | None = None) -> Tensor:
        if phones is not None:
            told.append(tuple(phones[0, :, 0].tolist()))
        return decode(mimi, stream, codes, phones)

    model = make()
    monkeypatch.setattr(Mimi, "decode_frame", keep)
    frames = say(model, chunks, seed=3, rate=3.0 if model.info.rate_range else None).frames
    del told[: len(told) - len(frames)]  # what a graph is tried with
    table, said = own_table(), phoned(WORDS)
    begun = [(onset.word, at) for at, frame in enumerate(frames) for onset in frame.onsets]
    assert [word for word, _ in begun] == list(range(len(WORDS)))
    assert all(table.ids(said[word].phones[0])[0] in told[at] for word, at in begun)
    assert SILENCE in told[-1] or EOS in told[-1]
    text = [number for word in said for phone in word.phones for number in table.ids(phone)]
    left = iter([*text, SILENCE, EOS])
    spoken = [each for each, _ in groupby(one for frame in told for one in dict.fromkeys(frame))]
    assert all(phone in left for phone in spoken if phone != NOTHING)
    assert len(set(spoken) & set(text)) > 0.5 * len(set(text))
