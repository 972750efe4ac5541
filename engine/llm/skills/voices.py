"""Which voice speaks.

Invariant: ChooseVoice carries a name from Situation.voices whenever there are names to choose from.
"""

import difflib

from engine.llm.base import ChooseVoice
from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import is_name, is_person
from engine.llm.skills.matching.intent import Answer, Occasion, Slots, sentence
from engine.llm.skills.matching.quantities import enumeration

# "Voice commands": something else about the voice than whose it is.
_NO_VOICES = frozenset(
    ("input", "recognition", "commands", "command", "mode", "control", "chat", "search", "typing")
)
NO_OTHER = "There is no other voice to choose yet."
MAX_NAMED = 6  # voices read out at once
CLOSE_ENOUGH = 0.6  # difflib ratio: "ana" finds "Anna", "ana" does not find "Bruno"
CLOSER = 0.7  # where the word "voice" may be missing: "switch to manual" does not find "Anna"


def choose_voice(slots: Slots, occasion: Occasion) -> Answer | None:
    wanted = without_courtesy(slots["name"].strip(" .!?,\"'\u201c\u201d")).removesuffix("'s")
    if not wanted or wanted.lower() in _NO_VOICES:
        return None
    voices = occasion.situation().voices
    if not voices:
        return Answer(NO_OTHER)
    if name := _closest(wanted, voices):
        return _chosen(name)
    return _none_called(wanted, voices)


def choose_possessed(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "use Clara's voice": a known voice or a person's name; "a pirate voice" is left to a
    model."""
    said = slots["name"].strip(" .!?,\"'")
    wanted = said.removesuffix("'s").removesuffix("s'")
    if not is_name(wanted.lower()) or wanted.lower().startswith(("a ", "an ", "the ")):
        return None
    voices = occasion.situation().voices
    if not voices and "voice" in sentence(occasion):
        return Answer(NO_OTHER)
    if name := _closest(wanted, voices, CLOSER):
        return _chosen(name)
    return _none_called(wanted, voices) if said != wanted else None


def next_voice(_slots: Slots, occasion: Occasion, *, step: int = 1) -> Answer:
    """The voice after the current one, and after the last one the first; with `step` -1 the one
    before.
    """
    situation = occasion.situation()
    if len(situation.voices) < 2:
        return Answer(NO_OTHER)
    at = situation.voices.index(situation.voice) if situation.voice in situation.voices else -1
    return _chosen(situation.voices[(at + step) % len(situation.voices)])


def previous_voice(_slots: Slots, occasion: Occasion) -> Answer:
    """The voice that spoke before this one, or, while none did, the one before it in the list."""
    before = occasion.situation().voice_before
    if before in occasion.situation().voices:
        return _chosen(before)
    return next_voice(_slots, occasion, step=-1)


def list_voices(_slots: Slots, occasion: Occasion) -> Answer:
    voices = occasion.situation().voices
    return Answer(_listed(voices) if voices else "I have only the one voice you hear.")


def list_kinds(_slots: Slots, occasion: Occasion) -> Answer | None:
    """Nobody told which of them sound like a man's or a woman's."""
    voices = occasion.situation().voices
    if len(voices) < 2:
        return None
    return Answer(f"{_listed(voices)} Say, for example: use {voices[-1]}'s voice.")


def tell_voice(_slots: Slots, occasion: Occasion) -> Answer:
    voice = occasion.situation().voice
    return Answer(f"This is {voice}." if voice else "This is my built-in voice.")


def _chosen(name: str) -> Answer:
    return Answer(f"All right, this is {name}.", (ChooseVoice(name),))


def _none_called(wanted: str, voices: tuple[str, ...]) -> Answer | None:
    """None for what is no person's name."""
    called = is_person(wanted, has_capitals=False)
    return Answer(f"I have no voice called {wanted}. {_listed(voices)}") if called else None


def _closest(wanted: str, voices: tuple[str, ...], cutoff: float = CLOSE_ENOUGH) -> str | None:
    by_folded = {voice.casefold(): voice for voice in voices}
    folded = wanted.casefold()
    if folded in by_folded:
        return by_folded[folded]
    beginnings = [voice for voice in voices if voice.casefold().startswith(folded)]
    if beginnings:
        return min(beginnings, key=len)
    if len(wanted.split()) > 1 and cutoff > CLOSE_ENOUGH:  # "let Anna know"
        return None
    close = difflib.get_close_matches(folded, list(by_folded), n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def _listed(voices: tuple[str, ...]) -> str:
    if len(voices) == 1:
        return f"I have one voice: {voices[0]}."
    if len(voices) <= MAX_NAMED:
        return f"I have {len(voices)} voices: {enumeration(voices)}."
    return f"I have {len(voices)} voices, for example {enumeration(voices[:MAX_NAMED])}."
