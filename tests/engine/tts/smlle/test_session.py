"""A session against one slow loop, and the limits that keep its decisions moving."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mel import BANDS
from engine.tts.base import Voice
from engine.tts.papers.spectrum import SpectrumShape
from engine.tts.smlle.synthesiser import SmlleParts
from engine.tts.smlle.transducer import MARKS, Decisions, SmlleGeneration, Unit
from tests.engine.nn.stacks import at_once
from tests.engine.text.cases import phoned
from tests.engine.tts.smlle.small import GENERATION, SHAPE, small_parts, small_voice, speaking
from tests.engine.tts.utterances import Recorder, say


def test_restored_is_what_was_normalised():
    net = small_parts().spectrum
    net.get_buffer("centre").fill_(-3.0)
    net.get_buffer("spread").fill_(2.0)
    mel = torch.randn(5, BANDS)
    assert torch.allclose(net.restored(net.normalised(mel)), mel, atol=1e-6)
    assert net.normalised(torch.full((1, BANDS), -1.0)).eq(1.0).all()


WORDS = ["We", "will", "meet,", "perhaps,", "at", "seven."]


@pytest.mark.parametrize("seed", [1, 5])
def test_the_session_makes_the_spectrum_of_the_slow_loop(seed):
    kept, voice = Recorder(), small_voice(3)
    unguarded = replace(GENERATION, most_unspoken=1000)  # the loop has no such limits
    parts = replace(small_parts(unguarded), vocoder=kept)
    say(speaking(parts, voice), [WORDS], seed=seed)
    expected = log_mel(parts, voice, WORDS, seed)
    assert len(expected) > 15
    assert torch.allclose(torch.cat(kept.pieces), expected, atol=1e-4)


# ------------------------------------------------------------------------------- the slow loop

# Nothing is kept between decisions or steps, the text is known from the start, alignment and
# mechanism are lists. It shares the weights with the product, and how dice are thrown.


def units(parts: SmlleParts, words: list[str]) -> tuple[Tensor, Tensor]:
    """Phones and marks of the whole text, [1, U]."""
    shape = parts.transducer.shape
    phones, marks = [shape.begin], [0]
    for word in phoned(words, parts.espeak):
        numbers = [number for phone in word.phones for number in parts.table.ids(phone)]
        phones += numbers
        marks += [0] * (len(numbers) - 1) + [MARKS[word.mark]] if numbers else []
    return torch.tensor([[*phones, shape.end]]), torch.tensor([[*marks, 0]])


def tokens(parts: SmlleParts, words: list[str], seed: int) -> tuple[list[int], list[int]]:
    """All tokens, and the phone at which each was predicted."""
    net, generation = parts.transducer, parts.generation
    dice = torch.Generator().manual_seed(seed)
    phones, marks = units(parts, words)
    place, said, saying = 0, [], []
    going_on, length = 1.0, float(torch.rand(1, generator=dice))
    while place < phones.shape[1]:
        seen = slice(0, place + 1)
        text = at_once(net.encoder, net.phones(phones[:, seen]) + net.marks(marks[:, seen]))
        history = torch.tensor([[net.shape.tokens, *said]])
        speech, _ = net.predictor(net.tokens(history))
        labels = torch.tanh(net.text(text[:, -1]) + net.speech(speech[:, -1]))
        logits = (labels @ net.labels.weight.T + net.bias)[0]
        going_on *= 1 - float(logits.softmax(0)[-1])
        if going_on < length:
            place += 1
            if place < phones.shape[1]:
                going_on, length = 1.0, float(torch.rand(1, generator=dice))
            continue
        best, ranks = logits[:-1].softmax(0).topk(min(generation.top_tokens, len(logits) - 1))
        race = torch.empty(1, len(best)).exponential_(1.0, generator=dice)[0]
        said.append(int(ranks[(best / race).argmax()]))
        saying.append(int(phones[0, place]))
    return said, saying


def later_phones(prompt: list[int], phones: list[int], shape: SpectrumShape) -> list[Tensor]:
    """Of each step itself, of the one after it, and of the next [1, T]."""
    padded = [*prompt, *[shape.begin] * 2], [*phones, *[shape.end] * 2]
    return [
        torch.tensor([[*padded[0][n:][: len(prompt)], *padded[1][n:][: len(phones)]]])
        for n in range(3)
    ]


def log_mel(parts: SmlleParts, voice: Voice, words: list[str], seed: int) -> Tensor:
    """The whole spectrum [T, bands]."""
    net, generation, shape = parts.spectrum, parts.generation, parts.spectrum.shape
    said, phones = tokens(parts, words, seed)
    prompt_tokens = torch.from_numpy(voice.tensors["tokens"])
    heard = torch.cat((prompt_tokens, torch.tensor(said)))[None]
    aligned = later_phones(voice.tensors["phones"].tolist(), phones, shape)
    steps = len(prompt_tokens)
    columns = torch.from_numpy(voice.tensors["mel"]).view(1, steps, shape.values)
    speaker = net.speaker(torch.from_numpy(voice.tensors["speaker"]))
    drop = 1 - generation.dropout
    kept = torch.full((2, 1, steps, shape.prenet), drop)
    kept = torch.bernoulli(kept, generator=torch.Generator().manual_seed(0)) / drop
    dice = torch.Generator().manual_seed(seed + (1 << 32))
    for _ in said:
        fresh = torch.bernoulli(torch.full((2, 1, 1, shape.prenet), drop), generator=dice) / drop
        kept = torch.cat((kept, fresh), dim=2)
        x = functional.pad(columns, (0, 0, 1, 0))
        for number, layer in enumerate(net.prenet):
            x = layer(x)
            x = x.relu() * kept[number] if number < 2 else x
        length = x.shape[1]
        rows = net.tokens(heard[:, :length]) + speaker + x
        for table, known in zip((net.phones, *net.ahead), aligned, strict=True):
            rows = rows + table(known[:, :length])
        hidden = at_once(net.stack, rows)[:, -1]
        mean = (hidden @ net.latents.weight.T)[..., : shape.values]
        y = mean
        for number, layer in enumerate(net.mlp):
            y = layer(y).relu() if number < 2 else layer(y)
        columns = torch.cat((columns, (mean + y)[:, None]), dim=1)
    return columns[0, steps:].reshape(-1, shape.bands)


# --------------------------------------------------------------------------------------- decisions


PARTS = cache(small_parts)
UNITS = [Unit(SHAPE.begin), *(Unit(phone) for phone in (3, 14, 15, 9, 2, 6)), Unit(SHAPE.end)]


def decided(
    units: list[Unit], *, bias: float = 0.0, generation: SmlleGeneration = GENERATION, seed: int = 1
) -> list[list[int]]:
    parts = PARTS()
    dice = torch.Generator().manual_seed(seed)
    decisions = Decisions(parts.transducer, generation, dice)
    spoken = []
    with torch.inference_mode():
        for unit in units:
            decisions.read(unit)
            spoken.append([])
            while (token := decisions.decide(bias)) is not None:
                spoken[-1].append(token)
    return spoken


def test_a_phone_that_never_waits_is_left_and_one_that_only_waits_must_speak():
    """The first unit after four silent ones, and then every fifth."""
    limited = replace(GENERATION, most_tokens=7)
    assert [len(tokens) for tokens in decided(UNITS, bias=-50, generation=limited)] == [7] * 8
    spoken = decided(UNITS * 2, bias=50)
    assert [place for place, tokens in enumerate(spoken) if tokens] == [4, 9, 14]


def test_a_temperature_of_the_tokens_leaves_the_lengths_of_the_phones_as_they_are():
    """Among labels of which most are tokens, a low one would prefer the single blank."""
    lengths = {}
    for temperature in (1.0, 0.05):
        cool = replace(GENERATION, temperature=temperature)
        said = [decided(UNITS, generation=cool, seed=seed) for seed in range(12)]
        lengths[temperature] = sum(len(tokens) for each in said for tokens in each)
    assert lengths[0.05] == pytest.approx(lengths[1.0], rel=0.25)
