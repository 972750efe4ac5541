"""The few words that keep a conversation civil without a language model.

Invariant: every intent here is uncertain: where there is a language model, it answers.
"""

from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Responder, Slots

ABOUT_ME = (
    "I'm Rubato, a voice assistant that runs on this computer. "
    "You can change how fast I speak while I'm speaking."
)


def greet(_slots: Slots, occasion: Occasion) -> Answer:
    hour = occasion.now().hour
    if 5 <= hour < 12:
        return Answer("Good morning! What can I do for you?")
    if 12 <= hour < 18:
        return Answer("Hello! What can I do for you?")
    return Answer("Good evening! What can I do for you?")


def say(text: str) -> Responder:
    """A responder with one sentence."""

    def respond(_slots: Slots, _occasion: Occasion) -> Answer:
        return Answer(text)

    return respond


FAMILY = Family(
    intents=(
        Intent(
            "greeting",
            ("(hello|hi|hey|good (morning|afternoon|evening|day)) [there|again|rubato]",),
            greet,
            certain=False,
        ),
        Intent(
            "thanks",
            ("(thank you|thanks) [very much|so much|a lot]", "(well done|good job|great|perfect)"),
            say("You're welcome."),
            certain=False,
        ),
        Intent(
            "goodbye",
            ("(goodbye|good bye|bye [bye]|good night|see you [later|soon|tomorrow])",),
            say("Goodbye!"),
            certain=False,
        ),
        Intent(
            "who",
            (
                "(who|what) are you",
                "what is your name",
                "(introduce|describe) yourself",
                "are you [a] (robot|human|computer|real|rubato)",
            ),
            say(ABOUT_ME),
            certain=False,
        ),
        Intent(
            "mood",
            ("how are you [today|doing]", "how is it going"),
            say("I'm well, thank you. What can I do for you?"),
            certain=False,
        ),
        Intent(
            "hearing",
            ("(can|do) you hear me", "are you (there|listening|awake)", "[a] test [test]"),
            say("I hear you."),
            certain=False,
        ),
    ),
)
