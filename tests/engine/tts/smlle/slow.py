"""SMLLE as one slow loop: nothing is kept between decisions or steps, the text is known from the
start, and alignment and mechanism are lists. It shares the weights with the product, and how an
utterance's dice are thrown.
"""

import torch
from torch import Tensor
from torch.nn import functional

from engine.tts.base import Voice
from engine.tts.smlle.config import MARKS
from engine.tts.smlle.session import ModelParts
from tests.engine.nn.stacks import at_once
from tests.engine.text.phoned import phoned


def units(parts: ModelParts, words: list[str]) -> tuple[Tensor, Tensor]:
    """Phones and marks of the whole text, [1, U]."""
    shape = parts.transducer.shape
    phones, marks = [shape.begin], [0]
    for word in phoned(words, parts.espeak):
        numbers = [number for phone in word.phones for number in parts.table.ids(phone)]
        phones += numbers
        marks += [0] * (len(numbers) - 1) + [MARKS[word.mark]] if numbers else []
    return torch.tensor([[*phones, shape.end]]), torch.tensor([[*marks, 0]])


def tokens(parts: ModelParts, words: list[str], seed: int) -> tuple[list[int], list[int]]:
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


def log_mel(parts: ModelParts, voice: Voice, words: list[str], seed: int) -> Tensor:
    """The whole spectrum [T, bands]."""
    net, generation, shape = parts.spectrum, parts.generation, parts.spectrum.shape
    said, phones = tokens(parts, words, seed)
    lead = next(place for place, phone in enumerate(phones) if phone != shape.begin)
    phones = phones[lead:] + [shape.end] * lead
    prompt_tokens = torch.from_numpy(voice.tensors["tokens"])
    heard = torch.cat((prompt_tokens, torch.tensor(said)))[None]
    aligned = torch.cat((torch.from_numpy(voice.tensors["phones"]), torch.tensor(phones)))[None]
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
        noise = torch.randn(1, shape.values, generator=dice)
        x = functional.pad(columns, (0, 0, 1, 0))
        for number, layer in enumerate(net.prenet):
            x = layer(x)
            x = x.relu() * kept[number] if number < 2 else x
        length = x.shape[1]
        rows = net.tokens(heard[:, :length]) + net.phones(aligned[:, :length]) + speaker + x
        hidden = at_once(net.stack, rows)[:, -1]
        mean, log_variance = (hidden @ net.latents.weight.T).split(shape.values, dim=-1)
        latent = mean + log_variance.clamp(-8, 4).mul(0.5).exp() * noise
        y = latent
        for number, layer in enumerate(net.mlp):
            y = layer(y).relu() if number < 2 else layer(y)
        columns = torch.cat((columns, (latent + y)[:, None]), dim=1)
    return columns[0, steps:].reshape(-1, shape.bands)
