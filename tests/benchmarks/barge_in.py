"""Interrupting by voice over loudspeakers, in a simulated room: how often and how soon it works.

Invariant: every figure comes from the whole engine with its real canceller, voice detector,
recogniser and voice (the formant voice, if no other is named); only the room, the people and the
clock are made of arithmetic.

    python -m tests.benchmarks.barge_in                   all of it (about ten minutes)
    python -m tests.benchmarks.barge_in --minutes 2 --levels -6 0 --recogniser whisper
    python -m tests.benchmarks.barge_in --minutes 1 --levels 0 6 --voice kokoro
"""

import argparse
import re
import sys
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

import numpy as np

from engine.asr.pick import BUILT_IN, NAMES
from engine.audio.echo import canceller as echo
from engine.settings import SpeechSettings
from tests.end_to_end import spoken as flite
from tests.simulation import people
from tests.simulation.people import Sound
from tests.simulation.room import BLOCK, RATE, Acoustics, Room
from tests.simulation.stepped import SPEECH, recogniser
from tests.simulation.trials import DUCKED, SILENT, Trial, bench

MARGIN_S = 0.3  # of silence on both sides of what is said alone
LEVELS_DB = (-12.0, -6.0, 0.0, 6.0)
# Every level is heard in rooms of these kinds, in turn.
ROOMS = (
    Acoustics(delay_ms=80, noise_db=20),
    Acoustics(delay_ms=20, noise_db=15, reverberation_s=0.2, drive=2.0),
    Acoustics(delay_ms=150, noise_db=10, reverberation_s=0.4, drift_ppm=50),
    Acoustics(delay_ms=300, noise_db=20, reverberation_s=0.3, drift_ppm=-100),
)


@dataclass
class Row:
    """What happened at one level of echo."""

    echo_db: float
    minutes: float = 0.0
    self_ducks: int = 0
    self_pauses: int = 0
    asked: list[Trial] = field(default_factory=list)
    nodded: list[Trial] = field(default_factory=list)
    noises: list[Trial] = field(default_factory=list)
    listener: list[float] = field(default_factory=list)  # share of a core while speaking
    words: int = 0  # of what was asked that the recogniser gets right when nothing is played
    kept: int = 0  # that it gets right in what interrupted a reply; by chance it may be more
    transcripts: list[str] = field(default_factory=list)
    overheard: list[str] = field(default_factory=list)  # one a self-turn

    @property
    def remembered(self) -> list[bool]:
        """Of every interruption: whether what is kept of the reply is what was heard of it."""
        return [trial.remembered for trial in self.asked if trial.remembered is not None]

    def cells(self) -> list[str]:
        return [
            f"{self.echo_db:+.0f} dB",
            f"{len(self.overheard)} in {self.minutes:.0f} min",
            f"{self.self_ducks}, {self.self_pauses}",
            f"{len(self.asked) - stopped(self.asked)}/{len(self.asked)}",
            f"{stopped(self.nodded)}/{len(self.nodded)}",
            f"{stopped(self.noises)}/{len(self.noises)}",
            _spread([trial.duck_s for trial in self.asked]),
            _spread([trial.silent_s for trial in self.asked]),
            _spread([trial.stop_s for trial in self.asked]),
            _spread([trial.pause_s for trial in self.nodded + self.noises if trial.pause_s]),
            f"{100 * self.kept / max(1, self.words):.0f} % ({self.kept}/{self.words})",
            f"{self.remembered.count(True)}/{len(self.remembered)}",
            f"{100 * float(np.mean(self.listener)):.1f} %",
        ]


HEAD = (
    "echo",
    "self-turns",
    "false ducks, pauses",
    "missed",
    "false by nods",
    "by noises",
    "onset to duck ms (median / p95)",
    "to silence",
    "to the end confirmed",
    "pause for nothing ms",
    "words right, of those without echo",
    "history right",
    "listener's core",
)


def measure(
    echo_db: float,
    *,
    minutes: float,
    trials: int | None = None,
    ears: str = BUILT_IN,
    voice: SpeechSettings = SPEECH,
) -> Row:
    """One level of echo, in all rooms; `trials` of each kind per room (None: all there are)."""
    row = Row(echo_db)
    share = len(ROOMS)
    for number, room in enumerate(ROOMS):
        with bench(
            replace(room, echo_db=echo_db, seed=number + 1), ears=ears, voice=voice
        ) as reply:
            reply.run(60 * minutes / share)
            row.minutes += minutes / share
            row.overheard.extend(f"{room}, {told}" for told in reply.interruptions())
            row.self_ducks += len(reply.below(DUCKED))
            row.self_pauses += len(reply.below(SILENT))
            row.listener.append(reply.engine.busy()["listener"])
            for sounds, trials_of in (
                (list(people.interruptions()), row.asked),
                (list(people.nods()), row.nodded),
                (people.noises(), row.noises),
            ):
                mine: list[Sound] = sounds[number::share][:trials]
                trials_of.extend(reply.trial(sound) for sound in mine)
        _compare(row, list(people.interruptions())[number::share][:trials], room, ears)
    return row


def _compare(row: Row, sounds: list[Sound], room: Acoustics, ears: str) -> None:
    """Count the words of the last trials, and those that are right without an echo. Two hearings
    without an echo, in other noise, have 80 % of their words in common, for many are wrong in both;
    so what was said is the measure of both.
    """
    for sound, trial in zip(sounds, row.asked[-len(sounds) :], strict=True):
        alone = heard_alone(sound, room, ears=ears)
        row.words += words_right(alone, sound.text)
        row.kept += words_right(trial.heard, sound.text)
        row.transcripts.append(f"{sound.name}: {trial.heard!r}, without echo {alone!r}")


def heard_alone(sound: Sound, acoustics: Acoustics, *, ears: str = BUILT_IN) -> str:
    """What the recogniser makes of a sound in this room while nothing is played."""
    room = Room(replace(acoustics, echo_db=-200.0))
    silence = np.zeros(BLOCK, np.float32)
    blocks = (len(sound.pcm) + 2 * round(MARGIN_S * RATE)) // BLOCK
    room.say(sound.pcm, at=round(MARGIN_S * RATE))
    recognition = recogniser(ears).open()
    for _ in range(blocks):
        recognition.push(room.step(silence))
    text = recognition.finish().text
    recognition.close()
    return text


def words_right(heard: str, text: str) -> int:
    """How many words of `text` are in what was `heard`, in order."""
    said, meant = (re.findall(r"[a-z']+", words.lower()) for words in (heard, text))
    blocks = SequenceMatcher(None, said, meant, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def stopped(trials: list[Trial]) -> int:
    """How many ended the reply."""
    return sum(trial.stop_s is not None for trial in trials)


def _spread(seconds: list[float | None]) -> str:
    """What was so before says nothing of how soon it comes."""
    known = [1000 * second for second in seconds if second]
    before = sum(second == 0 for second in seconds)
    spread = f"{np.median(known):.0f} / {np.percentile(known, 95):.0f}" if known else "-"
    return f"{spread} ({before} before)" if before else spread


def table(rows: list[Row]) -> str:
    cells = [list(HEAD), *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Interrupting by voice in a simulated room.")
    parser.add_argument("--minutes", type=float, default=10, help="of reply per level of echo")
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS_DB, help="dB")
    parser.add_argument("--trials", type=int, help="of each kind per room; all when not given")
    parser.add_argument("--recogniser", choices=NAMES, default=BUILT_IN)
    parser.add_argument("--voice", default=SPEECH.engine, help="the synthesiser")
    parser.add_argument("--detail", action="store_true", help="show what went wrong, and words")
    given = parser.parse_args()
    if flite.missing_programs() or not echo.installed():
        sys.exit("This needs flite and the package livekit.")
    rows = []
    for level in given.levels:
        row = measure(
            level,
            minutes=given.minutes,
            trials=given.trials,
            ears=given.recogniser,
            voice=SpeechSettings(given.voice),
        )
        rows.append(row)
        wrong = [trial for trial in row.asked if trial.stop_s is None]
        wrong += [trial for trial in row.asked if trial.remembered is False]
        wrong += [trial for trial in row.nodded + row.noises if trial.stop_s is not None]
        for trial in wrong if given.detail else ():
            sys.stderr.write(f"{level:+.0f} dB: {trial}\n")
        for line in (*row.overheard, *row.transcripts) if given.detail else ():
            sys.stderr.write(f"{level:+.0f} dB: {line}\n")
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
