"""Frames of every symbol: a sentence has its rate to a frame, and edges stay."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.durations import (
    ELASTICITY,
    LONGEST_PAUSE,
    PAUSING_BELOW,
    PER_SECOND,
    SHORTEST_LEAD,
    KokoroScript,
    Pace,
    fit_durations,
    lateness,
    make_script,
    pause_needed,
    pauses_after,
    silent_frames,
)
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE
from engine.tts.kokoro.plan import Plan, Speaker, make_plan
from engine.tts.kokoro.statistics import sentences_in
from engine.tts.kokoro.symbols import LONGEST, MOST, ids, next_words, parts_of, symbols
from tests.engine.text.test_other_languages import SENTENCES as SENTENCES_ELSEWHERE
from tests.engine.tts.kokoro.small import (
    OWN_RATE,
    phoned,
    plan_request,
    planned,
    sentences,
    small_parts,
    small_style,
)

NONE = np.zeros(0, np.int64)
AROUND = 1.5  # frames that sound around a sentence's symbols
SYLLABLES = ["tˈæ", "bə", "stˈɪk", "lˈA", "ɪn", "dˈɔɹ"]
WORDS = st.builds(
    lambda syllables, mark: PhonedWord(tuple("".join(syllables)), mark),
    st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=3),
    st.sampled_from(["", "", "", ","]),
)
SENTENCES = st.lists(WORDS, min_size=5, max_size=25)
RATES = st.floats(1.0, 7.0)


def script_of(words: list[PhonedWord], rate: float | None) -> KokoroScript:
    pauses = pauses_after(words, [pause_needed(rate)] * len(words), ())
    return make_script(words, pauses, closed=True, accent="en-us")


def natural_of(script: KokoroScript, seed: int) -> np.ndarray:
    """Frames such as Kokoro gives: some for a sound, more for a mark, many at the edges."""
    sounds = np.random.default_rng(seed).uniform(1.2, 3.5, 1000)
    marks = [5.0 * (symbol in ",.?!") for symbol in script.text]
    each = [sounds[ord(symbol)] + mark for symbol, mark in zip(script.text, marks, strict=True)]
    return np.array([9.0, *each, 11.0])


def pace_of(words: list[PhonedWord], rate: float | None, seed: int) -> Pace:
    """The voice's own pace is that of its frames."""
    script = script_of(words, None)
    own = script.nuclei.sum() * PER_SECOND / natural_of(script, seed)[1:-2].sum()
    return Pace(rate, (1.0,) * len(words), float(own))


def too_late(words: list[PhonedWord], rate: float, seed: int) -> float:
    """Frames by which a sentence is longer than its syllables over the rate."""
    script = script_of(words, rate)
    pace = pace_of(words, rate, seed)
    frames = fit_durations(script, natural_of(script, seed), NONE, pace, closed=True)
    assert frames.min() >= 1
    return lateness(script, frames, 0, len(script.text) - 1, pace) + AROUND


@settings(max_examples=40)
@given(SENTENCES, st.floats(PAUSING_BELOW, 6.0), st.integers(0, 9))
def test_a_sentence_lasts_as_its_rate_says(words, rate, seed):
    assert abs(too_late(words, rate, seed)) <= 1


@settings(max_examples=40)
@given(SENTENCES, st.floats(1.5, PAUSING_BELOW), st.integers(0, 9))
def test_it_does_so_with_pauses(words, rate, seed):
    """With a last word like the first one, which is taken for it before it is known."""
    assert abs(too_late([*words, replace(words[0], mark="")], rate, seed)) <= 1.5


@settings(max_examples=40)
@given(SENTENCES, RATES, RATES, st.sampled_from([5.0, 9.0, 21.0]))
def test_edges_keep_at_every_rate(words, one, other, lead):
    """The lead is as long as the voice makes it (9 frames in Spanish and Portuguese: in a longer
    one the voice says a phantom vowel), but not shorter than the shortest.
    """
    for rate in (one, other, None):
        script = script_of(words, rate)
        natural = natural_of(script, 1)
        natural[0], natural[-1] = lead, 11.0
        frames = fit_durations(script, natural, NONE, pace_of(words, rate, 1), closed=True)
        assert frames[0] == (SHORTEST_LEAD if lead == 5 else lead)
        assert abs(frames[-1] - 11) <= 1


@pytest.mark.parametrize("rate", [2.0, 4.0, 6.0])
@pytest.mark.parametrize("slowed", [1.0, 0.5])
def test_a_slow_word_takes_its_time_from_no_other(rate, slowed):
    """A pace of one half makes a word twice as long; the others keep their rate."""
    words = [PhonedWord(tuple("kˈæt"))] * 12
    script = script_of(words, None)
    pace = Pace(rate, (1.0,) * 6 + (slowed,) * 6, pace_of(words, rate, 2).own)
    frames = fit_durations(script, natural_of(script, 2), NONE, pace, closed=True)
    first, second = (
        frames[1 + script.firsts[begin] : 1 + script.firsts[end]].sum()
        for begin, end in ((0, 5), (6, 11))
    )
    assert first / second == pytest.approx(slowed, rel=0.25)


# ------------------------------------------------------------------------------------- whole plans


SAID = phoned("Of the many people who asked, only one was right: it is late.")
SECONDS = FRAME / SAMPLE_RATE


@pytest.mark.parametrize("rate", [3.0, 3.6, 4.2])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_sentence_planned_bit_by_bit_has_its_rate(rate, share):
    """To a frame or so, however much of each plan was rendered before the next."""
    plan = planned(plan_request(SAID[:2], rate, closed=False))
    done = plan.first
    for known in (4, 7, 10, len(SAID)):
        done += int(share * (plan.limit - done))
        plan = planned(plan_request(SAID[:known], rate, closed=known == len(SAID)), plan, done)
    syllables = sum(word.syllables for word in SAID)
    spoken = plan.edges[-2] - plan.edges[0]  # to the last mark
    assert -3 <= spoken - syllables / rate / SECONDS <= 3


@settings(max_examples=20)
@given(SENTENCES, st.floats(PAUSING_BELOW, 6.0), st.floats(-6.0, 0.0))
def test_only_a_sentence_behind_another_saves_for_the_silence_behind_it(words, rate, late):
    """It saves what it is early, two frames at most; the first one makes up for all of it."""
    script = script_of(words, rate)
    pace = replace(pace_of(words, rate, 3), late=late)
    for follows, saved in ((False, 0.0), (True, min(2.0, -late))):
        of_kind = replace(pace, follows=follows)
        frames = fit_durations(script, natural_of(script, 3), NONE, of_kind, closed=True)
        over = late + lateness(script, frames, 0, len(script.text) - 1, of_kind) + AROUND
        assert abs(over + saved) <= 1


def test_the_lead_of_a_sentence_behind_another_is_shorter():
    """Its first frame is inaudible. At the voice's own rate nothing is cut."""
    words = plan_request(SAID, 6.0)
    speaker = Speaker(small_style(), accent="en-us", own_rate=OWN_RATE)
    alone, behind = (make_plan(small_parts(), speaker, words, None, 0, x) for x in (None, 0.0))
    assert behind.lead < alone.lead
    own = replace(words, rate=None)
    assert make_plan(small_parts(), speaker, own, None, 0, 0.0).lead == alone.lead


def test_lateness_is_made_up_for_by_the_next_sentence_at_once():
    speaker = Speaker(small_style(), accent="en-us", own_rate=OWN_RATE)
    begun = plan_request(SAID[:3], 4.0, closed=False)
    late, not_late = (
        make_plan(small_parts(), speaker, begun, None, 0, x).edges[-1] for x in (10.0, 0.0)
    )
    syllables = sum(word.syllables for word in SAID[:3])
    assert not_late - late >= min(1.0, syllables / 5) * 10.0 - 1


def test_only_silence_is_behind_the_limit_and_a_last_word_waits_for_what_follows():
    whole, begun = (
        planned(plan_request(SAID, 4.0)),
        planned(plan_request(SAID[:4], 4.0, closed=False)),
    )
    assert whole.edges[-2] <= whole.limit < whole.edges[-2] + 8
    assert begun.first < begun.limit < begun.onsets[-1]


def test_silences_are_between_the_words_and_as_long_as_their_pauses():
    plan = planned(plan_request(SAID, 1.5))
    assert len(plan.silences) >= 3
    starts = plan.edges[np.array(plan.script.ends, np.int64)]
    for frame in plan.silences:
        word = int(np.searchsorted(plan.onsets, frame)) - 1
        assert starts[word] <= frame <= plan.onsets[word + 1]
    syllables = sum(word.syllables for word in SAID)
    total = plan.edges[-2] - plan.edges[0] + sum(plan.silences.values())
    assert total * SECONDS == pytest.approx(syllables / 1.5, rel=0.05)


def test_a_word_behind_a_silence_is_reported_where_its_energy_begins():
    plan = planned(plan_request(SAID, 1.5))
    behind = [n for n, _ in enumerate(SAID) if not n or plan.pauses[n - 1]]
    assert 3 < len(behind) < len(SAID)
    others = np.setdiff1d(np.arange(len(SAID)), behind)
    energy = np.full_like(plan.energy, -5)
    for word in behind:
        begin = 2 * (int(plan.onsets[word]) + 3)
        energy[begin : begin + 20] = 5
    reported = replace(plan, energy=energy).heard_onsets
    assert list(reported[behind]) == list(plan.onsets[behind] + 3)
    assert np.all(np.abs(reported[others] - plan.onsets[others]) <= 1)
    silent = replace(plan, energy=np.full_like(plan.energy, -5)).heard_onsets
    assert list(silent[behind]) == list(plan.onsets[behind])


# ----------------------------------------------------------------------------------------- silence


LONGEST_SILENCE = 0.875  # seconds, inside a sentence; 0.32 are left for Kokoro's own
LAST_SOUND = 4  # frames
LONG_WORDS = (
    *SAID,
    *phoned(
        "antidisestablishmentarianism internationalization electroencephalography "
        "unfortunately, a — , no"
    ),
)


def longest_silence(plan: Plan) -> float:
    """Seconds between the sounds of two words that follow each other. Of the sound before a mark
    only LAST_SOUND frames are audible.
    """
    text, silent = plan.script.text, silent_frames(plan.script)
    lengths = plan.frames[1:-1] + silent
    longest = run = 0
    for place, (symbol, frames) in enumerate(zip(text, lengths, strict=True)):
        sound = symbol not in ",.?! "
        longest = max(longest, run * sound)
        if not sound:
            run += frames
        else:
            before_mark = text[place + 1 : place + 2] in tuple(",.?!")
            run = max(0, frames - LAST_SOUND) if before_mark else 0
    return longest * SECONDS


@settings(max_examples=60)
@example([LONG_WORDS[-1]] * 3, [1.0], [0.0] * 5)
@example([*phoned("electroencephalography was")] * 2, [1.0, 7.0], [1.0] * 5)
@given(
    st.lists(st.sampled_from(LONG_WORDS), min_size=3, max_size=9),
    st.lists(st.floats(1.0, 7.0), min_size=1, max_size=5),
    st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5),
)
def test_no_silence_inside_a_sentence_is_long(words, rates, shares):
    """At any rate and any move, however much was rendered before it."""
    words = tuple(PhonedWord(word.phones, word.mark.replace(".", ",")) for word in words)
    words = (*words, *phoned("end."))
    if not words[0].phones:
        words = (*phoned("So"), *words)
    plan, done = None, 0
    for number in range(2, len(words) + 1):
        rate = rates[number % len(rates)]
        plan = planned(plan_request(words[:number], rate, closed=number == len(words)), plan, done)
        done = max(done, plan.first)
        done += int(shares[number % len(shares)] * (plan.limit - done))
        assert longest_silence(plan) <= LONGEST_SILENCE


def test_what_was_said_at_another_rate_is_not_made_up_for():
    """A move from 7 to 1 SPS in the middle of a long word."""
    words = (*phoned("antidisestablishmentarianism"), *phoned("was the word."))
    quick = planned(plan_request(words[:2], 7.0, closed=False))
    slow = planned(plan_request(words, 1.0), quick, quick.limit - 2)
    assert slow.pauses[0] < 0.7
    assert max(slow.pauses) <= LONGEST_PAUSE


def test_a_slow_sentence_with_a_long_word_gives_the_rest_to_its_sounds():
    words = phoned("Unfortunately, we are closed.")
    plan = planned(plan_request(words, 1.0))
    assert max(plan.pauses) <= LONGEST_PAUSE
    total = plan.edges[-2] - plan.edges[0] + sum(plan.silences.values())
    assert total * SECONDS > 0.75 * sum(word.syllables for word in words)


# ----------------------------------------------------------------------------- where sentences end


Planned = list[tuple[tuple[PhonedWord, ...], bool]]


def plans(words: Sequence[PhonedWord]) -> Planned:
    """Every plan as a session asks for them."""
    made: Planned = []
    first = planned = 0
    while more := next_words(words[first:], planned, all_known=True):
        made.append(more)
        first, planned = (first + len(more[0]), 0) if more[1] else (first, len(more[0]))
    return made


def closed(made: Planned) -> list[tuple[PhonedWord, ...]]:
    return [words for words, whole in made if whole]


def length(words: Sequence[PhonedWord]) -> int:
    return sum(1 + sum(map(len, word.phones)) for word in words)


def test_a_long_sentence_ends_at_a_late_comma_or_where_the_graph_takes_no_more():
    word = PhonedWord(tuple("kæts"))  # five symbols with the gap
    long = [word] * 200
    (first, *_) = closed(plans(long))
    assert LONGEST < length(first) < length(first) + len(first) <= MOST
    assert first[-1].mark == ","
    with_comma = [word] * 60 + [PhonedWord(word.phones, ",")] + long
    assert len(closed(plans(with_comma))[0]) == 61
    early = [word] * 20 + [PhonedWord(word.phones, ",")] + long
    assert len(closed(plans(early))[0]) == len(first)


def divided(text: str) -> str:
    """The text with a bar in each place where it is divided."""
    words = text.split()
    known = phoned(text)
    first = planned_words = 0
    parts = []
    while more := next_words(known[first:], planned_words, all_known=True, texts=words[first:]):
        planned_words = 0 if more[1] else len(more[0])
        if more[1]:
            parts.append(" ".join(words[first : first + len(more[0])]))
            assert more[0][-1].mark in (",", ""), "a fall"
            first += len(more[0])
    return " | ".join(parts)


FIELD = "the old man walked slowly down the long road to the house {} the frozen field was white "


def test_a_long_text_without_marks_is_divided_before_a_word_that_joins():
    text = divided(FIELD.format("that stood behind the hill and") * 6)
    assert "|" in text
    assert all(part.split()[0] in ("and", "that", "to") for part in text.split(" | ")[1:])


@pytest.mark.parametrize(
    "text",
    [
        "somebody will certainly let you go | without a key",
        "a heap of glimmer and mist | in that little room",
        "nothing was larger than a small clock | when they came back",
        "dogs tired of the long way | and they slept",
        "bright and somewhat different weather | since he left",
        "reaching over the bars of one | and then falling",
    ],
)
def test_no_phrase_is_divided(text):
    texts = [*["cats"] * 60, *text.replace("| ", "").split(), *["cats"] * 60]
    known, planned_words = [PhonedWord(tuple("kæts"))] * len(texts), 0
    while more := next_words(known, planned_words, all_known=False, texts=texts):
        planned_words = len(more[0])
        if more[1]:
            break
    assert planned_words == 60 + len(text.partition(" |")[0].split())


def test_whether_a_long_text_is_divided_waits_for_the_next_two_words():
    word = PhonedWord(tuple("kæts"))
    known, texts = [word] * 60, ["cats"] * 60
    for text in ("and", "they"):
        assert next_words(known, 57, all_known=False, texts=texts) is None
        known, texts = [*known, word], [*texts, text]
    more = next_words(known, 57, all_known=False, texts=texts)
    assert more is not None
    assert (len(more[0]), more[1]) == (60, True)


@pytest.mark.parametrize("letters", ["x" * 190, "w" * 60, "7" * 90])
def test_no_sentence_has_more_symbols_than_the_graph_takes(letters):
    """Nor if each word gets a pause."""
    for text in (f"{letters} " * 3, "a " * 400, f"So it is {letters}, they said."):
        known = [part for word in phoned(text) for part in parts_of(word)]
        for words in closed(plans(known)):
            for accent in ("en-us", "en-gb"):
                script = make_script(words, [0.5] * len(words), closed=True, accent=accent)
                assert len(script.text) <= MOST


def test_the_first_plan_knows_two_words_with_a_sound():
    word, silent = PhonedWord(tuple("kæt")), PhonedWord(())
    assert [len(known) for known, _ in plans([word] * 9)] == [2, 4, 7, 9]
    assert [len(known) for known, _ in plans([silent, word, silent, word, word])] == [4, 5]


@pytest.mark.parametrize(("accent", "pauses"), [("en-us", False), ("en-gb", False), ("es", True)])
def test_other_languages_pause_below_their_own_pace_rather_than_stretch(accent, pauses):
    """At 3.5 SPS with an own pace of 6."""
    speaker = Speaker(small_style(), accent=accent, own_rate=6.0)
    plan = make_plan(small_parts(), speaker, plan_request(phoned(language=accent), 3.5), None, 0)
    assert any(plan.pauses) is pauses


# ------------------------------------------------------------------------------- phones in symbols


TEXT = " ".join(sentences(150))
STRESSES = "ˈˌ"


@pytest.mark.parametrize("language", ["en-us", "en-gb"])
def test_every_phone_of_english_has_symbols_and_a_word_keeps_its_syllables(language):
    """Or its rate would be another one than was asked for."""
    words = phoned(TEXT, language)
    phones = {phone for word in words for phone in word.phones}
    assert len(phones) > 40
    for phone in phones:
        spelt = symbols(phone, language)
        assert spelt.strip(STRESSES), phone
        assert ids(spelt)[1:-1], phone
        assert set(spelt) & set(STRESSES) == set(phone) & set(STRESSES)
    for word in words:
        script = make_script([word], [0.0], closed=False, accent=language)
        assert int(script.nuclei.sum()) == word.syllables, (word, script.text)


@pytest.mark.parametrize("language", SENTENCES_ELSEWHERE)
def test_every_phone_of_other_languages_has_symbols_and_a_word_keeps_its_syllables(language):
    code = language.split("-")[0]
    text = " ".join((*SENTENCES_ELSEWHERE[language], *sentences_in(code)))
    words = phoned(text, language)
    for word in words:
        for phone in word.phones:
            left = re.sub("[-‿]|t[sʃ]|d[zʒ]|[aeo]ɪ|[ao]ʊ|ss", "", phone)
            assert set(left) <= set(symbols(phone, language)), phone
            assert ids(symbols(phone, language))[1:-1], phone
        script = make_script([word], [0.0], closed=False, accent=language)
        assert int(script.nuclei.sum()) == word.syllables, (word, script.text)
    spelt = {
        symbol for word in words for phone in word.phones for symbol in symbols(phone, language)
    }
    assert spelt <= ELASTICITY.keys()  # others are stretched like gaps


@pytest.mark.parametrize(
    ("language", "phone", "spelt"),
    [
        ("es", "ts", "ʦ"), ("es", "ˈeɪ", "ˈA"), ("es", "ɾ", "ɾ"), ("es", "r", "r"),
        ("it", "tsː", "ʦː"), ("it", "ss", "S"), ("it", "ˈa‿ʊ", "ˈaʊ"), ("it", "ʎ", "ʎ"),
        ("pt-br", "ˈɐ̃ʊ̃", "ˈɐ̃ʊ̃"), ("pt-br", "oɪ", "oɪ"), ("pt-br", "dʒ", "ʤ"),
        ("fr-fr", "e-", "e"), ("fr-fr", "ˈɑ̃", "ˈɑ̃"), ("fr-fr", "y‿ˈi", "yˈi"), ("fr-fr", "ʁ", "ʁ"),
        ("en-us", "ˈaɪ", "ˈI"), ("en-us", "dʒ", "ʤ"), ("en-us", "tʃ", "ʧ"), ("en-us", "oʊ", "O"),
        ("en-gb", "əʊ", "Q"), ("en-us", "ɾ", "T"),
        ("en-us", "ɐ", "ə"), ("en-us", "ʁɑ̃", "ɑ"), ("en-gb", "r", "ɹ"),
    ],
)  # fmt: skip
def test_each_language_has_its_own_symbols(language, phone, spelt):
    """Diphthongs and affricates are one; English has none for sounds of foreign words."""
    assert symbols(phone, language) == spelt
