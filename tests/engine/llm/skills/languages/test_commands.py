"""engine/llm/skills/languages: commands in Spanish, Italian, Portuguese and French."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engine.languages import ENGLISH, SPOKEN
from engine.llm.base import (
    AssistantState,
    ChangeRate,
    ChangeVolume,
    Message,
    Role,
    StartTimer,
    TextDelta,
    Timer,
    Unanswered,
)
from engine.llm.skills import Skills
from engine.llm.skills.control import speech_wish
from engine.llm.skills.languages.commands import command, in_english
from engine.messages.models import FetchModels, ModelEntry, ModelKind, Origin, Presence, UseModel
from engine.messages.timers import CancelTimers, TimerKind
from engine.resources import table
from engine.text.barge_in_words import halts, lets_go_on, nods
from engine.text.language_choice import language_of
from tests.engine.llm.cases import CASES

OTHERS = [code for code in SPOKEN if code != ENGLISH]
EXAMPLES = [
    (code, text) for code in OTHERS for text in table("commands", f"{code}.toml")["examples"]
]
PHRASES = [
    (code, english, text)
    for code in OTHERS
    for english, text in table("commands", f"{code}.toml")["phrases"].items()
]
MEANS = {
    "slower": "speak slower",
    "faster": "speak faster",
    "repeat": "say that again",
    "cancel": "cancel the timer",
    "left": "how much time is left",
    "time": "what time is it",
    "new": "new conversation",
}


def rows(name: str) -> list[list[str]]:
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines]


def meaning(kind: str) -> str:
    seconds = kind.removeprefix("timer ")
    return f"set a timer for {seconds} seconds" if seconds != kind else MEANS.get(kind, kind)


# As native people say it, written before the patterns.
FRESH = [(code, meaning(kind), text) for code, kind, text in rows("commands.tsv")]
SAID = {(code, means.split(" for ")[0]): text for code, means, text in reversed(FRESH)}
EACH = [(code, text, means) for (code, means), text in SAID.items()]
TIMER = Timer("", 252.0, number=1, seconds=300.0)


HERE = AssistantState(rate=4.0, volume=0.5, voice="Dora", voices=("Dora",))


def skills(hour: int = 14) -> Skills:
    return Skills(now=lambda: datetime(2026, 11, 28, hour, 5), documents=Path("nowhere"))


def reply(
    text: str,
    language: str,
    *timers: Timer,
    confidence: float = 1.0,
    hour: int = 14,
    before: str = "",
    models: tuple[ModelEntry, ...] = (),
    **state: float,
) -> list[object]:
    here = replace(HERE, timers=timers, offers=lambda: models, **state)
    history = (
        Message(Role.USER, "antes", language=language),
        Message(Role.ASSISTANT, before or "Una frase dicha antes."),
        Message(Role.USER, text, language=language, confidence=confidence),
    )
    return list(skills(hour).reply(history, lambda: here))


def spoken(deltas: list[object]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def is_certain(text: str, language: str) -> bool:
    """Whether a skill answers before a language model is asked."""
    history = (Message(Role.USER, text, language=language),)
    return skills().certain_answer(history, lambda: HERE) is not None


@pytest.mark.parametrize(("code", "text", "means"), EACH)
def test_a_skill_carries_it_out(code: str, text: str, means: str) -> None:
    deltas = reply(text, code, TIMER)
    assert not any(isinstance(delta, Unanswered) for delta in deltas)
    assert spoken(deltas)
    acts = {"speak": ChangeRate, "louder": ChangeVolume, "quieter": ChangeVolume, "set": StartTimer}
    wanted = acts.get(means.split()[0])
    assert wanted is None or any(isinstance(delta, wanted) for delta in deltas)


def test_a_timer_speaks_the_language_in_which_it_was_set() -> None:
    deltas = reply("Pon un temporizador de quince minutos", "es")
    (timer,) = (delta for delta in deltas if isinstance(delta, StartTimer))
    assert (timer.seconds, timer.text) == (900.0, "Ha terminado el temporizador.")
    assert spoken(deltas) == "Temporizador de 15 minutos."


def test_times_and_the_last_answer_are_told() -> None:
    for code, minute, many in (
        ("es", "Queda 1 minuto.", "Quedan 4 minutos y 12 segundos."),
        ("it", "Manca 1 minuto.", "Mancano 4 minuti e 12 secondi."),
        ("pt", "Falta 1 minuto.", "Faltam 4 minutos e 12 segundos."),
        ("fr", "Il reste 1 minute.", "Il reste 4 minutes et 12 secondes."),
    ):
        left = SAID[code, "how much time is left"]
        assert spoken(reply(left, code, TIMER)) == many
        assert spoken(reply(left, code, replace(TIMER, remaining_s=60.0))) == minute
        assert spoken(reply(left, code, replace(TIMER, remaining_s=61.0))) != minute
    assert spoken(reply("Quelle heure est-il ?", "fr")) == "Il est 14:05."
    assert spoken(reply("¿Qué hora es?", "es", hour=1)) == "Es la 1:05."
    assert spoken(reply("Che ore sono?", "it", hour=1)) == "È l'1:05."
    for timers in ((), (replace(TIMER, rang=True),)):
        left = spoken(reply("¿Cuánto queda?", "es", *timers))
        assert left == "No hay ningún temporizador en marcha."
    assert spoken(reply("Annulla il timer", "it")) == "Non c'è nessun timer attivo."
    zero = spoken(reply("Mets un minuteur de 0 minutes", "fr"))
    assert zero == "Je ne peux pas régler cette durée."
    assert spoken(reply("Répète", "fr")) == "Una frase dicha antes."


OTHER = Timer("", 61.0, number=2, seconds=3600.0)


def test_several_timers_are_told_apart() -> None:
    assert spoken(reply("Combien de temps il reste ?", "fr", TIMER, OTHER)) == (
        "Il reste 1 minute et 1 seconde sur le minuteur de 1 heure"
        " et 4 minutes et 12 secondes sur le minuteur de 5 minutes."
    )
    asked = "Quale timer? Ce ne sono da 1 ora e 5 minuti."
    assert spoken(reply("Annulla il timer", "it", TIMER, OTHER)) == asked
    for text, before, numbers in (
        ("Cancella il timer di cinque minuti", "", (1,)),
        ("quello di un'ora", asked, (2,)),
        ("tutti e due", asked, (1, 2)),
        ("Cancella tutti i timer", "", (1, 2)),
    ):
        deltas = reply(text, "it", TIMER, OTHER, before=before)
        assert CancelTimers(numbers) in deltas, text
    assert command("tutti e due", "it") is None


@pytest.mark.parametrize(("code", "text", "seconds"), CASES["durations_elsewhere"])
def test_a_duration_is_understood(code: str, text: str, seconds: int) -> None:
    (timer,) = (delta for delta in reply(text, code) if isinstance(delta, StartTimer))
    assert timer.seconds == seconds


@pytest.mark.parametrize(("code", "text", "said"), CASES["alarms_elsewhere"])
def test_an_alarm_is_set_for_a_time_of_day(code: str, text: str, said: str) -> None:
    """It is 14:05."""
    deltas = reply(text, code)
    (alarm,) = (delta for delta in deltas if isinstance(delta, StartTimer))
    assert alarm.kind is TimerKind.ALARM
    assert alarm.text != "This is your alarm."
    assert spoken(deltas) == said


@pytest.mark.parametrize(("code", "text"), CASES["no_times_elsewhere"])
def test_a_time_that_no_day_has_sets_no_alarm(code: str, text: str) -> None:
    assert not any(isinstance(each, StartTimer) for each in reply(text, code))


@pytest.mark.parametrize(("code", "text"), CASES["more_time_elsewhere"])
def test_more_time_is_talk_for_the_language_model_while_nothing_rings(code: str, text: str) -> None:
    assert not is_certain(text, code)
    assert [type(each) for each in reply(text, code)] == [TextDelta]


def test_alarms_are_told_apart() -> None:
    alarms = (
        Timer("7:00 AM alarm", 17 * 3600 - 300, number=1, kind=TimerKind.ALARM),
        Timer("8:30 AM alarm", 18.5 * 3600 - 300, number=2, kind=TimerKind.ALARM),
    )
    asked = "Quale sveglia? Ce ne sono alle 7:00 e 8:30."
    assert spoken(reply("Annulla la sveglia", "it", *alarms)) == asked
    assert CancelTimers((2,)) in reply("quella delle otto e mezza", "it", *alarms, before=asked)
    assert CancelTimers((1, 2)) in reply("tutte e due", "it", *alarms, before=asked)
    assert CancelTimers((1, 2)) in reply("Quita todas las alarmas", "es", *alarms)
    assert CancelTimers((1,)) in reply("Annule le réveil", "fr", *alarms[:1])


@pytest.mark.parametrize("code", OTHERS)
def test_a_limit_is_told(code: str) -> None:
    limits = {"speak slower": (1.0, 0.5), "speak faster": (7.0, 0.5)}
    limits |= {"louder": (4.0, 1.0), "quieter": (4.0, 0.0)}
    for means, (rate, volume) in limits.items():
        text = SAID[code, means]
        deltas = reply(text, code, rate=rate, volume=volume)
        assert [type(each) for each in deltas] == [TextDelta]
        assert spoken(deltas) != spoken(reply(text, code))


@pytest.mark.parametrize(("code", "text"), [*rows("talk.tsv"), *CASES["no_commands"]])
def test_talk_and_questions_with_words_of_commands_are_no_command(code: str, text: str) -> None:
    assert command(text, code) is None


@pytest.mark.parametrize(("code", "means", "texts"), CASES["certain_commands"])
def test_a_command_is_certain_as_a_complaint_or_with_courtesy_or_a_reason(
    code: str, means: str, texts: str
) -> None:
    for text in texts.split("|"):
        found = command(text, code)
        assert (found.means, found.certain) == ((means,), True), text


@pytest.mark.parametrize(("code", "means", "text"), FRESH)
def test_a_command_is_understood_as_people_say_it(code: str, means: str, text: str) -> None:
    found = command(text, code)
    assert found.means == (means,)


@pytest.mark.parametrize(("code", "texts"), CASES["small_talk_elsewhere"])
def test_small_talk_is_answered_without_a_language_model_alone(code: str, texts: str) -> None:
    replies = [reply(text, code) for text in texts.split("|")]
    assert all(map(spoken, replies))
    assert len(set(map(spoken, replies))) >= 5
    assert not any(isinstance(each, Unanswered) for deltas in replies for each in deltas)
    assert not any(is_certain(text, code) for text in texts.split("|"))


@pytest.mark.parametrize(("code", "text", "means"), CASES["enough_words"])
def test_some_words_are_enough_without_a_language_model(code: str, text: str, means: str) -> None:
    found = command(text, code)
    assert (found.means, found.certain) == ((means,), False)
    assert not is_certain(text, code)
    assert in_english(text) == text


YES = {"es": "Sí.", "it": "Sì, grazie", "pt": "Pode sim", "fr": "Oui, vas-y"}
MODEL = ModelEntry(
    "qwen", "Qwen: a model", ModelKind.LANGUAGE_MODEL, Origin.LISTED, Presence.MISSING, 2500
)


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_model_is_offered_with_its_size_and_fetched_after_a_yes(code: str) -> None:
    offer = reply("Radio Amsterdam Radio", code, models=(MODEL,))
    assert any(isinstance(each, Unanswered) for each in offer)
    assert "2,5 GB" in spoken(offer)
    agreed = reply(YES[code], code, models=(MODEL,), before=spoken(offer))
    assert FetchModels(("qwen",), use=True) in agreed
    refused = reply(
        {"pt": "Não"}.get(code, "No" if code != "fr" else "Non"), code, before=spoken(offer)
    )
    assert [type(each) for each in refused] == [TextDelta]
    alone = command(YES[code], code)
    assert alone is None or not alone.means
    here = replace(MODEL, state=Presence.COMPLETE)
    ready = spoken(reply("Radio Amsterdam Radio", code, models=(here,)))
    assert ready not in ("", spoken(offer))
    used = reply(YES[code], code, models=(here,), before=ready)
    assert UseModel("qwen") in used
    assert spoken(used) not in ("", spoken(agreed))


@pytest.mark.parametrize("code", OTHERS)
def test_another_question_needs_a_language_model_and_says_so_in_its_language(code: str) -> None:
    deltas = reply("Radio Amsterdam Radio", code)
    assert any(isinstance(delta, Unanswered) for delta in deltas)
    assert command(spoken(deltas), code) is None
    unheard = reply("Radio Amsterdam Radio", code, confidence=0.3)
    assert spoken(unheard) not in ("", spoken(deltas))


def test_the_skills_in_english_do_not_take_other_languages() -> None:
    (text,) = (delta for delta in reply("set a timer", "es") if isinstance(delta, TextDelta))
    assert "modelo" in text.text


def test_a_wish_about_the_pace_is_understood_in_every_language() -> None:
    slower = speech_wish("slower")
    assert slower is not None
    for text in ("Más despacio", "Più piano", "Mais devagar", "Plus lentement"):
        assert speech_wish(text) == slower, text
    assert in_english("Tell me more") == "Tell me more"
    for text in ("Piano.", "adagio", "normal", "Reduce"):  # words of English talk too
        assert speech_wish(text) is None, text
    assert speech_wish("Cuéntame más") is None


def test_stop_attention_and_going_on_are_understood_in_every_language() -> None:
    stops = ("¡Basta!", "Un momento.", "Fermati", "Aspetta!", "Chega", "Só um momento")
    stops += ("Arrête-toi !", "Tais-toi", "Espera, espera.", "wait wait wait", "No, no!")
    assert all(halts(text) and not nods(text) for text in stops)
    assert not halts("wait for the bus")
    assert all(map(nods, ("Sí, claro", "Va bene", "Tá bom", "D'accord")))
    assert all(map(lets_go_on, ("Sigue hablando", "Vai avanti", "Pode continuar", "Vas-y")))


@pytest.mark.parametrize(("code", "text"), EXAMPLES)
def test_an_example_is_understood_in_the_first_question(code, text):
    found = command(text, code)
    assert found.certain
    assert {language_of(text, usual, tuple(SPOKEN)) for usual in (code, ENGLISH)} == {code}


@pytest.mark.parametrize(("code", "english", "text"), PHRASES)
def test_a_phrase_of_the_keys_card_means_what_the_english_one_means(code, english, text):
    found = command(text, code)
    if english == "stop":
        assert halts(text)
    else:
        assert any(each.endswith(english) for each in found.means)
