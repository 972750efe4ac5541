"""Being called by name: how often the phrase is found, what else wakes, and what listening costs.

    python -m tests.benchmarks.wake                          all of it; 10 h of talk take an hour
    python -m tests.benchmarks.wake found own --phrases "hey rubato" "good evening zaphod"
    python -m tests.benchmarks.wake talk --hours 2 --processes 2
    rubato wake "hey rubato"                                 teaches a phrase before: then so

What is measured of a phrase that was taught on this machine is how it is found then, else
pocketsphinx.

All speech is synthetic (tests/benchmarks/wake/speech.py), so is the room. *found*: calls by voices
that nothing was tuned with, near the microphone, steady noise 30 and 10 dB below them. *talk*:
hours in which nobody says the phrase, all of it given to the spotter as if voice had been noticed.
*own*: the whole engine says the phrase itself, in the room, with the echo canceller. *cost*:
processor time of the ears, asleep and without a phrase, while nobody speaks and while somebody
does.

Goals: found 90 %, at most 0.5 false wakes an hour, none by its own reply, and inside the 3 % of a
core that the whole program may take while nobody speaks.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import repeat
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path

from engine.asr.base import KeywordSpotter
from engine.asr.wake.phrase import normal, sounds
from engine.asr.wake.spotter import make_spotter
from engine.audio.base import Pcm
from engine.messages.commands import SendText
from engine.messages.events import Event, SleepChanged, TurnEnded
from engine.settings import Settings, WakeSettings
from tests.benchmarks.wake import speech
from tests.simulation.room import BLOCK, RATE, Acoustics, Room
from tests.simulation.stepped import SPEECH, SteppedEngine

PHRASES = ("hey rubato", "computer please", "okay computer", "good evening zaphod", "computer")
NOISES_DB = (30.0, 10.0)  # below the person's level
PIECE = RATE // 20  # as the ears read while nobody has the floor
BEFORE_S, AFTER_S = 0.5, 1.0  # around a call
BREATH_S = 0.6  # of silence, after which the ears start again
OWN_ROOMS = (Acoustics(echo_db=-6, noise_db=20), Acoustics(echo_db=6, noise_db=20, delay_ms=200))
STAY_S = 2.0
TALK_S = 60.0  # of each kind, to see what it costs


@dataclass(frozen=True)
class Woken:
    """A false wake, and the sentence that ended with it."""

    chunk: str
    sentence: str


def heard(pcm: Pcm, noise_db: float) -> Pcm:
    """The same in the room."""
    noise = _noise(noise_db)
    mixed: Pcm = pcm + np.resize(noise, len(pcm))
    return mixed


@cache
def _noise(below_db: float) -> Pcm:
    """Ten seconds of an empty room."""
    room = Room(Acoustics(echo_db=-100, noise_db=below_db))
    return np.concatenate([room.step(np.zeros(BLOCK, np.float32)) for _ in range(1000)])


def listening(phrase: str) -> KeywordSpotter:
    """Also for a phrase that the settings would refuse."""
    return make_spotter(normal(phrase), sounds(normal(phrase).split()))


def wakes(spotter: KeywordSpotter, pcm: Pcm) -> bool:
    """Whether the phrase is found in what is pushed now."""
    pieces = (pcm[first : first + PIECE] for first in range(0, len(pcm), PIECE))
    return any(spotter.push(piece) is not None for piece in pieces)


def found(phrase: str, folder: Path) -> Iterator[str]:
    calls = speech.phrase_calls(phrase, folder, tuned=False)
    spotter = listening(phrase)
    for noise_db in NOISES_DB:
        count = 0
        for call in calls:
            before, after = (np.zeros(round(s * RATE), np.float32) for s in (BEFORE_S, AFTER_S))
            spotter.reset()
            count += wakes(spotter, heard(np.concatenate((before, call, after)), noise_db))
        share = count / len(calls)
        yield f"{phrase}: found {count} of {len(calls)} ({share:.0%}), noise {noise_db:g} dB below"


def in_chunk(phrase: str, chunk: speech.Chunk, folder: Path) -> list[Woken]:
    """What wakes in a chunk."""
    spotter, woken, said = listening(phrase), [], speech.sentences_of(chunk, folder)
    for text, pcm in said:
        if phrase in normal(text):
            continue
        if wakes(spotter, heard(pcm, NOISES_DB[0])):
            woken.append(Woken(chunk.name, text))
            spotter.reset()
        elif not np.any(pcm[-round(BREATH_S * RATE) :]):
            spotter.reset()
    return woken


def talk(phrase: str, folder: Path, hours: float, processes: int) -> Iterator[str]:
    chunks = speech.talk(hours, tuned=False)
    with ProcessPoolExecutor(processes) as pool:
        woken = [
            w for part in pool.map(in_chunk, repeat(phrase), chunks, repeat(folder)) for w in part
        ]
    true_hours = len(chunks) * speech.CHUNK_S / 3600
    kinds = Counter(w.chunk.split()[1] for w in woken)
    rate = len(woken) / true_hours
    yield f"{phrase}: {len(woken)} false wakes in {true_hours:.1f} h, {rate:.2f} an hour"
    yield f"    by voices of {', '.join(f'{kind} ({count})' for kind, count in kinds.items())}"
    yield from (f"    {w.chunk}: {w.sentence}" for w in woken)


def has_more(engine: SteppedEngine, turns: int) -> bool:
    return count_of(engine, TurnEnded) > turns


def own(phrase: str) -> Iterator[str]:
    reply = f"You can say {phrase}. {phrase.capitalize()}! Then I wake up. People call me {phrase}."
    settings = Settings(
        speech=SPEECH, wake=WakeSettings(on=True, phrase=phrase, stay_awake_s=STAY_S)
    )
    for acoustics in OWN_ROOMS:
        with SteppedEngine(acoustics, reply, settings) as engine:
            engine.run(STAY_S + 1.0)
            woken = 0
            for _ in range(3):
                engine.post(SendText("tell me a story about the hills"))
                ended = count_of(engine, TurnEnded)
                engine.run_until(partial(has_more, engine, ended), at_most=60)
                after = len(engine.events)
                engine.run(STAY_S + 3.0)
                told = [event for _, event in engine.events[after:]]
                woken += sum(isinstance(event, SleepChanged) and not event.asleep for event in told)
        echo = f"echo {acoustics.echo_db:g} dB"
        yield f"{phrase}: woken {woken} times by 3 replies that say it 3 times, {echo}"


def count_of(engine: SteppedEngine, kind: type[Event]) -> int:
    return sum(isinstance(event, kind) for _, event in engine.events)


def cost(phrase: str, folder: Path) -> Iterator[str]:
    chunk = next(chunk for chunk in speech.talk(1.0, tuned=False) if chunk.kind == "flite")
    said = np.concatenate([pcm for _, pcm in speech.sentences_of(chunk, folder)])
    for name, pcm in (("nobody speaks", said[:0]), ("somebody speaks", said[: int(TALK_S * RATE)])):
        shares = {on: _share(WakeSettings(on, phrase, STAY_S), pcm) for on in (False, True)}
        yield (
            f"{phrase}, {name}: the ears take {shares[True]:.2%} of a core asleep, "
            f"{shares[False]:.2%} where there is no phrase"
        )


def _share(wake: WakeSettings, pcm: Pcm) -> float:
    """Of a core, that the ears take in TALK_S."""
    with SteppedEngine(
        Acoustics(echo_db=-100), "Yes.", Settings(speech=SPEECH, wake=wake)
    ) as engine:
        engine.run(STAY_S + 1.0)
        before, began = engine.busy()["listener"] * engine.now, engine.now
        engine.room.say(pcm)
        engine.run(TALK_S)
        return (engine.busy()["listener"] * engine.now - before) / (engine.now - began)


def lines(kind: str, phrase: str, given: argparse.Namespace) -> Iterator[str]:
    match kind:
        case "found":
            yield from found(phrase, given.folder)
        case "talk":
            yield from talk(phrase, given.folder, given.hours, given.processes)
        case "own":
            yield from own(phrase)
        case "cost":
            yield from cost(phrase, given.folder)


def main() -> None:
    kinds = ("found", "talk", "own", "cost")
    parser = argparse.ArgumentParser(description="How well it answers to a name.")
    parser.add_argument("kinds", nargs="*", default=kinds, help=f"of {', '.join(kinds)}")
    parser.add_argument("--phrases", nargs="+", default=PHRASES)
    parser.add_argument("--hours", type=float, default=10.0, help="of other talk")
    parser.add_argument("--processes", type=int, default=1, help="for the talk")
    parser.add_argument("--folder", type=Path, default=user_cache_path("rubato") / "wake-speech")
    given = parser.parse_args()
    for kind in given.kinds:
        for phrase in given.phrases:
            for line in lines(kind, phrase, given):
                sys.stdout.write(line + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
