"""Voices that learn from a recording: Kokoro's fit, with Whisper for the transcript and the check.

It takes two to four minutes of one thread, so the caller is a process of its own: the commands
`rubato voices add` and `rubato voices learn`, which the window starts as background jobs. With
--json they write lines {"part": 0.42, "doing": "..."} to standard error and the fields of Learnt to
standard output (or message, hint and texts of a fault); `learn` does not choose the result. A learnt
voice is a file of its own until it is chosen; the voice that speaks until then is the blend.
Ending the process at any moment is right: the next one goes on from the last checkpoint.
Invariant: nothing half made is ever chosen, and a voice that the checks refuse is not kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Show = Callable[[str, float], None]  # what is being done, and the share of it all that is done


@dataclass(frozen=True)
class Learnt:
    """Result of a fit. `file`: the learnt voice, to be heard (a voice can be named by its path) and
    chosen; None = it is not offered, and `reason` is a sentence on why. `transcript`: the words
    that it went by. `advice`: a sentence on what a better recording would have; can be empty.
    """

    voice: str
    file: Path | None
    reason: str
    transcript: str
    advice: str = ""


def add(recording: Path, name: str, text: str = "", show: Show = lambda *_: None) -> Learnt:
    """Make a recording a voice called `name` (empty: as the file is called), at once as a blend,
    then learn it and choose the result. As learn().
    """
    raise NotImplementedError


def learn(name: str, text: str = "", show: Show = lambda *_: None) -> Learnt:
    """Learn a voice the person made, from the recording kept with it. `text`: what is said in it;
    empty: Whisper writes it down. The voice itself does not change; see choose(). A fit that is
    done already is returned at once.

    InvalidInput for an unknown voice, one without its recording, and a text that does not fit;
    UnreadableClip for a recording that cannot be learnt; ModelError where Kokoro is missing, or
    Whisper and no text is given.
    """
    raise NotImplementedError


def learnt_file(name: str) -> Path | None:
    """The file of a learnt voice that waits to be chosen; None = there is none, or its recipe or
    recording has changed. Quick; loads no model.
    """
    raise NotImplementedError


def choose(name: str, *, learnt: bool) -> None:
    """Keep the learnt voice in place of the blend, or the blend; the other one is deleted.
    InvalidInput where nothing waits.
    """
    raise NotImplementedError
