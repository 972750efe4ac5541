"""The words that steer a conversation: what people say while somebody else speaks, to stop them or
to show that they listen.

"Go on" is not among them: to a recogniser, many voices' "one moment" sounds like it. Invariant:
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
# What lets a speaker go on after a halt.
GOES_ON = (
    *("go on", "resume", "continue", "carry on", "keep going", "go ahead"),
    *("keep reading", "continue reading", "keep talking", "continue talking", "unpause"),
    *("resume reading", "you can go on"),
)
# What is said to stop somebody, and is acted on while it is still being said.
COMMANDS = frozenset(("stop", "wait", "cancel", "quiet", "pause"))
_SPELLINGS = ("mm", "mmm", "hmm", "mhmm", "ya", "ok")
# Words that show that somebody listens; on their own they do not ask for the floor.
NODDING = frozenset((*_SPELLINGS, *(word for nod in NODS for word in nod.split())))


def words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without punctuation."""
    return frozenset(_WORD.findall(text.lower()))


def _bare(text: str) -> str:
    """The words of a text, with no "please" around them."""
    said = " ".join(_WORD.findall(text.lower()))
    return said if said in HALTS else said.removeprefix("please ").removesuffix(" please")


def lets_go_on(text: str) -> bool:
    """Whether the whole text asks to go on with what was being said."""
    return _bare(text) in GOES_ON


def halts(text: str) -> bool:
    """Whether the whole text asks for silence ("wait a moment"). Such texts are too short to tell
    from a nod by their length.
    """
    return _bare(text) in HALTS
