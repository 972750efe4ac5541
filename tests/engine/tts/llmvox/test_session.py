"""What only LLMVoX does: a session equals a slow loop, sentences start afresh, chunks grow."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from engine.tts.base import Starved
from engine.tts.llmvox.config import ENTRY, Generation, Units
from engine.tts.llmvox.model import LlmVoxModel
from engine.tts.phones import MARKS, own_ids
from tests.engine.nn.stacks import at_once, kept, passed
from tests.engine.text.cases import phoned
from tests.engine.tts.llmvox.small_model import GENERATION, small
from tests.engine.tts.utterances import Recorder, drain, push, say

FIRST = ["The", "old", "boat", "left", "at", "seven."]
SECOND = ["Did", "nobody", "see", "it?"]
WORD, TEXT_END, NOTHING = 256, 257, 258


def said(
    words: list[str],
    units: Units = Units.PHONES,
    seed: int = 1,
    generation: Generation = GENERATION,
) -> Tensor:
    """The vectors [T, ENTRY] of all tokens a session says."""
    ears = Recorder()
    model = small(generation, units, seed, ears)
    say(model, [words], seed=0)
    columns = torch.cat(ears.pieces)
    who = torch.from_numpy(model.voices()[0].tensors["speaker"])
    assert torch.equal(columns[:, ENTRY:], who.expand(len(columns), -1))
    return columns[:, :ENTRY]


def units_of(words: list[str], units: Units) -> list[int]:
    """The units of words, without the engine's reader."""
    if units is Units.BYTES:
        return [number for word in words for number in (*word.encode(), WORD)]
    ids = own_ids()
    return [
        number
        for word in phoned(words)
        for number in (*(ids[p] for p in word.phones), *(MARKS[m] for m in word.mark), WORD)
    ]


def said_slowly(
    model: LlmVoxModel,
    units: list[int],
    speaker: Tensor,
    generation: Generation,
    dice: torch.Generator,
) -> Tensor:
    """The same tokens; for each, everything is computed again from the whole sentence so far."""
    book = model.codebook.weight
    spoken: list[int] = []
    keep: list[Tensor] = []  # of every position
    repeats = 0
    while True:
        read = [*units, TEXT_END, *[NOTHING] * len(spoken)][: len(spoken) + 1]
        keep.append(kept(model.shape.prenet, generation.dropout, dice))
        logits = logits_of(model, read, spoken, keep, speaker)
        if len(spoken) < len(units):
            logits = logits[:-1]
        if repeats >= generation.most_repeats:
            logits[spoken[-1]] = -torch.inf
        if generation.temperature:
            race = torch.empty(1, len(logits)).exponential_(generator=dice)[0]
            logits = (logits / generation.temperature).softmax(-1) / race
        token = int(logits.argmax())
        if token == model.no_token or len(spoken) == generation.longest_unit * len(units):
            return book[spoken]
        repeats = repeats + 1 if spoken[-1:] == [token] else 0
        spoken.append(token)


def logits_of(
    model: LlmVoxModel, read: list[int], spoken: list[int], keep: list[Tensor], speaker: Tensor
) -> Tensor:
    """What follows all positions of a sentence so far."""
    weights = dict(model.named_parameters())
    rows = []
    for number, before, mask in zip(read, [None, *spoken], keep, strict=True):
        vector = torch.zeros(ENTRY) if before is None else weights["codebook.weight"][before]
        halves = (weights["unit.weight"][number], passed(weights, "token", vector, mask))
        rows.append(torch.cat(halves) + weights["speaker.weight"] @ speaker)
    return weights["leave.weight"] @ at_once(model.stack, torch.stack(rows)[None])[0, -1]


@pytest.mark.parametrize("units", Units)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "generation", [GENERATION, replace(GENERATION, dropout=0.5, temperature=0.7)]
)
def test_a_session_says_what_the_slow_loop_says(units, seed, generation):
    synthesiser = small(units=units, seed=seed)
    speaker = torch.from_numpy(synthesiser.voices()[0].tensors["speaker"])
    dice = torch.Generator().manual_seed(0)
    with torch.inference_mode():
        model = synthesiser.parts.model
        slowly = [
            said_slowly(model, units_of(words, units), speaker, generation, dice)
            for words in (FIRST, SECOND)
        ]
    assert torch.equal(said([*FIRST, *SECOND], units, seed, generation), torch.cat(slowly))


def test_an_open_sentence_has_a_token_for_every_unit_which_none_behind_it_changes():
    ears = Recorder()
    model = small(replace(GENERATION, first_chunk=1), vocoder=ears)
    known = len(units_of(["Seven", "boats"], Units.PHONES))
    with model.open(model.voices()[0], seed=0) as session:
        push(session, ("Seven", "boats"), ended=False)
        drain(session)
        assert session.step() == Starved()
    assert len(torch.cat(ears.pieces)) == known
    one, other = said(["Seven", "boats", "left."]), said(["Seven", "boats", "stay."])
    assert torch.equal(one[:known], other[:known])
