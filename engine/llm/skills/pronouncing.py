"""How a name is said: taught by the user, kept in the list of names.

Invariant: only a name is taught, never a request ("say hello as a pirate"). An answer with a name
is private, as in names.py.
"""

import re

from engine.errors import InvalidInput
from engine.llm.base import ForgetSound, LearnSound, Role
from engine.llm.skills.matching.fillings import alternatives, is_word
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.text.names import Name, checked

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


def forget(slots: Slots, _context: SkillContext) -> Answer | None:
    written = _plain(slots["written"])
    if not is_word(written):
        return None
    return Answer(f"I'll say {written} as I read it.", (ForgetSound(written),), private=True)


def _last_name(context: SkillContext) -> str:
    """Return the name in the last two messages: the user's own, or the newest words with capitals
    inside a sentence or alone.
    """
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
