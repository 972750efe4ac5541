"""What only LLMVoX does: a session equals a slow loop, sentences start afresh, chunks grow."""

import json
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from engine.errors import ModelError
from engine.tts.base import Starved
from engine.tts.llmvox.model import LlmVoxGeneration, LlmVoxModel
from engine.tts.llmvox.synthesiser import LlmVoxSynthesiser, load
from engine.tts.llmvox.units import TextCursor
from engine.tts.packs import CONFIG_FILE
from engine.tts.papers.spectrum import Columns, from_nothing
from engine.tts.phones import MARKS, own_ids
from tests.engine.nn.stacks import at_once, kept, passed
from tests.engine.text.cases import phoned
from tests.engine.tts.llmvox.small_model import GENERATION, small, write_pack
from tests.engine.tts.utterances import Recorder, drain, push, say

FIRST = ["The", "old", "boat", "left", "at", "seven."]
SECOND = ["Did", "nobody", "see", "it?"]
WORD, TEXT_END, NOTHING = 256, 257, 258


def said(
    words: list[str],
    seed: int = 1,
    generation: LlmVoxGeneration = GENERATION,
) -> Tensor:
    """The columns [2 T, bands] of all tokens a session says."""
    ears = Recorder()
    say(small(generation, seed, ears), [words], seed=0)
    return torch.cat(ears.pieces)


def columns_of(
    synthesiser: LlmVoxSynthesiser, sentences: list[list[int]], generation: LlmVoxGeneration
) -> Tensor:
    """The columns of tokens, each sentence from the speaker's vector alone, on one row of dice."""
    spectrum, dice = synthesiser.parts.spectrum, torch.Generator().manual_seed(0)
    speaker = torch.from_numpy(synthesiser.voices()[0].tensors["speaker"])[None]
    every = []
    for tokens in sentences:
        start, dropout = from_nothing(spectrum, speaker), generation.spectrum_dropout
        columns = Columns(spectrum, start, dice, dropout=dropout)
        phones = [*(token // 2 for token in tokens), *[spectrum.shape.end] * 2]  # 2 tokens a phone
        every += [columns.next(token, phones[n : n + 3]) for n, token in enumerate(tokens)]
    return torch.cat(every)


def units_of(words: list[str]) -> list[int]:
    """The units of words, without the engine's reader."""
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
    generation: LlmVoxGeneration,
    dice: torch.Generator,
) -> list[int]:
    """The tokens; for each, everything is computed again from the whole sentence so far."""
    spoken: list[int] = []
    keep: list[Tensor] = []  # of every position
    repeats = 0
    while True:
        read = [*units, TEXT_END, *[NOTHING] * len(spoken)][: len(spoken) + 1]
        keep.append(kept(model.shape.prenet, generation.dropout, dice))
        logits = logits_of(model, read, spoken, keep, speaker)
        cursor = TextCursor(model.shape.spectrum)
        for unit, token in zip(read, [None, *spoken], strict=True):
            if token is not None:
                cursor.say(token)
            cursor.read(unit)
        logits = cursor.restrict(logits)
        if len(spoken) < len(units):
            logits = logits[:-1]
        if repeats >= generation.most_repeats:
            logits[spoken[-1]] = -torch.inf
        if generation.temperature:
            race = torch.empty(1, len(logits)).exponential_(generator=dice)[0]
            logits = (logits / generation.temperature).softmax(-1) / race
        token = int(logits.argmax())
        if token == model.no_token or len(spoken) == generation.longest_unit * len(units):
            return spoken
        repeats = repeats + 1 if spoken[-1:] == [token] else 0
        spoken.append(token)


def logits_of(
    model: LlmVoxModel, read: list[int], spoken: list[int], keep: list[Tensor], speaker: Tensor
) -> Tensor:
    """What follows all positions of a sentence so far."""
    weights = dict(model.named_parameters())
    rows = []
    for number, before, mask in zip(read, [None, *spoken], keep, strict=True):
        vector = weights["codebook.weight"][model.no_token if before is None else before]
        halves = (weights["unit.weight"][number], passed(weights, "token", vector, mask))
        rows.append(torch.cat(halves) + weights["speaker.weight"] @ speaker)
    return weights["leave.weight"] @ at_once(model.stack, torch.stack(rows)[None])[0, -1]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "generation", [GENERATION, replace(GENERATION, dropout=0.5, temperature=0.7)]
)
def test_a_session_says_what_the_slow_loop_says(seed, generation):
    synthesiser = small(seed=seed)
    speaker = torch.from_numpy(synthesiser.voices()[0].tensors["speaker"])
    dice = torch.Generator().manual_seed(0)
    with torch.inference_mode():
        model = synthesiser.parts.model
        slowly = [
            said_slowly(model, units_of(words), speaker, generation, dice)
            for words in (FIRST, SECOND)
        ]
        expected = columns_of(synthesiser, slowly, generation)
    assert torch.equal(said([*FIRST, *SECOND], seed, generation), expected)


def test_an_open_sentence_is_heard_but_for_two_tokens_and_no_later_word_changes_it():
    ears = Recorder()
    model = small(replace(GENERATION, first_chunk=1), vocoder=ears)
    known = len(units_of(["Seven", "boats"]))
    with model.open(model.voices()[0], seed=0) as session:
        push(session, ("Seven", "boats"), ended=False)
        drain(session)
        assert session.step() == Starved()
    assert len(torch.cat(ears.pieces)) == 2 * (known - 2)  # the last two wait for their next
    one, other = said(["Seven", "boats", "left."]), said(["Seven", "boats", "stay."])
    assert torch.equal(one[: 2 * (known - 2)], other[: 2 * (known - 2)])


def test_a_pack_whose_tokens_name_no_phones_is_refused(tmp_path):
    file = write_pack(tmp_path) / CONFIG_FILE
    config = json.loads(file.read_text("utf-8"))
    config["shape"]["spectrum"]["tokens"] += 1
    file.write_text(json.dumps(config), "utf-8")
    with pytest.raises(ModelError, match="phones"):
        load(tmp_path)
