"""What the assistant can do, what it runs on, and an honest answer to everything else.

They are not tools: a model would only read the list aloud, and the skills recognise these questions
with certainty anyway.

Invariant: every example sentence spoken here is understood by a skill (a test says each of them).
"""

from engine.llm.base import Role
from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, last_answer

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
        ("speed", "pace", "volume", "voices"),
        "You can tell me: slower, faster, normal pace, louder, quieter, stop, "
        "or use the voice, and its name.",
    ),
)


_UNKNOWN = "I can't answer that"


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
    if last_answer(occasion).startswith(_UNKNOWN):
        return Answer(f"{_UNKNOWN} either.", unanswered=True)
    asked = sum(message.role is Role.USER for message in occasion.history)
    first = EXAMPLES[asked % len(EXAMPLES)]
    second = EXAMPLES[(asked + len(EXAMPLES) // 2) % len(EXAMPLES)]
    text = f"{_UNKNOWN} without a language model. Try: {first}, or: {second}."
    return Answer(text, unanswered=True)


FAMILY = Family(
    intents=(
        Intent(
            "abilities",
            (
                "what (can you do|are you able to do|can i say|can i ask [you])",
                "what do you (do|understand)",
                "(what|which) commands (are there|do you (know|understand))",
                "help",
                "(show|give) me (help|[some] examples)",
            ),
            tell_abilities,
        ),
        Intent(
            "explain topic",
            ("help [me] with {topic}", "how do {topic} work", "what can you do with {topic}"),
            explain_topic,
        ),
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
    lists={"topic": tuple((name, name) for names, _ in _TOPICS for name in names)},
)
