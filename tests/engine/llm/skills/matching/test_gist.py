"""Requests about the program are told from other talk."""

import hashlib

import numpy as np
import pytest
from safetensors import safe_open

from engine.llm.skills.matching import gist_training
from engine.llm.skills.matching.gist import (
    LIKELY,
    NOTHING,
    SURE,
    WEIGHTS,
    Classifier,
    classifier,
    meanings,
    tokens,
)
from engine.llm.skills.matching.repertoire import repertoire
from engine.resources import resource, table
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.test_first_hour import conversation

SHA256 = "ff48d31e3489a4f5223d197e8f5d9ef886136a34d13317965ec334103d201939"
VOICES = ("Emma", "George", "Clara Deep")


def test_the_weights_are_made_from_these_texts():
    """Where this fails: python -m engine.llm.skills.matching.gist_training"""
    assert hashlib.sha256(resource(*WEIGHTS).read_bytes()).hexdigest() == SHA256
    with safe_open(resource(*WEIGHTS), "np") as file:
        assert file.metadata()["trace"] == gist_training.trace()


def test_every_intent_of_the_classifier_can_be_answered_and_asked_about():
    intents = set(classifier().intents) - {NOTHING}
    assert intents <= {intent.name for intent in repertoire().intents}
    assert intents | {"languages"} == table("skills", "clarification.toml").keys()


@pytest.mark.parametrize(("said", "intent", "slots"), CASES["requests_with_values"])
def test_a_request_has_its_values(said, intent, slots):
    first = next(meanings(said, VOICES))
    assert (first.intent, first.slots) == (intent, slots)
    assert first.probability >= SURE


def test_every_intent_can_be_asked_about_with_the_values_that_it_gets(monkeypatch):
    """Whatever the sentence: an intent whose values are missing is left out."""
    learnt = classifier()
    for at, intent in enumerate(learnt.intents):
        shares = np.zeros(len(learnt.intents), np.float32)
        shares[at] = LIKELY
        monkeypatch.setattr(Classifier, "probabilities", lambda _self, _words, p=shares: p)
        for said in ("well now", "use emma as the british voice at 5 about the tray icon"):
            asked = conversation(said)[1]
            assert asked != [""], intent


OTHER_TALK = [
    *("", "!", "my neighbour talks far too fast", "hand over the salt please"),
    *("i met george at the bakery", "the voice of the people " * 9),
]


@pytest.mark.parametrize("said", [*OTHER_TALK, *CASES["refusals_and_remarks"]])
def test_other_talk_a_refusal_and_a_remark_about_how_things_are_have_no_meaning(said):
    assert list(meanings(said, VOICES)) == []


@pytest.mark.parametrize(("said", "intent"), CASES["negated_requests"])
def test_a_negation_or_question_may_be_a_request(said, intent):
    assert next(meanings(said, VOICES)).intent == intent


def test_numbers_and_names_are_one_word_each():
    assert tokens("Swap to Emma's voice, u know, at twenty-five!", {"emma"}) == [
        "swap", "to", "@", "voice", "you", "know", "at", "#"
    ]  # fmt: skip


def test_little_data_is_learnt_in_few_steps():
    said = [("turn it up", "louder"), ("turn it down", "quieter"), ("turn left", "none")] * 9
    texts = [gist_training.Example(tokens(text), intent, 1.0) for text, intent in said]
    tensors, words = gist_training.learn(texts)
    assert words["intents"].split("\n") == ["louder", "none", "quieter"]
    assert np.abs(tensors["weights"]).max() == 11
    assert list(tensors["rows"]) == sorted(tensors["rows"])
