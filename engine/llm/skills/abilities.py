"""What the assistant can do, what it runs on, and an honest answer to everything else.

They are not tools: a model would only read the list aloud, and the skills recognise these questions
with certainty anyway.

Invariant: every example sentence spoken here is understood by a skill (a test says each of them).
"""

import re

from engine.llm.base import Role
from engine.llm.skills.matching.intent import (
    Answer,
    Intent,
    Occasion,
    Skill,
    Slots,
    last_answer,
    sentence,
)

EXAMPLES = (
    "what time is it",
    "convert ten miles to kilometres",
    "set a timer for five minutes",
    "what is fifteen percent of eighty",
    "spell necessary",
    "speak slower",
    "how many days until Christmas",
    "repeat after me, hello world",
    "what can you do",
)
_TOPICS = (
    (
        ("timers", "timer", "reminders"),
        "I can set timers, alarms and reminders. Say: set a tea timer for three minutes, "
        "how long is left, add a minute to the tea timer, or cancel the timer.",
    ),
    (
        ("arithmetic", "maths", "math", "sums", "calculations"),
        "I can work out sums. Say: what is twelve times seven, or fifteen percent of eighty.",
    ),
    (
        ("units", "conversions", "unit conversion"),
        "I can convert units. Say: convert ten miles to kilometres, "
        "or how many cups are there in a litre.",
    ),
    (
        ("reading", "files"),
        "I can read aloud. Say: read the file notes, for a file in your documents, "
        "or type: read this text, and then the text.",
    ),
    (
        ("language model", "model", "smarter assistant"),
        "Open Models in the window's menu: there are language models to choose from. "
        "With one, I answer far more than now.",
    ),
    (
        ("voice", "better voice", "own voice"),
        "Say: another voice, or use the voice, and its name. In the window you can drop a "
        "recording on me, and Models in its menu has more ways to speak.",
    ),
    (
        ("speed", "pace", "volume", "voices"),
        "You can tell me: slower, faster, normal pace, louder, quieter, stop, "
        "or use the voice, and its name.",
    ),
)

_OWN = frozenset(
    (
        *("timer", "timers", "reminders", "language model", "model", "smarter assistant"),
        *("voice", "voices", "better voice", "own voice"),
    )
)


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_UNKNOWN = "I can't answer that"
# Of a hundred sentences heard with less confidence, by either recogniser, some seventy were wrong.
MISHEARD = 0.5
_HINT_EVERY = 4  # questions: who asks on and on is told again what works
# Words that are common in a language, and in no English sentence that a skill leaves.
_OTHER_LANGUAGES = {
    "Ohne Sprachmodell verstehe ich nur Englisch.": _words(
        "ist wie was der das den einen eine und du ich mir es auf nicht heute bitte danke guten "
        "hallo wer wo warum sprichst kannst mach spiel musik"
    ),
    "Sans modèle de langage, je ne comprends que l'anglais.": _words(
        "est est-il quelle quel le la les une je tu il vous dans pour comment pourquoi heure ça "
        "bonjour bonsoir salut merci beaucoup peux parles parlez-vous français"
    ),
    "Sin un modelo de lenguaje solo entiendo inglés.": _words(
        "que qué es el los las una por para como cómo cuál dónde hora estás estas está puedes "
        "hablas hola gracias buenos buenas dias días"
    ),
}


def tell_abilities(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer(
        "I can tell the time and the date, set timers, alarms and reminders, work out sums, "
        "convert units, spell words, flip coins, remember your name, and read texts and files "
        f"aloud. While I talk, say slower, faster, louder or stop. Try: {EXAMPLES[1]}."
    )


def explain_topic(slots: Slots, _occasion: Occasion) -> Answer | None:
    for names, explanation in _TOPICS:
        if slots["topic"] in names:
            return Answer(explanation)
    return None


def tell_parts(_slots: Slots, occasion: Occasion) -> Answer:
    """What runs, part by part; everything is on this computer unless a part says otherwise."""
    parts = occasion.situation().capabilities
    if not parts:
        return Answer("I can't tell what I'm running on at the moment.")
    listed = ". ".join(f"{part[:1].upper()}{part[1:]}: {runs}" for part, runs in parts.items())
    return Answer(f"{listed}.")


def unknown(occasion: Occasion) -> Answer:
    """The answer when no skill understands; with a different example each time in a
    conversation."""
    asked = sum(message.role is Role.USER for message in occasion.history)
    if other := _in_its_language(sentence(occasion)):
        return Answer(other, unanswered=True)
    if occasion.history and occasion.history[-1].confidence < MISHEARD:
        return Answer("I'm not sure I heard that right. Can you say it again?")
    if last_answer(occasion).startswith(_UNKNOWN) and asked % _HINT_EVERY:
        return Answer(f"{_UNKNOWN} either.", unanswered=True)
    first = EXAMPLES[asked % len(EXAMPLES)]
    second = EXAMPLES[(asked + len(EXAMPLES) // 2) % len(EXAMPLES)]
    text = f"{_UNKNOWN} without a language model. Try: {first}, or: {second}."
    return Answer(text, unanswered=True)


def _in_its_language(said: str) -> str:
    """The answer to a sentence in another language; empty where it is none that is known here."""
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", said.lower())
    if said.strip() and not re.search(r"[a-z]", said.lower()) and words:
        return "I understand only English, as long as I have no language model."
    for answer, common in _OTHER_LANGUAGES.items():
        if sum(word in common for word in words) >= min(len(words), max(2, len(words) / 3)) > 0:
            return answer
    return ""


def _explain(topic: str) -> tuple[str, ...]:
    return (
        f"help [me] with {topic}",
        f"how do {topic} work",
        f"what can you do with {topic}",
        "how (do|can) i (change|choose|get|install|use|set|add) "
        f"[a|the|your|another|a new|an|my] {topic}",
    )


_WHAT = "(what|which) [(kind[s]|type[s]|sort[s]) of] [questions|things|stuff|subjects|topics]"

SKILL = Skill(
    intents=(
        Intent(
            "abilities",
            (
                f"{_WHAT} (can you do|are you (able to do|capable of)|can i say)",
                f"{_WHAT} (can|should|could|may) i ask [you] [about|for]",
                f"{_WHAT} (can|could) you (help|assist|answer) [me] [with|on]",
                f"{_WHAT} you (can|could) (help|assist|answer|do) [me] [with|on]",
                "what are your (abilities|capabilities|skills)",
                "what (abilities|capabilities|skills) do you have",
                "how (can|could) you (help|assist) [me]",
                "what are the [(kind[s]|type[s]|sort[s]) of] things [that] "
                "(you can (help|assist) [me] with|i can ask [you] [about])",
                f"{_WHAT} (are you able to help [me] with|can i use you for)",
                "what do you (do|understand)",
                "(what|which) commands (are there|do you (know|understand))",
                "help",
                "(show|give) me (help|[some] examples)",
            ),
            tell_abilities,
        ),
        Intent(
            "more abilities",
            ("help me", "what else can you do"),
            tell_abilities,
            certain=False,
        ),
        Intent("explain topic", _explain("{own:topic}"), explain_topic),
        # Other people have sums, files and a pace as well.
        Intent("explain common topic", _explain("{topic}"), explain_topic, certain=False),
        Intent(
            "parts",
            (
                "what are you (running on|made of|using)",
                "what (is running|do you run on)",
                "(which|what) ([language] model|recogniser|recognizer|parts) "
                "(are you using|do you use)",
            ),
            tell_parts,
        ),
    ),
    lists={
        "topic": tuple((name, name) for names, _ in _TOPICS for name in names),
        "own": tuple((name, name) for names, _ in _TOPICS for name in names if name in _OWN),
    },
)
