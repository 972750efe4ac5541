"""engine/llm/skills/other_languages.py: commands in Spanish, Italian, Portuguese and French."""

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
from engine.llm.skills.other_languages import command, in_english
from engine.llm.skills.speech_wishes import speech_wish
from engine.text.barge_in_words import halts, lets_go_on, nods

OTHERS = [code for code in SPOKEN if code != ENGLISH]
SAID = {
    "es": (
        ("Más despacio, por favor.", "speak slower"),
        ("¿Puedes hablar más rápido?", "speak faster"),
        ("Sube el volumen", "louder"),
        ("Un poco más bajo.", "quieter"),
        ("¿Puedes repetirlo?", "say that again"),
        ("Pon un temporizador de quince minutos.", "set a timer for 15 minutes"),
        ("Avísame en una hora", "set a timer for 1 hour"),
        ("Cancela el temporizador", "cancel the timer"),
        ("¿Cuánto tiempo queda?", "how much time is left"),
        ("¿Qué hora es?", "what time is it"),
        ("Nueva conversación.", "new conversation"),
    ),
    "it": (
        ("Parla più lentamente, per favore.", "speak slower"),
        ("Un po' più veloce.", "speak faster"),
        ("Alza il volume", "louder"),
        ("Più a bassa voce.", "quieter"),
        ("Cosa hai detto?", "say that again"),
        ("Imposta un timer di venti secondi.", "set a timer for 20 seconds"),
        ("Timer di 3 minuti", "set a timer for 3 minutes"),
        ("Annulla il timer", "cancel the timer"),
        ("Quanto manca?", "how much time is left"),
        ("Che ore sono?", "what time is it"),
        ("Ricominciamo da capo.", "new conversation"),
    ),
    "pt": (
        ("Fale mais devagar, por favor.", "speak slower"),
        ("Mais rápido.", "speak faster"),
        ("Aumenta o volume", "louder"),
        ("Fala mais baixo.", "quieter"),
        ("Pode repetir?", "say that again"),
        ("Coloque um temporizador de dez minutos.", "set a timer for 10 minutes"),
        ("Me avisa em 2 horas", "set a timer for 2 hours"),
        ("Cancela o temporizador", "cancel the timer"),
        ("Quanto tempo falta?", "how much time is left"),
        ("Que horas são?", "what time is it"),
        ("Nova conversa.", "new conversation"),
    ),
    "fr": (
        ("Plus lentement, s'il te plaît.", "speak slower"),
        ("Parle un peu plus vite.", "speak faster"),
        ("Monte le son", "louder"),
        ("Moins fort.", "quieter"),
        ("Tu peux répéter ?", "say that again"),
        ("Mets un minuteur de douze minutes.", "set a timer for 12 minutes"),
        ("Préviens-moi dans une heure", "set a timer for 1 hour"),
        ("Arrête le minuteur", "cancel the timer"),
        ("Combien de temps il reste ?", "how much time is left"),
        ("Quelle heure est-il ?", "what time is it"),
        ("On recommence à zéro.", "new conversation"),
    ),
}
EACH = [(code, text, means) for code, said in SAID.items() for text, means in said]
TIMER = Timer("", 252.0, number=1, seconds=300.0)


def reply(
    text: str, language: str, *timers: Timer, confidence: float = 1.0, hour: int = 14
) -> list[object]:
    skills = Skills(now=lambda: datetime(2026, 11, 28, hour, 5), documents=Path("nowhere"))
    here = AssistantState(rate=4.0, volume=0.5, voice="Dora", voices=("Dora",), timers=timers)
    before = (
        Message(Role.USER, "antes", language=language),
        Message(Role.ASSISTANT, "Una frase dicha antes.", language=language),
    )
    asked = Message(Role.USER, text, language=language, confidence=confidence)
    return list(skills.reply((*before, asked), lambda: here))


def spoken(deltas: list[object]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


@pytest.mark.parametrize(("code", "text", "means"), EACH)
def test_a_command_means_an_english_sentence(code: str, text: str, means: str) -> None:
    found = command(text, code)
    assert found is not None
    assert found.means == means


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


def test_times_are_told() -> None:
    assert spoken(reply("¿Cuánto queda?", "es", TIMER)) == "Quedan 4 min 12 s."
    assert spoken(reply("Quelle heure est-il ?", "fr")) == "Il est 14:05."
    assert spoken(reply("¿Qué hora es?", "es", hour=1)) == "Es la 1:05."
    assert spoken(reply("Che ore sono?", "it", hour=1)) == "È l'1:05."
    assert spoken(reply("¿Cuánto queda?", "es", replace(TIMER, rang=True))) == (
        "No hay ningún temporizador en marcha."
    )
    assert spoken(reply("¿Cuánto queda?", "es")) == "No hay ningún temporizador en marcha."
    assert spoken(reply("Annulla il timer", "it")) == "Non c'è nessun timer attivo."


def test_repeating_says_the_last_answer() -> None:
    assert spoken(reply("Répète", "fr")) == "Una frase dicha antes."


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
    assert speech_wish("Cuéntame más") is None


@pytest.mark.parametrize(
    "text",
    [
        "¡Basta!",
        "Un momento.",
        "Fermati",
        "Aspetta!",
        "Chega",
        "Só um momento",
        "Arrête-toi !",
        "Tais-toi",
    ],
)
def test_stop_is_understood_in_every_language(text: str) -> None:
    assert halts(text)
    assert not nods(text)


def test_stop_may_be_said_more_than_once() -> None:
    assert all(map(halts, ("Espera, espera.", "wait wait wait", "No, no!", "Basta! Basta!")))
    assert not halts("wait for the bus")


def test_attention_and_going_on_are_understood_in_every_language() -> None:
    assert all(map(nods, ("Sí, claro", "Va bene", "Tá bom", "D'accord")))
    assert all(map(lets_go_on, ("Sigue hablando", "Vai avanti", "Pode continuar", "Vas-y")))


def test_a_timer_that_cannot_be_set_or_told_apart_says_so() -> None:
    other = Timer("", 60.0, number=2, seconds=60.0)
    assert spoken(reply("Cancela el temporizador", "es", TIMER, other)).startswith("¿Cuál")
    assert spoken(reply("Mets un minuteur de 0 minutes", "fr")) == (
        "Je ne peux pas régler cette durée."
    )
