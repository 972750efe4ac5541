"""Sentences as skills match them: kept ones, canonical ones, and quantities in words."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from engine.asr.phrase_model import PhraseModel
from engine.llm.base import AssistantState, Message, Role, Timer, Unanswered
from engine.llm.skills import sentences
from engine.llm.skills.clock.days import WEEKDAYS
from engine.llm.skills.matching import quantities
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.corpus import MAX_SENTENCES, beginning, expand
from engine.llm.skills.reading import WHILE_READING
from engine.text.unit_table import UNITS
from tests.engine.llm.cases import CASES


def test_sentences_are_plain_lower_case_words_and_not_too_many():
    assert all(re.fullmatch(r"[a-z']+(?: [a-z']+)*", sentence) for sentence in sentences())
    assert 1000 <= len(set(sentences())) == len(sentences()) <= MAX_SENTENCES


@pytest.mark.parametrize("anew", [beginning, pytest.param(expand, marks=pytest.mark.long)])
def test_the_kept_sentences_are_those_of_the_templates(anew):
    """Where this fails: python -m engine.llm.skills.matching.corpus"""
    made = anew()
    assert sentences()[: len(made)] == made
    assert len(made) == len(sentences()) or anew is beginning


def test_every_number_unit_and_weekday_is_said_and_what_a_person_says_first():
    words = {word for sentence in sentences() for word in sentence.split()}
    numbers = {w for n in range(101) for w in num2words(n).replace("-", " ").split()} - {"and"}
    units = {word for unit in UNITS for word in unit.plural.lower().split()}
    assert {*numbers, *units, *WEEKDAYS} <= words
    greetings = {"hello", "good morning", "good afternoon", "good evening", "slower"}
    assert greetings <= set(sentences())
    for first in ("convert ten miles to kilometres", "what can you do", "stop"):
        assert first in " | ".join(sentences())


def test_every_number_is_expected_before_an_operator():
    model = PhraseModel(sentences())
    for operator in ("times", "plus", "minus", "divided by", "percent of"):
        for number in range(100):
            words = f"what is {num2words(number)} {operator}".replace("-", " ").split()
            assert model.likely_start(words, unseen=0) == len(words)


def test_nearly_every_sentence_is_understood_by_the_skills(skills):
    labels = ("tea", "egg", "pizza", "pasta", "coffee", "laundry", "bread", "oven")
    timers = tuple(Timer(label, 60.0, number, seconds=90.0) for number, label in enumerate(labels))
    voices = ("Anna", "David", "Emma", "George", "Maria", "Thomas")
    here = AssistantState(rate=None, volume=0.5, voice="Anna", voices=voices, timers=timers)
    ringing = replace(here, timers=(replace(timers[0], rang=True, rings=True), *timers[1:]))
    sample = sentences()[::8]
    asked = Message(Role.ASSISTANT, "Delete this conversation for good?")

    def is_understood(sentence: str) -> bool:
        """Alone, as the answer to a question (a yes is nothing else), to a timer that rings, or
        while a document is read aloud.
        """
        said = Message(Role.USER, sentence)
        circumstances = (([said], here), ([asked, said], here), ([said], ringing))
        circumstances += (([said], WHILE_READING),)
        replies = (skills.reply(each, lambda now=now: now) for each, now in circumstances)
        return any(not any(isinstance(each, Unanswered) for each in reply) for reply in replies)

    misses = [sentence for sentence in sample if not is_understood(sentence)]
    assert len(misses) <= len(sample) * 0.03, misses


WORDS = (
    "what's time 3*4 10mi -40°C please two point five ½ stop, okay can you hey rubato a.m. 25th "
    "second % (1+2) don't now ten-minute ? ! thanks √9 twenty and a half ."
)
PARTS = st.sampled_from(WORDS.split())


@given(st.integers(0, 999_999))
def test_every_number_in_words_becomes_digits(number):
    assert canonical(num2words(number)) == str(number)


@given(st.lists(PARTS, max_size=8))
def test_canonical_text_is_its_own_canonical_form(parts):
    once = canonical(" ".join(parts))

    assert canonical(once) == once


@pytest.mark.parametrize(
    ("parse", "words", "value"),
    [
        *((quantities.parse_number, *row) for row in CASES["numbers"]),
        *((quantities.parse_duration, *row) for row in CASES["durations"]),
    ],
)
def test_a_number_or_duration_is_understood(parse, words, value):
    assert parse(words) == (None if value == "none" else value)


@given(st.integers(1, 10**6))
def test_a_duration_phrase_means_the_same_seconds(seconds):
    assert quantities.parse_duration(quantities.duration_phrase(seconds)) == seconds


@pytest.mark.parametrize(("value", "written"), CASES["figures"])
def test_a_figure_is_short_enough_to_be_heard(value, written):
    assert quantities.figure(value) == written


@given(st.floats(-1e14, 1e14))
def test_a_figure_is_close_to_its_value(value):
    shown = float(quantities.figure(value).replace(",", ""))
    assert math.isclose(shown, value, rel_tol=1e-3, abs_tol=1e-12)
