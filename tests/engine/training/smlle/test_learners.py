"""Both learners on utterances made up of nothing: what they see is what a session sees, and they
learn.
"""

import random
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.codec.mel import BANDS
from engine.training.corpus.speakers import Sides, flat
from engine.training.evaluation.voices import spoken_rate
from engine.training.networks import padded
from engine.training.recipe import Schedule
from engine.training.run import Run, read_json
from engine.training.smlle import Spectrum, Transducer, spectrum, transducer
from engine.training.smlle.spectrum import SpectrumLearner, draw_tokens
from engine.training.smlle.tokens import TokenUtterance
from engine.training.smlle.transducer import Band, TransducerLearner, band, transducer_loss
from engine.training.utterances import read_sides
from engine.tts.papers.spectrum import Columns, from_nothing
from engine.tts.smlle.transducer import Decisions, SmlleGeneration, Unit
from tests.engine.tts.smlle.small import SHAPE, SPECTRUM, small_parts
from tests.help.fakes.tts import FakeTts

SCHEDULE = Schedule(steps=40, batch=2, learning_rate=1e-2)
PHONES = 6


def utterance(seed: int) -> TokenUtterance:
    """Six phones, three tokens each, between two tokens of silence; a phone has one token."""
    dice = np.random.default_rng(seed)
    phones = dice.integers(0, 20, PHONES)
    spoken_by = np.repeat(np.arange(PHONES + 2), [2, *[3] * PHONES, 2])
    tokens = np.concatenate(([0], phones % 10 + 1, [0]))[spoken_by]
    mel = np.repeat(tokens, 2)[:, None] * np.ones(BANDS) / 5
    vector = np.zeros(SPECTRUM.speaker_width, np.float32)
    marks = np.zeros(PHONES, np.int8)
    marks[-1] = 2
    return TokenUtterance(
        1,
        vector,
        tokens.astype(np.int16),
        mel.astype(np.float16),
        spoken_by.astype(np.int16),
        phones.astype(np.int16),
        marks,
    )


SIDES = Sides({1: tuple(map(utterance, range(4)))}, {1: (utterance(9),)})


@pytest.fixture(autouse=True)
def _known(monkeypatch) -> None:
    """The corpus is SIDES, and the networks have the shapes of small_parts()."""
    for module in (spectrum, transducer):
        monkeypatch.setattr(module, "read_sides", lambda run, kind: SIDES)
    monkeypatch.setattr(transducer, "smlle_shape", lambda run: SHAPE)
    monkeypatch.setattr(spectrum, "spectrum_shape_of", lambda run: SPECTRUM)
    monkeypatch.setattr(spectrum, "drawn_tokens", lambda run, people: drawn(flat(people)))


def transducer_learner() -> TransducerLearner:
    torch.manual_seed(1)
    recipe = Transducer(SCHEDULE, SHAPE.encoder, joint=32, dropout=0.0)
    return TransducerLearner(Run(SimpleNamespace(transducer=recipe), Path()))


def spectrum_learner(**changed: Any) -> SpectrumLearner:
    torch.manual_seed(1)
    recipe = Spectrum(**{"schedule": SCHEDULE, "prompt_seconds": 0.4} | changed)
    return SpectrumLearner(Run(SimpleNamespace(spectrum=recipe), Path()))


def test_a_lesson_has_the_logits_that_a_session_has():
    learner, said = transducer_learner(), utterance(2)
    model = learner._model
    units = said.all_phones(SHAPE.begin, SHAPE.end)
    places, marks = padded([said.spoken_by]), np.pad(said.marks, 1)
    within = band(places, torch.tensor([len(units)]), torch.tensor([said.steps]), reach=99)
    with torch.inference_mode():
        tokens = padded([said.tokens])
        whole = learner._logits(padded([units]), padded([marks]), tokens, within)[0]
        dice = torch.Generator().manual_seed(1)
        decisions = Decisions(model, SmlleGeneration(), dice)
        for place, unit in enumerate(map(Unit, units.tolist(), marks.tolist())):
            decisions.read(unit)
            speech, memory = decisions._predicted(SHAPE.tokens, None)
            for row, token in enumerate([*said.tokens.tolist(), 0]):
                one = model.logits(decisions._text, speech)[0]
                assert torch.allclose(one, whole[row, place], atol=1e-4)
                speech, memory = decisions._predicted(token, memory)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_transducer_learns(share):
    learner, dice = transducer_learner(), random.Random(1)
    for group in learner.optimisers["all"].param_groups:
        group["lr"] = 1e-2
    name = "lattice" if share else "path"
    losses = [learner.learn(share, dice)[name] for _ in range(30)]
    assert losses[-1] < 0.6 * losses[0]
    assert set(learner.validate()) == {"path", "lattice"}


def test_the_spectrum_learns():
    learner, dice = spectrum_learner(), random.Random(1)
    for group in learner.optimisers["all"].param_groups:
        group["lr"] = 5e-3
    losses = [learner.learn(1.0, dice)["regression"] for _ in range(40)]
    assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:5])
    assert learner.validate()["variance"] > 0


def test_a_prompt_and_the_utterance_keep_their_beginnings():
    learner = spectrum_learner(without_prompt=0.0)
    lesson, *_ = learner._lessons(SIDES.training, random.Random(1))
    assert lesson.phones[:2].tolist() == [SHAPE.begin] * 2
    start = lesson.prompt
    assert lesson.phones[start : start + 2].tolist() == [SHAPE.begin] * 2
    assert len(lesson.tokens) == len(lesson.phones) - SPECTRUM.ahead == len(lesson.mel)


def test_what_is_heard_is_corrupted_and_what_is_said_is_not():
    learner = spectrum_learner()
    lessons = learner._lessons(SIDES.training, random.Random(1))
    inputs, true, _ = learner._inputs(lessons)
    rough, same, _ = learner._inputs(lessons * 20, wrong=0.1)
    assert torch.equal(same, true.repeat(20, 1, 1))
    wrong = (rough.tokens != inputs.tokens.repeat(20, 1)).float().mean()
    assert 0.05 < float(wrong) < 0.13


def test_lessons_hear_what_a_session_would_say_and_true_prompts():
    learner = spectrum_learner(dropout=0.0, without_prompt=0.5)
    lessons = learner._lessons(SIDES.training, random.Random(1))
    prompts = torch.tensor([each.prompt for each in lessons])
    assert {each > 0 for each in prompts.tolist()} == {False, True}
    inputs, _, _ = learner._inputs(lessons)
    heard = learner._self_fed(inputs, prompts).before
    for row, lesson in enumerate(lessons):
        start = from_nothing(learner._model, torch.from_numpy(lesson.vector)[None])
        with torch.inference_mode():
            session = Columns(learner._model, start, torch.Generator(), dropout=0.0)
            for step, token in enumerate(lesson.tokens[:-1].tolist()):
                session.next(token, lesson.phones[step : step + 1 + SPECTRUM.ahead].tolist())
                if step < lesson.prompt:
                    session._last = inputs.before[row : row + 1, step + 1]
                assert torch.allclose(heard[row, step + 1], session._last[0], atol=1e-4)


@pytest.mark.parametrize("own", [0.0, 1.0])
def test_a_share_of_steps_hears_itself(own, monkeypatch):
    learner, calls = spectrum_learner(self_feeding=own), []
    monkeypatch.setattr(learner, "_self_fed", lambda inputs, _: calls.append(1) or inputs)
    for share in (0.0, 1.0):
        learner.learn(share, random.Random(1))
    assert len(calls) == own  # not before `self_feeding_from`


def test_a_pack_gives_the_rate_it_speaks_at_as_its_own():
    speaker = FakeTts()
    assert spoken_rate(speaker, ("banana", "a cat sat")) == pytest.approx(4.0, rel=0.05)
    assert speaker.spoken == ["banana", "a", "cat", "sat"]


# ------------------------------------------------------------------------ draws


def drawn(utterances: tuple[TokenUtterance, ...]) -> dict[int, Any]:
    torch.manual_seed(1)
    model = small_parts().transducer
    return {id(each): draw_tokens(model, 1.0, each) for each in utterances}


def test_a_draw_depends_on_the_true_past_and_on_no_later_token():
    spoken = utterance(2)
    changed = spoken.tokens.copy()
    changed[10:] += 1
    (one,) = drawn((spoken,)).values()
    (other,) = drawn((replace(spoken, tokens=changed),)).values()
    assert np.array_equal(one[:11], other[:11])
    assert len(one) == spoken.steps
    assert 0 <= one.min() <= one.max() < SHAPE.tokens


def test_lessons_have_drawn_tokens_where_the_recipe_asks_for_them():
    learner = spectrum_learner(drawn_tokens=1.0, without_prompt=1.0)
    true = [each.tokens.tolist() for each in flat(SIDES.training)]
    for share in (0.0, 1.0):
        lessons = learner._lessons(SIDES.training, random.Random(1), share)
        assert {each.tokens.tolist() in true for each in lessons} == {not share}


# ----------------------------------------------------------- all stages on a few seconds of speech


@pytest.fixture(scope="module")
def run(run_of) -> Run:
    return run_of("smlle")


@pytest.mark.long
def test_every_utterance_is_as_many_tokens_as_columns_and_alignments(run):
    everybody = flat(read_sides(run, TokenUtterance).training)
    assert everybody
    for each in everybody:
        assert len(each.mel) == 2 * each.steps == 2 * len(each.spoken_by)
        assert (np.diff(each.spoken_by) >= 0).all()
        assert each.spoken_by[0] == 0  # silence before speech
        assert each.spoken_by[-1] == len(each.phones) + 1  # and behind it
        assert len(each.marks) == len(each.phones)
        begin = max(read_json(run.stage("encode") / "phones.json").values()) + 1
        phones = each.aligned(begin, begin + 1)
        assert np.array_equal(each.tokens // run.recipe.shapes, phones)


# ------------------------------------------------------------------------------------- the lattice


SIZES = [(tokens, units) for tokens in range(5) for units in range(1, 5)]


def brute_force(blank: Tensor, emit: Tensor, within: Band, lesson: int) -> float:
    """`blank` and `emit` [B, T + 1, U] of all nodes: every non-falling list of units, one a token,
    is a path; those that leave the band do not count.
    """
    units, tokens = int(within.units[lesson]), int(within.tokens[lesson])
    paths = []
    for spoken_by in combinations_with_replacement(range(units), tokens):
        score, unit, inside = 0.0, 0, True
        for row, target in enumerate((*spoken_by, units)):
            low, high = int(within.first[lesson, row]), int(within.last[lesson, row])
            inside &= low <= unit and min(target, units - 1) <= high
            score += float(blank[lesson, row, unit:target].sum())
            unit = target
            if row < tokens:
                score += float(emit[lesson, row, target])
        if inside:
            paths.append(score)
    return -float(torch.tensor(paths, dtype=torch.float64).logsumexp(0))


def random_lattice(tokens: int, units: int) -> tuple[Tensor, Tensor]:
    """Log-probabilities [2, T + 1, U] of blanks and of the true tokens."""
    dice = torch.Generator().manual_seed(0)
    shape = (2, tokens + 1, units, 3)
    logits = 2 * torch.randn(shape, dtype=torch.float64, generator=dice)
    blank, emit, _ = logits.log_softmax(-1).unbind(-1)
    return blank, emit


def alignment(tokens: int, units: int) -> Tensor:
    """Two alignments [2, T]: even, and all tokens late."""
    even = torch.arange(tokens) * units // max(1, tokens)
    late = torch.full((tokens,), units - 1)
    return torch.stack((even, late))


def even_band(tokens: int, units: int, reach: int) -> Band:
    count = torch.full((2,), units), torch.full((2,), tokens)
    return band(alignment(tokens, units), *count, reach)


def loss_of(blank: Tensor, emit: Tensor, within: Band) -> Tensor:
    return transducer_loss(*(each.gather(2, within.nodes) for each in (blank, emit)), within)


@pytest.mark.parametrize("reach", [0, 1, 9])
@pytest.mark.parametrize(("tokens", "units"), SIZES)
def test_the_loss_is_the_sum_over_all_alignments(tokens, units, reach):
    blank, emit = random_lattice(tokens, units)
    within = even_band(tokens, units, reach)
    assert reach < 9 or [int(within.first.max()), int(within.last.min())] == [0, units - 1]
    for lesson, loss in enumerate(loss_of(blank, emit, within).tolist()):
        assert loss == pytest.approx(brute_force(blank, emit, within, lesson), abs=1e-9)


def test_a_lesson_among_longer_ones_has_the_loss_it_has_alone():
    blank, emit = random_lattice(4, 4)
    places = torch.tensor([[0, 1, 1, 3], [0, 1, 0, 0]])
    units, tokens = torch.tensor([4, 2]), torch.tensor([4, 2])
    both = loss_of(blank, emit, band(places, units, tokens, reach=1))
    alone = band(places[1:, :2], units[1:], tokens[1:], reach=1)
    lone = loss_of(blank[1:, :3, :2], emit[1:, :3, :2], alone)
    assert both[1].item() == pytest.approx(lone.item(), abs=1e-9)


@pytest.mark.parametrize("reach", [0, 1, 9])
def test_the_gradient_is_that_of_differences(reach):
    within, little = even_band(3, 4, reach), 1e-6
    at = torch.stack(random_lattice(3, 4)).requires_grad_()
    loss_of(*at, within).sum().backward()
    for way in torch.eye(at.numel(), dtype=at.dtype).view(-1, *at.shape):
        before, behind = (
            loss_of(*at.detach() + step * way, within).sum() for step in (-little, little)
        )
        slope = float(behind - before) / (2 * little)
        assert float((at.grad * way).sum()) == pytest.approx(slope, abs=1e-7)


def test_lattices_of_wild_numbers_have_gradients_that_are_numbers():
    dice = torch.Generator().manual_seed(3)
    logits = (30 * torch.randn(2, 81, 24, 2, generator=dice)).requires_grad_()
    blank, emit = logits.log_softmax(-1).unbind(-1)
    loss = loss_of(blank, emit, even_band(80, 24, reach=4))
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(logits.grad).all()
