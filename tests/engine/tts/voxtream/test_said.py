"""What the codec is told of each frame: the phones that the frame says."""

from collections.abc import Iterable
from itertools import groupby

import pytest
import torch
from torch import Tensor

from engine.codec.mimi import NOTHING, Mimi, MimiStream
from engine.tts.base import Voice
from engine.tts.phones import EOS, SILENCE, own_table
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.text.phoned import phoned
from tests.engine.tts.utterances import drain, push
from tests.engine.tts.voxtream.small_model import small

WORDS = ["Seven", "boats", "crossed", "icy", "rivers."]
Told = list[tuple[int, int]]


def told(
    model: VoxtreamSynthesiser,
    voice: Voice,
    monkeypatch: pytest.MonkeyPatch,
    chunks: Iterable[list[str]],
) -> tuple[Told, Told]:
    """Phones of every frame as the session asks for it, and as the codec decodes it."""
    asked, heard = Told(), Told()
    decode = Mimi.decode_frame

    def keep(self: Mimi, stream: MimiStream, codes: Tensor, phones: Tensor | None = None) -> Tensor:
        if phones is not None:
            heard.append((int(phones[0, 0, 0]), int(phones[0, 1, 0])))
        return decode(self, stream, codes, phones)

    with model.open(voice, seed=4) as session:
        session.rate = 3.0
        begin = session.frames.begin

        def note(phones: Tensor, said: tuple[int, int]) -> None:
            asked.append(said)
            begin(phones, said)

        monkeypatch.setattr(session.frames, "begin", note)
        monkeypatch.setattr(Mimi, "decode_frame", keep)
        for chunk in chunks:
            push(session, chunk, ended=False)
            drain(session)
        session.end_input()
        drain(session)
        monkeypatch.undo()
    return asked, heard


@pytest.mark.parametrize("chunks", [[WORDS], [[word] for word in WORDS]])
@pytest.mark.parametrize("graphs", [False, True])
def test_the_codec_is_told_each_frame_s_phones(
    voice: Voice, monkeypatch: pytest.MonkeyPatch, chunks: list[list[str]], graphs: bool
) -> None:
    asked, heard = told(small(graphs=graphs), voice, monkeypatch, chunks)
    assert heard == asked[: len(heard)]
    assert len(heard) > len(WORDS)


@torch.inference_mode()
def test_the_phones_are_those_of_the_text_in_order(
    synthesiser: VoxtreamSynthesiser, voice: Voice, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, heard = told(synthesiser, voice, monkeypatch, [WORDS])
    said, table = [phone for word in phoned(WORDS) for phone in word.phones], own_table()
    text = [number for phone in said for number in table.ids(phone)]
    left = iter([*text, SILENCE, EOS])
    phones = [
        phone for phone, _ in groupby(phone for frame in heard for phone in dict.fromkeys(frame))
    ]
    spoken = [phone for phone in phones if phone != NOTHING]
    assert all(phone in left for phone in spoken)  # some may be skipped, none is said twice
    assert len(set(spoken) & set(text)) > 0.5 * len(set(text))
