"""A session against a slow loop that shares the stack alone with it: no cache, no queue, no pieces.
All words are there at once, and the whole sequence is computed again for every position.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.codec.mel import BANDS, LEVELS
from engine.tts.phones import MARKS, own_ids
from engine.tts.speakstream.model import SpeakStreamModel
from engine.tts.speakstream.synthesiser import FASTEST, LEAST, MOST, SLOWEST, Tempo, step_for
from tests.engine.nn.stacks import at_once, kept, passed
from tests.engine.text.cases import phoned
from tests.engine.tts import laws
from tests.engine.tts.speakstream.small_model import GENERATION, SHAPE, small

WORDS = ("The", "old", "boat", "left", "the", "harbour", "at", "seven,", "and", "nobody", "saw.")
WORD_MARK, SPEAKER, BEGIN, END = 120, 122, 123, 124


def hidden_of(model: SpeakStreamModel, rows: list[Tensor]) -> Tensor:
    return at_once(model.stack, torch.stack(rows)[None])[0, -1]


def texts_of(words: Iterable[str]) -> list[list[int]]:
    ids = own_ids()
    return [
        [ids[phone] for phone in word.phones] + [MARKS[mark] for mark in word.mark]
        for word in phoned(words)
    ]


def next_position(
    weights: dict[str, Tensor], hidden: Tensor, dice: torch.Generator
) -> tuple[list[Tensor], Tensor]:
    """The two columns [BANDS] that follow, and the row in which they are heard."""
    table = weights["level.weight"].view(BANDS, LEVELS + 1, -1)
    logits = (weights["leave.weight"] @ hidden).view(2, BANDS, LEVELS)
    mean = logits.softmax(-1) @ torch.arange(LEVELS).float()
    best = logits.argmax(-1)
    heard = torch.cat([table[torch.arange(BANDS), best[n]].flatten() for n in (0, 1)])
    row = passed(weights, "enter", heard, kept(SHAPE.prenet, 0.5, dice))
    return list(-6.0 + mean * 8 / (LEVELS - 1)), row


def spoken_slowly(
    model: SpeakStreamModel, speaker: Tensor, seed: int, longer: float
) -> tuple[Tensor, list[int]]:
    """Columns of the spectrum [T, BANDS], and the column at which every word begins."""
    dice = torch.Generator().manual_seed(seed)
    weights = dict(model.named_parameters())
    texts = texts_of(WORDS)
    who = weights["speaker.weight"] @ speaker
    rows: list[Tensor] = []
    columns: list[Tensor] = []
    begins: list[int] = []
    spoken = 0  # positions of the passage
    for number in range(len(texts)):
        over = number > 0 and texts[number - 1][-1] == MARKS["."] and spoken >= GENERATION.passage
        if number == 0 or over or spoken >= GENERATION.longest_passage:
            rows, spoken = [weights["text.weight"][SPEAKER] + who], 0
        else:
            rows.append(weights["text.weight"][END])
        for text in texts[number : number + GENERATION.window]:
            rows += [weights["text.weight"][each] for each in [*text, WORD_MARK]]
        rows.append(weights["text.weight"][BEGIN] + who)
        begins.append(len(columns))
        units = [each for each in texts[number] if each not in MARKS.values()]
        behind = texts[number + 1 : number + GENERATION.window]
        after = [*units[1:], *(text[0] for text in behind), END]
        for unit, later in zip(units, after, strict=False):
            going_on = 1.0
            for _ in range(GENERATION.longest_unit):
                rows[-1] = rows[-1] + weights["unit.weight"][unit] + weights["later.weight"][later]
                hidden = hidden_of(model, rows)
                pair, heard = next_position(weights, hidden, dice)
                columns += pair
                rows.append(heard)
                spoken += 1
                going_on *= 1 - float((weights["end.weight"][0] @ hidden).sigmoid())
                if going_on <= longer:
                    break
    return torch.stack(columns), begins


# Of other weights two levels can be so nearly as likely that the processor (AVX2 or more) decides.
@pytest.mark.parametrize(("seed", "longer"), [(1, 0.5), (2, 0.5), (5, 0.2)])
def test_a_session_says_what_the_slow_loop_says(seed, longer):
    synthesiser = small(replace(GENERATION, longer=longer), seed)
    parts = synthesiser.parts
    speaker = torch.from_numpy(synthesiser.voices()[0].tensors["speaker"])
    with torch.inference_mode():
        columns, begins = spoken_slowly(parts.model, speaker, 3, longer)
        # The vocoder has a test of its own; it is given the same pieces here.
        wave = parts.vocoder.open()
        pcm = torch.cat([wave.decode(pair) for pair in columns.split(2)]).clamp(-1, 1).numpy()
    utterance = laws.say(synthesiser, [[word] for word in WORDS], seed=3)
    assert [onset.sample for onset in utterance.onsets] == [480 * place for place in begins]
    assert np.allclose(utterance.pcm[: len(pcm)], pcm, atol=2e-3)
    assert len(utterance.pcm) - len(pcm) == 1_200  # in which the end dies away


# ------------------------------------------------------------------------ spectra at another tempo


COLUMNS = torch.randn(200, 3, generator=torch.Generator().manual_seed(1))


def pushed(step: float, sizes: int) -> torch.Tensor:
    tempo = Tempo()
    return torch.stack(
        [given for piece in COLUMNS.split(sizes) for given in tempo.push(piece, step)]
    )


@pytest.mark.parametrize("step", [0.5, 0.8, 1.0, 1.3, 1.8])
def test_as_many_columns_come_out_as_the_step_says_however_they_came(step):
    made = pushed(step, 2)
    assert len(made) == pytest.approx(len(COLUMNS) / step, abs=1.5)
    assert torch.equal(made, pushed(step, 7))
    assert step != 1.0 or torch.equal(made, COLUMNS)
    line = torch.cat([*Tempo().push(torch.arange(20.0)[:, None], step)])  # what lies between
    assert torch.allclose(line.diff()[2:], torch.tensor(step))


def test_a_rate_is_reached_by_what_was_measured_within_bounds():
    assert step_for(4.0, 4.0, None) == 1.0
    assert step_for(4.0, 4.0, 4.4) == pytest.approx(4.0 / 4.4)
    assert step_for(4.0, 4.0, 40.0) == LEAST
    assert step_for(4.0, 4.0, 0.4) == MOST
    assert step_for(40.0, 4.0, 4.0) == FASTEST
    assert step_for(0.4, 4.0, 4.0) == SLOWEST
