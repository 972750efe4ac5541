"""Choose the voice that speaks.

Invariant: ChooseVoice carries a name from AssistantState.voices whenever there are names to choose
from.
"""

import difflib
import re
from itertools import product

from engine.llm.base import AssistantState, ChooseVoice
from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import is_name, is_person
from engine.llm.skills.matching.gist import ENGLISH
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence
from engine.llm.skills.matching.quantities import enumeration
from engine.llm.skills.matching.repertoire import repertoire

# "Voice commands": about something else than the choice of a voice.
_NO_VOICES = frozenset(
    ("input", "recognition", "commands", "command", "mode", "control", "chat", "search", "typing")
)
NO_OTHER = "There is no other voice to choose yet."
MAX_NAMED = 6  # voices read out at once
CLOSE_ENOUGH = 0.87  # difflib ratio as heard: "ana" finds "Anna", "dana" and "hanna" do not
_SAME = str.maketrans("zckqvp", "sggfff")  # letters that recognisers take for each other
_NO_NAME = ("a ", "an ", "the ", "another ", "any ", "some ")  # how a kind of voice begins
_OF_WINDOW = re.compile(r"\b(?:dark|bright|light)(?:er)?\b", re.IGNORECASE)
_OF_VOICE = re.compile(
    r"\b(?:voice|accent|speaker|person|narrator|one|woman|man|lady|girl|guy|sound|sounding)s?\b",
    re.IGNORECASE,
)


def choose_voice(slots: Slots, context: SkillContext) -> Answer | None:
    wanted = without_courtesy(slots["name"].strip(" .!?,\"'\u201c\u201d")).removesuffix("'s")
    kinds = " ".join(form for form, _ in repertoire().lists["kind"])
    if not wanted or wanted.lower() in {*_NO_VOICES, *re.findall(r"[\w']+", kinds)}:
        return None  # "set the voice to male" names no voice
    voices = context.state().voices
    if not voices:
        return Answer(NO_OTHER)
    if name := _closest(wanted, voices):
        return _chosen(name)
    return _none_called(wanted, voices)


def choose_possessed(slots: Slots, context: SkillContext) -> Answer | None:
    """Choose for "use Clara's voice": a voice or a person's name, not "a pirate voice"."""
    said = slots["name"].strip(" .!?,\"'")
    wanted = said.removesuffix("'s").removesuffix("s'")
    if not is_name(wanted.lower()) or wanted.lower().startswith(_NO_NAME):
        return None
    voices = context.state().voices
    if not voices and "voice" in sentence(context):
        return Answer(NO_OTHER)
    if name := _closest(wanted, voices):
        return _chosen(name)
    return _none_called(wanted, voices) if said != wanted else None


def next_voice(_slots: Slots, context: SkillContext, *, step: int = 1) -> Answer:
    """Choose the voice after the current one, in a circle; with `step` -1 the one before."""
    state = context.state()
    if len(state.voices) < 2:
        return Answer(NO_OTHER)
    at = state.voices.index(state.voice) if state.voice in state.voices else -1
    return _chosen(state.voices[(at + step) % len(state.voices)])


def previous_voice(_slots: Slots, context: SkillContext) -> Answer:
    """Choose the voice that spoke before this one, or else the one before it in the list."""
    before = context.state().voice_before
    if before in context.state().voices:
        return _chosen(before)
    return next_voice(_slots, context, step=-1)


def list_voices(_slots: Slots, context: SkillContext) -> Answer:
    voices = context.state().voices
    return Answer(_listed(voices) if voices else "I have only the one voice you hear.")


def choose_kind(slots: Slots, context: SkillContext) -> Answer | None:
    """Choose the next voice of the kinds in the slots ("woman", "British"); else None."""
    here, kinds = context.state(), _kinds(slots)
    found = _voices_of(kinds, here)
    said = sentence(context)
    if (not found or ENGLISH in kinds or _OF_WINDOW.search(said)) and not _OF_VOICE.search(said):
        return None  # "speak German", "make it darker"
    if len(here.voices) < 2:
        return Answer(NO_OTHER)
    if not any((here.about or {}).values()):
        return Answer(f"{_listed(here.voices)} Say, for example: use {here.voices[-1]}'s voice.")
    if not found:
        return Answer(f"I have no {_named(kinds)} voice. {_kinds_there(here)}")
    others = [name for name in found if name != here.voice]
    if not others:
        return Answer(f"That is how I sound already, as {here.voice}.")
    after = here.voices.index(here.voice) if here.voice in here.voices else -1
    later = [name for name in others if here.voices.index(name) > after]
    return _chosen((later or others)[0])


def list_kind(slots: Slots, context: SkillContext) -> Answer:
    """List the voices of a kind, for the question whether there are any."""
    here, kinds = context.state(), _kinds(slots)
    found = _voices_of(kinds, here)
    if not found:
        return Answer(f"I have no {_named(kinds)} voice. {_kinds_there(here)}")
    return Answer(f"Yes: {enumeration(found[:MAX_NAMED])}. Say: use {found[0]}'s voice.")


def _kinds(slots: Slots) -> tuple[str, ...]:
    return tuple(value for name, value in sorted(slots.items()) if name.startswith("kind"))


def _voices_of(kinds: tuple[str, ...], here: AssistantState) -> tuple[str, ...]:
    """Return the voices whose description has all these words, or the nearest alternatives."""
    about = {name: f" {text} ".replace(",", " ") for name, text in (here.about or {}).items()}
    for options in product(*(kind.split("/") for kind in kinds)):
        found = tuple(
            name
            for name in here.voices
            if all(f" {kind} " in about.get(name, "") for kind in options)
        )
        if found:
            return found
    return ()


def _named(kinds: tuple[str, ...]) -> str:
    """Return the kinds as they are spoken before the word voice: "British woman's"."""
    first = [kind.split("/")[0] for kind in kinds]
    return " ".join(f"{each}'s" if each in ("woman", "man") else each for each in first)


def kind_name(slots: Slots) -> str:
    """Return the kinds of the slots with an article: "an American woman's"; empty without kinds."""
    name = _named(_kinds(slots))
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}" if name else ""


def _kinds_there(here: AssistantState) -> str:
    """Return the beginnings of the descriptions: the kinds of voices."""
    people = dict.fromkeys(text.split(",")[0] for text in (here.about or {}).values() if text)
    return f"There is: {enumeration(tuple(people))}." if people else _listed(here.voices)


def tell_voice(_slots: Slots, context: SkillContext) -> Answer:
    voice = context.state().voice
    return Answer(f"This is {voice}." if voice else "This is my built-in voice.")


def _chosen(name: str) -> Answer:
    return Answer(f"All right, this is {name}.", (ChooseVoice(name),))


def _none_called(wanted: str, voices: tuple[str, ...]) -> Answer | None:
    """Answer that no voice has this name; None if it is not a person's name."""
    called = is_person(wanted, has_capitals=False)
    return Answer(f"I have no voice called {wanted}. {_listed(voices)}") if called else None


def _closest(wanted: str, voices: tuple[str, ...]) -> str | None:
    """The voice of that name; of a name that is nearly the same, where only one is."""
    by_folded = {voice.casefold(): voice for voice in voices}
    folded = wanted.casefold()
    if folded in by_folded:
        return by_folded[folded]
    beginnings = [voice for voice in voices if voice.casefold().startswith(folded)]
    if beginnings:
        return min(beginnings, key=len)
    if len(wanted.split()) > 1:  # "let Anna know"
        return None
    near = [
        voice
        for name, voice in by_folded.items()
        if difflib.SequenceMatcher(None, _heard(folded), _heard(name)).ratio() >= CLOSE_ENOUGH
        and (folded[0] == name[0] or {folded[0], name[0]} == {"c", "k"})
    ]
    return near[0] if len(near) == 1 else None


def _heard(name: str) -> str:
    """A name with one letter for those that sound the same."""
    return re.sub(r"(.)\1+", r"\1", name.translate(_SAME))


def _listed(voices: tuple[str, ...]) -> str:
    if len(voices) == 1:
        return f"I have one voice: {voices[0]}."
    if len(voices) <= MAX_NAMED:
        return f"I have {len(voices)} voices: {enumeration(voices)}."
    return f"I have {len(voices)} voices, for example {enumeration(voices[:MAX_NAMED])}."
