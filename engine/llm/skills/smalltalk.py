"""The few polite phrases of a conversation without a language model.

Invariant: every intent here is uncertain: where there is a language model, it answers.
"""

from engine.llm.base import Role
from engine.llm.skills.matching.intent import (
    Answer,
    FollowUp,
    Intent,
    Occasion,
    Responder,
    Skill,
    Slots,
    last_answer,
)

ABOUT_ME = (
    "I'm Rubato, a voice assistant that runs on this computer. "
    "You can change how fast I speak while I'm speaking."
)


PRIVATE = (
    "What you say stays on this computer, unless you choose a language model on a server: "
    "then it gets what you say."
)

_PRONOUNS = frozenset(("it", "that", "this", "me", "him", "her", "them", "us"))
_JOKES = (
    "A metronome walks into a bar. It leaves right on time.",
    "Why did the clock go slow? It was told to take its time.",
    "I would tell you a joke about silence, but you would have to hear it.",
)


def greet(_slots: Slots, occasion: Occasion) -> Answer:
    hour = occasion.now().hour
    if hour < 5:
        return Answer("Hello! What can I do for you?")
    if 5 <= hour < 12:
        return Answer("Good morning! What can I do for you?")
    if 12 <= hour < 18:
        return Answer("Hello! What can I do for you?")
    return Answer("Good evening! What can I do for you?")


def joke(_slots: Slots, occasion: Occasion) -> Answer:
    """Any joke except the last one."""
    others = [each for each in _JOKES if each != last_answer(occasion)]
    return Answer(others[occasion.draw(1, len(others)) - 1])


def decline(slots: Slots, _occasion: Occasion) -> Answer | None:
    """What takes other programs; "call it pasta" is meant for this one."""
    if slots.get("thing", "").split(" ")[0] in _PRONOUNS:
        return None
    return Answer("I can't do that: I have no hold of other programs, devices or the internet.")


def recall(_slots: Slots, occasion: Occasion) -> Answer:
    said = [message.text for message in occasion.history if message.role is Role.USER]
    return Answer(f"You said: {said[-2]}" if len(said) > 1 else "You haven't said anything yet.")


def say(text: str) -> Responder:
    """A responder with one sentence."""

    def respond(_slots: Slots, _occasion: Occasion) -> Answer:
        return Answer(text)

    return respond


SKILL = Skill(
    intents=(
        Intent(
            "greeting",
            (
                "(hello|hi|hey|yo|good (morning|afternoon|evening|day)) [there|again|rubato]",
                "(morning|evening)",
            ),
            greet,
            certain=False,
        ),
        Intent(
            "thanks",
            (
                "(thank you|thanks) [very much|so much|a lot] [[for] {thing}]",
                "(many thanks|i appreciate {thing}|i (cannot|can not) thank you enough)",
                "(well done|great|perfect)",
                "(good|great|nice|excellent|awesome|amazing|wonderful) (job|work) [{thing}]",
                "(that|it) was [very|really|so] (helpful|great|good|nice|perfect)",
                "(you did|you are doing|that was|that is|it was) [a] "
                "(good|great|nice|well|excellent|awesome|amazing) [job|work] [{thing}]",
            ),
            say("You're welcome."),
            certain=False,
        ),
        Intent(
            "goodbye",
            (
                "(goodbye|good bye|bye [bye]|good night|see you|farewell|so long) "
                "[for [now]|then|later|soon|tomorrow|rubato]",
                "(talk|speak) to you (later|soon|tomorrow)",
                "[it (was|is) [been]] [a] [so|very|really] "
                "(good|great|nice|lovely|pleasant|pleasure) "
                "(talking|chatting|speaking|to (talk|chat|speak)) [(to|with) you] [{thing}]",
                "i (have|need|must) [to] (go|leave) [now]",
            ),
            say("Goodbye!"),
            certain=False,
        ),
        Intent(
            "who",
            (
                "(who|what) are you",
                "what is your name",
                "(introduce|describe) yourself",
                "are you [a] (robot|human|computer|real|rubato|chatgpt|siri|alexa|person)",
                "who (made|invented|built|created|designed|developed|programmed) you",
                "who is (responsible for (making|creating) you|your (maker|creator|boss))",
                "(who do you work for|do you work for [{thing}])",
                "(where do you (live|come from)|where are you from|what model are you)",
            ),
            say(ABOUT_ME),
            certain=False,
        ),
        Intent(
            "mood",
            (
                "how (are you|is it|is life|are things|is everything) "
                "[today|doing|going|treating you]",
                "how (have you been|do you do|is your day [going|been])",
                "what is (up|new) [with you]",
            ),
            say("I'm well, thank you. What can I do for you?"),
            certain=False,
        ),
        Intent(
            "nod",
            (
                "(okay|ok|k|all right|alright|yes|yeah|no|no thanks|no thank you|sure|fine|good)",
                "(lol|haha|ha ha)",
                "(i see|got it|cool|nice|interesting|really|wow|right|sorry|i am sorry)",
                "(that is better|much better|better|you too|same to you)",
                "(no way|maybe|perhaps|possibly|exactly|absolutely|of course|correct|i guess so)",
                "(i am|i'm) [really] not [quite|so|too] sure",
                "(i do not know|not sure|who knows|that (is|seems|sounds) (true|right|good|fine))",
            ),
            say("All right."),
            certain=False,
        ),
        Intent(
            "hesitation", ("(um|uh|hm|hmm|er|well|so|[hey] rubato)",), say("Yes?"), certain=False
        ),
        Intent(
            "affection",
            ("i (love|like) you", "you are (nice|great|funny|cool|smart|clever|the best|awesome)"),
            say("That is kind of you."),
            certain=False,
        ),
        Intent(
            "reproach",
            (
                "you are (stupid|dumb|useless|bad|wrong|annoying|an idiot)",
                "that is (wrong|not (right|true|correct|funny))",
                "i (hate|do not like) you",
            ),
            say("I'm sorry. I know a few things well, and the rest needs a language model."),
            certain=False,
        ),
        Intent(
            "privacy",
            (
                "is this (private|secret|safe)",
                "are you (private|offline|online|spying on me|recording [me|this])",
                "where does my (data|voice) go",
                "can i use (you|this) offline",
                "do you (need|use) the internet",
            ),
            say(PRIVATE),
            certain=False,
        ),
        Intent(
            "doubt",
            ("are you [really|quite] sure", "is that (right|true|correct)"),
            say("As sure as a computer can be."),
            certain=False,
        ),
        Intent(
            "sadness",
            ("i (am|feel) [so|very|a bit] (sad|lonely|tired|bored|stressed|unhappy)",),
            say("I'm sorry to hear that. I could tell you a joke."),
            certain=False,
        ),
        Intent(
            "languages",
            ("[do you|can you] (speak|understand|talk) [in] {language}",),
            say("I understand only English, as long as I have no language model."),
            certain=False,
        ),
        Intent(
            "switches",
            (
                "(stop|start) listening",
                "(mute|unmute) [the|your] (microphone|mic)",
                "(quit|exit|close|shut down)",
            ),
            say("That is done in the window: Ctrl+U mutes the microphone, Ctrl+Q ends me."),
            certain=False,
        ),
        Intent("what was said", ("what did i [just] (say|ask) [you]",), recall, certain=False),
        Intent(
            "wishes",
            ("(happy birthday|merry christmas|happy (easter|new year)|have a (nice|good) day)",),
            say("Thank you, and the same to you."),
            certain=False,
        ),
        Intent(
            "beyond reach",
            (
                "play {thing}",
                "(turn|switch) (on|off) [the] {thing}",
                "open [the] {thing}",
                "(call|phone|text|email) {thing}",
                "send {thing}",
                "add {thing} to (my|the) {list}",
                "what is on my {list}",
                "read my (email|emails|mail|messages)",
                "what is the (weather|forecast|news) [like] [{thing}]",
                "sing [me] [a song]",
            ),
            decline,
            certain=False,
        ),
        Intent(
            "age",
            ("how old are you", "when were you born"),
            say("I have no age, only a version."),
            certain=False,
        ),
        Intent(
            "meaning",
            (
                "[what is] the (meaning|point|purpose) of (life|it all|everything)",
                "what is your (take|opinion|view) on the meaning of life",
            ),
            say("I keep the time; what it is for is up to you."),
            certain=False,
        ),
        Intent(
            "my name",
            (
                "(change|i want to change) your name to {thing}",
                "(can i|may i|let me|i want to|i will) call you {thing}",
                "your [new] name is [now] {thing}",
            ),
            say(
                "I'm Rubato. You can choose another name to wake me by in the settings, under Wake "
                "phrase."
            ),
            certain=False,
        ),
        Intent(
            "joke",
            (
                "[(tell|give) me|i want to hear|share|i need|let me hear] "
                "(a|an|another|some|any|your|1 of your|the|today's) "
                "[good|new|funny|funniest|silly|best|better] (joke|jokes) [{thing}]",
                "[do] you (know|have) (a|any|some) [good|new|funny|silly] (joke|jokes) [{thing}]",
                "(joke|jokes) [please|about {thing}]",
                "(tell|say) [me] something (funny|to make me laugh)",
                "make me (laugh|smile)",
            ),
            joke,
            certain=False,
        ),
        Intent(
            "hearing",
            ("(can|do) you hear me", "are you (there|listening|awake)", "[a] test [test]"),
            say("I hear you."),
            certain=False,
        ),
    ),
    examples={"thing": ("some music", "the radio"), "list": ("calendar", "shopping list")},
    lists={
        "language": tuple(
            (each, each)
            for each in ("german", "french", "spanish", "italian", "dutch", "chinese", "japanese")
        )
    },
    follow_ups=(FollowUp(("joke",), ("(another (one|1|joke)|again|(one|1) more|once more)",)),),
)
