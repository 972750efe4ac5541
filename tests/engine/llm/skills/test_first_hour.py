"""What a new user says within the first hour: commands, questions about the program, small talk.

The files of first_hour/ are the tables; each says how it is read.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from engine.llm import base as llm
from engine.llm.base import ChooseVoice
from engine.llm.skills.matching.gist import CLARIFICATION, meanings
from engine.llm.skills.matching.gist_training import TEXTS
from engine.llm.skills.matching.matcher import Understanding, matcher
from engine.llm.skills.model import Skills
from engine.llm.skills.window import NO_WINDOW
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow
from engine.messages.models import FetchModels, ModelEntry, Origin, Presence, UseModel
from engine.resources import resource
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import NOW, lines, notation

FOLDER = Path(__file__).with_name("first_hour")
MODELS = tuple(
    ModelEntry(name, title, kind, Origin.LISTED, Presence.MISSING, megabytes)
    for name, title, kind, megabytes in (
        ("ears", "Whisper base, which hears well", "recogniser", 148),
        ("brain", "Qwen 3 1.7B: answers anything", "language model", 1107),
        ("voice", "Kokoro, a natural voice (82 million parameters)", "voice", 107),
    )
)
ABOUT = {
    "Bella": "American woman, warm",
    "George": "British man, deep",
    "Emma": "British woman, clear",
    "Daniel": "American man, young, cheerful",
    "Isabella": "British woman, gentle",
}
HERE = llm.AssistantState(
    rate=4.0, volume=0.5, voice="Bella", voices=tuple(ABOUT), about=ABOUT, offers=lambda: MODELS
)
MANY = replace(
    HERE,
    voices=(*ABOUT, "Heart", "Michael", "Lewis", "Sarah", "Anna", "Clara"),
    about={
        **ABOUT,
        "Heart": "American woman, warm",
        "Michael": "American man, firm",
        "Lewis": "British man, old",
        "Sarah": "American woman, calm",
        "Anna": "British woman, gentle",
        "Clara": "British woman, young",
    },
)
# Shares of a table: requests wrong or unanswered; questions about other talk.
MOST_MISSED = 0.05
MOST_MISSED_IDIOMATIC = 0.25
MOST_ASKED = 0.02
MOST_ASKED_SAYINGS = 0.05
MOST_ASKED_SIMILAR = 0.1
MOST_DEAD_ENDS = 3
DEAD_ENDS = ("I can't", "I cannot")
DARK = ChangeSetting("window.theme", "dark")
QUITS = UseWindow("quit", "")
TABLES = (
    *("first_person.txt", "unseen.txt", "idiomatic.txt", "ordinary.txt"),
    *("sayings.txt", "similar.txt", "near_misses.txt"),
)


def wanted(name: str) -> Iterator[tuple[str, list[str]]]:
    """(what is said, the intents that are right), of lines below "[intent|intent]"."""
    intents: list[str] = []
    for line in lines(FOLDER / name):
        if line.startswith("["):
            intents = line.strip("[]").split("|")
        else:
            yield line, intents


@cache
def skills() -> Skills:
    return Skills(now=lambda: datetime(*NOW.timetuple()[:6]), documents=Path("/nowhere"))


def conversation(
    said: str, here: llm.AssistantState = HERE, confidence: float = 1.0
) -> tuple[Understanding | None, list[str], list[llm.Delta]]:
    """What the last of these sentences means, the answers to all, and the last one's deltas."""
    history: list[llm.Message] = []
    answers, deltas, meant = [], [], None
    for sentence in said.split(" || "):
        history.append(llm.Message(llm.Role.USER, sentence, confidence=confidence))
        context = skills().context(history, lambda: here)
        meant = matcher().understand(sentence, context, certain_only=False)
        deltas = list(skills().reply(history, lambda: here))
        answers.append("".join(each.text for each in deltas if isinstance(each, llm.TextDelta)))
        history.append(llm.Message(llm.Role.ASSISTANT, answers[-1]))
    return meant, answers, deltas


def done(deltas: list[llm.Delta]) -> str:
    """What is said and done, in the notation of new_user.txt."""
    return " ".join(map(notation, deltas))


# All of them take ten seconds, too long for every run.
SOME_OR_ALL = pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.long)])


def asked_about(said: str) -> str:
    """The intent that the question is about, after which a yes is said."""
    return next(meanings(said, MANY.voices)).intent


@SOME_OR_ALL
@pytest.mark.parametrize(
    ("table", "least", "most_wrong", "most_missed"),
    [
        ("first_person.txt", 129, 1, MOST_MISSED),
        ("unseen.txt", 117, 1, MOST_MISSED),
        ("idiomatic.txt", 148, 2, MOST_MISSED_IDIOMATIC),
    ],
)
def test_a_request_in_new_words_is_understood(table, least, most_wrong, most_missed, every):
    rows = list(wanted(table))
    assert len(rows) >= least
    missed, wrong = [], []
    for said, intents in rows[::every]:
        meant, _, _ = conversation(said, MANY)
        if meant is None or (
            meant.intent.name == CLARIFICATION and asked_about(said) not in intents
        ):
            missed.append(said)
        elif meant.intent.name not in {CLARIFICATION, *intents}:
            wrong.append((said, meant.intent.name))
    assert len(wrong) <= most_wrong, wrong
    assert len(missed) + len(wrong) <= most_missed * len(rows), (missed, wrong)


@SOME_OR_ALL
@pytest.mark.parametrize(
    ("table", "least", "most_taken", "most_asked"),
    [
        ("ordinary.txt", 499, 0, MOST_ASKED),
        ("sayings.txt", 672, 2, MOST_ASKED_SAYINGS),
        ("similar.txt", 69, 3, MOST_ASKED_SIMILAR),
        ("near_misses.txt", 64, 3, MOST_ASKED_SIMILAR),
    ],
)
def test_other_talk_is_no_request(table, least, most_taken, most_asked, every):
    said = lines(FOLDER / table)
    assert len(set(said)) >= least
    taken, asked = [], []
    for sentence in said[::every]:
        meant, _, _ = conversation(sentence, MANY)
        if meant is not None and meant.intent.name == CLARIFICATION:
            asked.append((sentence, asked_about(sentence)))
        elif meant is not None and (meant.intent.certain or meant.answer.actions):
            taken.append((sentence, meant.intent.name))
    assert len(taken) <= most_taken, taken
    assert len(asked) <= most_asked * len(said), asked


@pytest.mark.parametrize("table", TABLES)
def test_the_classifier_learns_from_no_table(table):
    learnt = "\n".join(resource("skills", "gist", text).read_text("utf-8") for text in TEXTS)
    assert {line for line in lines(FOLDER / table) if line[0] != "["}.isdisjoint(
        learnt.splitlines()
    )


@SOME_OR_ALL
def test_what_it_has_learnt_is_understood(every):
    """The plain phrasings of the classifier's texts, of which some ask."""
    text = resource("skills", "gist", "phrasings.txt").read_text("utf-8")
    rows = [line for line in text.splitlines() if line and line[0] not in "[#" and "{" not in line]
    assert len(rows) >= 2000
    dead = [said for said in rows[:: 5 * every] if conversation(said, MANY)[0] is None]
    assert len(dead) <= 0.02 * len(rows[:: 5 * every]), dead


@pytest.mark.parametrize(
    ("said", "question", "does"),
    [
        ("my son wants a man to read", "Shall I speak with a man's voice?", ChooseVoice("George")),
        ("my eyes don't like this white window", "Shall I make the window dark?", DARK),
    ],
)
def test_what_is_unsure_is_asked_about_and_done_after_a_yes(said, question, does):
    meant, answers, deltas = conversation(said, MANY)
    assert answers == [question]
    assert not any(isinstance(each, llm.Action) for each in deltas)
    assert not meant.intent.certain  # a language model would answer
    assert does in conversation(f"{said} || yes please", MANY)[2]
    assert conversation(f"{said} || no", MANY)[1][1] == "All right."
    assert does not in conversation(f"{said} || no", MANY)[2]
    assert does not in conversation(f"{said} || what time is it || yes", MANY)[2]


BRIGHT = "my eyes don't like this white window"


@pytest.mark.parametrize(
    "said", ["yeah go on", "go on then", "sure why not", "please do", "i guess so", "what || yes"]
)
def test_a_casual_yes_agrees_even_after_the_question_was_repeated(said):
    assert DARK in conversation(f"{BRIGHT} || {said}", MANY)[2]


@pytest.mark.parametrize("said", ["no not that", "i don't", "yes but not now"])
def test_a_casual_no_drops_the_question(said):
    assert conversation(f"{BRIGHT} || {said}", MANY)[1][1] == "All right."
    assert conversation(f"{BRIGHT} || {said} || yes", MANY)[2] == [llm.TextDelta("All right.")]
    asked = "delete this conversation"
    assert conversation(f"{asked} || {said}")[1][1] == "All right, it stays."


@pytest.mark.parametrize("said", ["please do", "yeah go on"])
def test_a_casual_yes_deletes_what_was_asked_about_only(said):
    deletes = UseWindow("delete", "")
    assert deletes in conversation(f"delete this conversation || {said}")[2]
    assert deletes not in conversation(f"delete this conversation || {BRIGHT} || {said}", MANY)[2]


@pytest.mark.parametrize(("said", "answer"), CASES["nearly_names_of_voices"])
def test_a_name_that_is_nearly_a_voices_is_it_only_without_doubt(said, answer):
    assert conversation(said, MANY)[1][0].startswith(answer)


@pytest.mark.parametrize("question", ["quit?", "delete it?"])
def test_a_yes_to_a_sentence_of_the_model_that_ends_like_a_question_of_the_skills_does_nothing(
    question,
):
    history = [
        llm.Message(llm.Role.USER, "Tell me a story."),
        llm.Message(
            llm.Role.ASSISTANT, f"He looked up from his work and asked: Shall I {question}"
        ),
        llm.Message(llm.Role.USER, "yes"),
    ]
    deltas = skills().reply(history, lambda: HERE)
    assert not any(isinstance(each, UseWindow) for each in deltas)


@pytest.mark.parametrize(
    ("state", "question"),
    [
        (
            {"timers": (llm.Timer("tea", 60.0),)},
            "Timers do not ring while I am closed. Shall I quit?",
        ),
        (
            {"models_busy": True},
            "A model is still being fetched or checked. That stops when I close. Shall I quit?",
        ),
        ({"timers": (llm.Timer("", 0.0, rang=True),)}, ""),
    ],
    ids=["a timer", "a model", "a timer that rang"],
)
def test_a_running_timer_and_a_model_being_fetched_are_asked_about_at_the_end(state, question):
    here = replace(HERE, **state)
    assert conversation("quit", here)[1] == [question]
    assert QUITS in conversation("quit || yes" if question else "quit", here)[2]
    assert not question or conversation("quit || no", here)[2] == [llm.TextDelta("All right.")]


@SOME_OR_ALL
@pytest.mark.parametrize("table", ["new_user.txt", "later_user.txt"])
def test_a_new_user_is_answered(table, every):
    dead, wrong = [], []
    rows = [line.split(" => ") for line in lines(FOLDER / table)]
    assert len(rows) >= 100
    for said, words in rows[::every]:
        _, answers, deltas = conversation(said)
        if words.lower() not in done(deltas).lower():
            wrong.append((said, done(deltas)))
        if answers[-1].startswith(DEAD_ENDS):
            dead.append(said)
    assert wrong == []
    assert len(dead) <= MOST_DEAD_ENDS


def test_a_language_model_is_offered_once_and_no_answer_is_given_twice():
    asked = ("who was Caesar", "translate hello", "why is the sky blue", "write a poem about rain")
    _, answers, _ = conversation(" || ".join(asked))
    assert answers[0] == "That needs a language model, 1.1 GB. Shall I fetch it?"
    assert len({answer.split(":")[0] for answer in answers}) == len(answers)
    assert sum("Shall I" in answer for answer in answers) == 1


@pytest.mark.parametrize(
    ("megabytes", "needed"),
    [
        (107, " It needs Kokoro, 107 MB, which the button below the recording fetches."),
        (0, " It needs Kokoro, which the button below the recording chooses."),
        (None, ""),
    ],
)
def test_what_a_voice_of_one_s_own_needs_is_said(megabytes, needed):
    here = replace(HERE, learner_mb=lambda: megabytes)
    (answer,) = conversation("can you clone my voice", here)[1]
    assert answer.startswith("Yes. Press Record a voice here")
    assert answer.endswith(f"it stays on this computer.{needed}")
    (aloud,) = conversation("can you clone my voice", replace(here, has_window=False))[1]
    assert "button" not in aloud
    assert ("It needs Kokoro" in aloud) == (megabytes is not None)


@pytest.mark.parametrize(
    ("entry", "said", "does"),
    [
        (MODELS[1], "who was Caesar || yes", FetchModels(("brain",), use=True)),
        (MODELS[1], "who was Caesar || and Nero || fetch it", FetchModels(("brain",), use=True)),
        (replace(MODELS[1], state=Presence.COMPLETE), "who was Caesar || yes", UseModel("brain")),
        (MODELS[2], "get a better voice || sure", FetchModels(("voice",), use=True)),
    ],
)
def test_a_yes_fetches_what_was_offered(entry, said, does):
    here = replace(HERE, offers=lambda: (entry,))
    assert does in conversation(said, here)[2]
    assert does not in conversation(said.rpartition(" || ")[0] + " || no", here)[2]


@pytest.mark.parametrize(
    "said", ["yes", "what time is it || yes", "delete this conversation || no"]
)
def test_a_yes_to_nothing_does_nothing(said):
    assert not any(isinstance(each, llm.Action) for each in conversation(said)[2])


def test_the_program_ends_at_once_only_by_a_typed_plain_word():
    """Recognisers write "quit" for "quiet"."""
    assert QUITS in conversation("quit")[2]
    assert llm.StopSpeaking() in conversation("quit", confidence=0.9)[2]
    indirect = "okay that was all for today close yourself"
    for said, confidence in (("quit the program", 0.9), (indirect, 1.0)):
        assert conversation(said, confidence=confidence)[1] == ["Shall I quit?"]
        assert QUITS in conversation(f"{said} || yes", confidence=confidence)[2]


@pytest.mark.parametrize(("said", "answer"), CASES["described_voices"])
def test_a_voice_is_chosen_by_how_it_is_described(said, answer):
    assert conversation(said)[1] == [answer]


def test_what_it_says_of_itself_follows_its_settings():
    server = replace(
        HERE.settings.language_model, engine="server", address="https://example.org/v1"
    )
    muted = replace(HERE.settings.audio, muted=True)
    there = replace(HERE, settings=replace(HERE.settings, language_model=server, audio=muted))
    assert "on another computer" in conversation("is this private", there)[1][0]
    assert "closed" in conversation("can you hear me", there)[1][0]
    assert ChangeSetting("audio.muted", False) in conversation("unmute", there)[2]


NAMED_IN_WINDOW = re.compile(
    r"Ctrl|\b(Esc|[Pp]ress|slider|keys?|button|[Tt]ype|[Pp]aste|pages? of|[Hh]ere (is|are))\b|[][]"
)


@SOME_OR_ALL
def test_without_a_window_no_answer_opens_or_names_anything_in_it(every):
    here = replace(HERE, has_window=False)
    rows = list(wanted("unseen.txt"))
    first = {tuple(intents): said for said, intents in reversed(rows)}
    for said in first.values() if every > 1 else [said for said, _ in rows]:
        _, answers, deltas = conversation(said, here)
        assert not any(isinstance(each, UseWindow) for each in deltas), said
        assert not NAMED_IN_WINDOW.search(answers[-1]), said


DONE_THERE = (
    *("open settings", "quit", "export this chat", "find the chat about pasta", "dark mode"),
    *("delete this conversation", "new chat", "which model are you running"),
)


@pytest.mark.parametrize(
    ("said", "answer"),
    [*((said, NO_WINDOW) for said in DONE_THERE), *CASES["without_a_window"]],
)
def test_without_a_window_the_answer_fits(said, answer):
    _, answers, deltas = conversation(said, replace(HERE, has_window=False))
    assert answers[-1] == answer
    assert not any(isinstance(each, UseWindow | ChangeSetting) for each in deltas)
