"""When the assistant believes that the person has finished: cut-offs, and how soon it answers.

People with flite's voices say commands, some with a pause of 0.3 to 1.5 s inside, in a quiet room.
Invariant: every figure comes from the whole engine with its real voice detector, recogniser, skills
and formant voice on a clock that is stepped by hand; what a thread computes costs its processor
time, so other programs on the machine matter little. Times count from the last sound of the speech.

    python -m tests.benchmarks.turn_taking                     all of it: some forty minutes
    python -m tests.benchmarks.turn_taking --patience balanced --sets check --recogniser whisper
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from engine.asr.pick import BUILT_IN, NAMES
from engine.audio.base import Pcm
from engine.llm.skills.model import understands
from engine.messages.commands import NewConversation, StopReply
from engine.messages.events import Heard, PhaseChanged, TurnEnded
from engine.messages.words import Ending, Phase
from engine.runtime.factories import standard_factories
from engine.settings import Settings
from tests.benchmarks.turn_texts import CHECK, PAUSE, REQUESTS, TEST, TUNING
from tests.end_to_end import spoken as flite
from tests.simulation import people
from tests.simulation.room import RATE, Acoustics
from tests.simulation.stepped import SteppedEngine

PAUSES_S = (0.3, 1.5)  # the shortest and the longest; the others lie evenly between them
QUIET_S = 0.8  # of nobody speaking between two utterances
WAIT_S = 4.0  # for an answer
ROOM = Acoustics(echo_db=-100, noise_db=30)  # a headset
FLOOR_DB = -40.0  # below a person's level: what is quieter at the edges of a clip is silence


@dataclass(frozen=True)
class Trial:
    """One utterance; seconds after its end, None = it did not happen."""

    text: str
    heard: str
    transcript_s: float | None
    audio_s: float | None
    cut_off: bool  # an answer was heard before the end
    joined: bool  # taken for finished, but answered as a whole in the end
    discarded: int  # replies prepared in vain


class Talk(SteppedEngine):
    """The engine as it is, but for the devices."""

    def _own_parts(self) -> dict[str, Any]:
        return super()._own_parts() | {"language_model": standard_factories().language_model}

    def say(self, text: str, pcm: Pcm) -> Trial:
        """Say it in the room, and see what comes of it."""
        first = len(self.events)
        end = (self.room.say(pcm) + len(pcm)) / RATE
        self.run_until(lambda: self.now >= end, at_most=60.0)
        self.run_until(lambda: self._since(first, _speaks, end) is not None, at_most=WAIT_S)
        self.run(0.2)
        self.post(StopReply())
        self.post(NewConversation())
        self.run(QUIET_S)
        told = self.events[first:]
        ended = [event for _, event in told if isinstance(event, TurnEnded)]
        before = any(_speaks(event) and at < end for at, event in told)
        heard = [(at, event.text) for at, event in told if isinstance(event, Heard)]
        audio_at = self._since(first, _speaks, end)
        return Trial(
            text=text,
            heard=" / ".join(words for _, words in heard),
            transcript_s=heard[-1][0] - end if heard else None,
            audio_s=None if audio_at is None else audio_at - end,
            cut_off=before,
            joined=any(event.ending is Ending.SUPERSEDED for event in ended),
            discarded=sum(event.metrics.discarded for event in ended),
        )

    def _since(self, first: int, wanted: Callable[[object], bool], at: float) -> float | None:
        """When the first wanted event after `at` was told."""
        told = (told_at for told_at, event in self.events[first:] if wanted(event))
        return next((told_at for told_at in told if told_at >= at), None)


def _speaks(event: object) -> bool:
    return isinstance(event, PhaseChanged) and event.phase is Phase.SPEAKING


def utterance(text: str, number: int, of: int) -> Pcm:
    """The text spoken, with the pause of this number where it has a bar."""
    voice = people.VOICES[number % len(people.VOICES)]
    shortest, longest = PAUSES_S
    # Neighbours in the list differ much, so that no kind of sentence has the short pauses.
    pause_s = shortest + (longest - shortest) * (number * 7 % of) / max(1, of - 1)
    silence = np.zeros(int(pause_s * RATE), np.float32)
    factories: list[Pcm] = []
    for part in text.split(PAUSE):
        factories += [silence, trimmed(people.spoken(part.strip(), voice).pcm)]
    return np.concatenate(factories[1:])


def trimmed(pcm: Pcm) -> Pcm:
    """Without the silence that flite puts around a sentence."""
    level = np.convolve(pcm**2, np.ones(160) / 160, mode="same")
    loud = np.flatnonzero(level > level.max() * 10 ** (FLOOR_DB / 10))
    return pcm[loud[0] : loud[-1] + 1]


def measure(patience: str, texts: tuple[str, ...], ears: str = BUILT_IN) -> Iterator[Trial]:
    """One trial after the other, as they come."""
    settings = Settings()
    settings = replace(
        settings,
        audio=replace(settings.audio, headset=True),
        recogniser=replace(settings.recogniser, patience=patience),
        speech=replace(settings.speech, engine="espeak"),
    )
    with Talk(ROOM, "", settings, ears=ears) as engine:
        engine.run(QUIET_S)
        for number, text in enumerate(texts):
            yield engine.say(text, utterance(text, number, len(texts)))


HEAD = (
    "patience",
    "utterances",
    "cut off",  # an answer was heard before the end
    "cut off and joined",  # it was broken off, and all that was said was answered
    "joined unheard",
    "no answer",
    "transcript ms (median / p95)",
    "first audio ms (median / p95)",
    "thrown away",
)


def row(patience: str, kind: str, trials: list[Trial]) -> list[str]:
    return [
        patience,
        f"{len(trials)} {kind}",
        str(sum(trial.cut_off for trial in trials)),
        str(sum(trial.cut_off and trial.joined for trial in trials)),
        str(sum(trial.joined and not trial.cut_off for trial in trials)),
        str(sum(trial.audio_s is None for trial in trials)),
        _spread([trial.transcript_s for trial in trials if not trial.cut_off]),
        _spread([trial.audio_s for trial in trials if not trial.cut_off]),
        str(sum(trial.discarded for trial in trials)),
    ]


def _spread(seconds: list[float | None]) -> str:
    known = [1000 * second for second in seconds if second is not None]
    return f"{np.median(known):.0f} / {np.percentile(known, 95):.0f}" if known else "-"


SETS = {"tuning": TUNING, "test": TEST, "check": CHECK, "requests": REQUESTS}
KINDS = ("complete", "open", "ambiguous")


def main() -> None:
    parser = argparse.ArgumentParser(description="When the person has finished.")
    parser.add_argument(
        "--patience", nargs="+", default=("quick", "balanced", "patient"), help="settings to try"
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=tuple(SETS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--recogniser", choices=NAMES, default=BUILT_IN)
    parser.add_argument("--detail", action="store_true", help="show every utterance")
    given = parser.parse_args()
    if flite.missing_programs():
        sys.exit("This needs flite.")
    _print(HEAD)
    for patience in given.patience:
        for name, kind in product(given.sets, given.kinds):
            texts, trials = getattr(SETS[name], kind), []
            for trial in measure(patience, texts, given.recogniser) if texts else ():
                trials.append(trial)
                if given.detail:
                    _print([str(trial)])
            if trials:
                _print(row(patience, f"{kind} ({name})", trials))
            skilled = [trial for trial in trials if kind == "complete" and understands(trial.text)]
            if skilled:
                _print(row(patience, f"of them for a skill ({name})", skilled))


def _print(cells: list[str] | tuple[str, ...]) -> None:
    sys.stdout.write(" | ".join(cells) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
