"""The words of conversation itself: what people say into somebody else's speech, to halt them or to
go along.

"Go on" is not among them: too many voices' "one moment" sounds like it to a recogniser. Invariant:
lower-case words and single spaces; no text both halts and nods.
"""

import re

_WORD = re.compile(r"[a-z']+")

HALTS = (
    *("stop", "stop it", "stop that", "stop now", "stop talking", "stop please", "please stop"),
    *("no", "no no", "wait", "wait a moment", "wait a minute", "wait a second"),
    *("hold on", "hang on", "one moment", "one second", "just a moment", "just a second"),
    *("cancel", "pause", "quiet", "be quiet", "shut up", "enough", "never mind", "nevermind"),
)
NODS = (
    *("mhm", "hm", "um", "um hum", "uhuh", "uh huh", "uh", "huh", "ah", "oh", "eh", "aha"),
    *("yeah", "yeah yeah", "yes", "yep", "yup", "okay", "okay okay", "all right", "right", "sure"),
    *("so", "well", "i see", "good", "great", "nice", "fine", "cool", "exactly", "of course"),
    *("wow", "oh wow", "really", "oh really", "got it", "i know", "true", "oh okay", "go ahead"),
    *("interesting", "that's right", "perfect"),
)
# What lets somebody go on who was halted.
GOES_ON = (
    *("go on", "resume", "continue", "carry on", "keep going", "go ahead"),
    *("keep reading", "continue reading", "keep talking", "continue talking", "unpause"),
    *("resume reading", "you can go on"),
)
# What is said to stop somebody, and is believed while it is being said.
COMMANDS = frozenset(("stop", "wait", "cancel", "quiet", "pause"))
_SPELLINGS = ("mm", "mmm", "hmm", "mhmm", "ya", "ok")
# Words of those who show that they listen; alone, they do not ask for the floor.
NODDING = frozenset((*_SPELLINGS, *(word for nod in NODS for word in nod.split())))


def words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without punctuation."""
    return frozenset(_WORD.findall(text.lower()))


def _bare(text: str) -> str:
    """The words of a text, with no "please" around them."""
    said = " ".join(_WORD.findall(text.lower()))
    return said if said in HALTS else said.removeprefix("please ").removesuffix(" please")


def lets_go_on(text: str) -> bool:
    """Whether all of it asks to go on with what was being said."""
    return _bare(text) in GOES_ON


def halts(text: str) -> bool:
    """Whether all of it asks for silence ("wait a moment"); too short to be told from a nod by its
    length.
    """
    return _bare(text) in HALTS
