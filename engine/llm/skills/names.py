"""The user's name, remembered in the settings; and the sound of names, kept in the list of names.

Invariant: a name is one word or a few, with nothing else after "my name is" or "call me"; a longer
text is not a name. Only a sound of a name is taught, never a request ("say hello as a pirate"). An
answer that contains a name is private, which makes the complete turn private: no server on another
computer gets it with a later question.
"""

import re

from engine.errors import InvalidInput
from engine.llm.base import ForgetSound, LearnSound, RememberName, Role
from engine.llm.skills.clock.days import WEEKDAYS
from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import alternatives, is_person, is_word, word_set
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence
from engine.text.names import Name, checked

MOST_CHARS = 40

_PERSON = re.compile(r"^[^\W\d_][\w'\u2019.-]*(?: [^\W\d_][\w'\u2019.-]*)*$")
_NO_NAME = frozenset(WEEKDAYS) | word_set("no_names")


def remember(slots: Slots, context: SkillContext) -> Answer | None:
    """Remember the name, and repeat it behind `hello`."""
    name = _name(slots["person"], context)
    if name is None:
        return None
    return Answer(f"{slots['hello']}, {name}.", (RememberName(name),), private=True)


def tell(_slots: Slots, context: SkillContext) -> Answer:
    name = context.state().person
    if not name:
        return Answer("You haven't told me your name. Say: my name is, and your name.")
    return Answer(f"Your name is {name}.", private=True)


def forget(_slots: Slots, context: SkillContext) -> Answer:
    if not context.state().person:
        return Answer("I don't know your name.")
    return Answer("I've forgotten your name.", (RememberName(""),))


def _name(said: str, context: SkillContext) -> str | None:
    """Return the name in the user's words, with capitals; None if it is not a name."""
    bare = without_courtesy(said.strip(' \t\n,:!?"“”')).rstrip(".,!? ")
    words = bare.split()
    if len(bare) > MOST_CHARS or not _PERSON.match(bare):
        return None
    whole = sentence(context)
    if not is_person(bare, has_capitals=whole != whole.lower()):
        return None
    if not _NO_NAME.isdisjoint(word.lower().strip(".'") for word in words):
        return None
    return " ".join(word if word != word.lower() else word.capitalize() for word in words)


_MOST_WORDS = 4
_NAME = re.compile(r"\b[A-Z][^\W\d_]+(?:[ -][A-Z][^\W\d_]+)*")
_FIRST = re.compile(r"(?:^|[.!?:]\s+|[\"“]\s*)$")
_SPELT = re.compile(r"[-/]|[a-z][A-Z]|[A-Z]{2}")
_NO_SOUND = re.compile(alternatives("no_sounds"), re.IGNORECASE)
_PLEASE = re.compile(r"[\s,]+please$", re.IGNORECASE)
_MARKS = " \t\n,:.!?\"“”'"


def teach(slots: Slots, _context: SkillContext) -> Answer | None:
    """Remember how a name is said, and say it so."""
    written, said = _plain(slots["written"]), _plain(slots["said"].partition(",")[0])
    if not (is_word(written) and _is_sound(said)):
        return None
    try:
        name = checked(Name(written, said))
    except InvalidInput as error:
        return Answer(f"{error} {error.hint}") if said.startswith("/") else None
    sound = LearnSound(name.written, name.said)
    return Answer(f"All right: {name.written}.", (sound,), private=True) if name.said else None


def teach_if_name(slots: Slots, context: SkillContext) -> Answer | None:
    """As teach(), where "say" may also mean something else."""
    is_name = not slots["written"].islower() or bool(_SPELT.search(slots["said"]))
    return teach(slots, context) if is_name else None


def teach_own(slots: Slots, context: SkillContext) -> Answer | None:
    """As teach(), of the user's own name."""
    person = context.state().person
    if not person and _is_sound(_plain(slots["said"])):
        return Answer("You haven't told me your name. Say: my name is, and your name.")
    return teach({**slots, "written": person}, context) if person else None


def teach_last(slots: Slots, context: SkillContext) -> Answer | None:
    """As teach(), of the last name in the conversation."""
    if not _is_sound(_plain(slots["said"])):
        return None
    name = _last_name(context)
    if not name:
        return Answer("Which name? Say: pronounce, the name, as, and how it sounds.")
    if len(_plain(slots["said"]).split()) < len(name.split()):
        name = name.split()[0]
    return teach({**slots, "written": name}, context)


def forget_sound(slots: Slots, _context: SkillContext) -> Answer | None:
    written = _plain(slots["written"])
    if not is_word(written):
        return None
    return Answer(f"I'll say {written} as I read it.", (ForgetSound(written),), private=True)


def _last_name(context: SkillContext) -> str:
    """Return the name in the last two messages: the user's own, or the newest with capitals."""
    person = context.state().person
    for message in reversed(context.history[-3:-1]):
        if person and person in message.text:
            return person
        inside = [
            match[0]
            for match in _NAME.finditer(message.text)
            if not _FIRST.search(message.text[: match.start()])
        ]
        if inside:
            return inside[-1]
        if message.role is Role.USER and (alone := _NAME.fullmatch(message.text.strip(" .?!"))):
            return alone[0]
    return ""


def _is_sound(said: str) -> bool:
    """Return whether words can be how a name sounds."""
    words = said.split()
    return 0 < len(words) <= _MOST_WORDS and not _NO_SOUND.match(said)


def _plain(said: str) -> str:
    return _PLEASE.sub("", said.strip(_MARKS)).strip(_MARKS)
