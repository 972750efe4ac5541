"""Kokoro's figures on this machine, in one run, each beside what it must be and what it should be.

    python -m tests.benchmarks.kokoro [--quick] [--parts speed first ...] [--minutes 10]

    speed    time over sound, the published graph on whole sentences beside a session word by word
    first    from the second word to the first sound
    slider   from a move of the rate to the ear
    memory   of the whole program, with Whisper, after some turns and at most
    joins    of two plans: level and pitch against the same place of the same frames planned at
             once, and of the sentence spoken whole, whose words last otherwise because all were
             known; and the same before words where there is no join
    onsets   of words against an aligner's
    rate     asked for and spoken
    natural  DNSMOS P.808 of six voices at their own pace and less at 2 and 6 SPS; it and the words
             wrong (Whisper base) beside the published graph's on whole sentences
    soak     a conversation of --minutes with Whisper and the canceller: underruns
    long     ten minutes of speech: words wrong at its end less at its beginning; only if named

Times are of the processor, one thread, but for memory and soak, so that what else the machine does
matters less; where it is busy, only ratios of one run tell something. Kokoro and Whisper base must
have been fetched. Needs the extra `training`, and for the soak a PulseAudio.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from engine.settings import AudioSettings, SpeechSettings
from engine.text.phonemes import PhonedWord, WordPhonemizer
from engine.training.corpus import grammar
from engine.training.evaluation.voices import Spoken, say
from engine.training.teachers.synthesisers import fetch
from engine.tts.base import AudioFrame, Pcm, Starved, Voice
from engine.tts.kokoro import parts, session, synthesiser
from engine.tts.kokoro.durations import make_script
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE
from engine.tts.kokoro.plan import Plan, PlanRequest, make_plan
from engine.tts.kokoro.symbols import ids
from engine.tts.kokoro.voices import is_fetched, model_file
from engine.tts.kokoro.windows import render

ROOT = Path(__file__).parents[2]
RATES = (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5)  # SPS
LONG_S = 600.0
SIDE = 2  # frames before and behind a join that are compared
BEFORE_WORD = 2  # frames at which a plan ends before a word's onset, as plan.py has it
VOICED_HZ = 10.0
Figures = Iterator[tuple[str, str]]  # what it is and its value


@dataclass(frozen=True)
class Size:
    """How many sentences of each part, moves of the slider, and minutes of the soak."""

    speed: int
    first: int
    moves: int
    joins: int
    onsets: int
    rate: int
    natural: int
    minutes: float


QUICK, WHOLE = Size(10, 15, 12, 6, 8, 3, 6, 1.0), Size(30, 40, 60, 30, 60, 20, 60, 10.0)


@cache
def kokoro() -> tuple[synthesiser.KokoroSynthesiser, Voice, session.VoiceParts]:
    """The model, its first voice, and what that voice's sessions share."""
    model = synthesiser.load(SpeechSettings("kokoro"), lambda *_: None)
    voice = model.voices()[0]
    model.warm(voice)
    return model, voice, model.open(voice, seed=0)._voice


def sentences(count: int) -> list[str]:
    draw = random.Random("kokoro")
    return [grammar.sentence("test", draw) for _ in range(count)]


def spoken(text: str, rate: float | None = None) -> Spoken:
    model, voice, _ = kokoro()
    return say(model, voice, text, rate)


def phoned(text: str, machine: session.VoiceParts) -> tuple[PhonedWord, ...]:
    phonemizer = WordPhonemizer(machine.espeak)
    words = [ready for word in text.split() for ready in phonemizer.push(word)]
    return (*words, *phonemizer.finish())


@cache
def published() -> Any:
    return parts._session(model_file())


def whole_sentence(text: str, machine: session.VoiceParts) -> Spoken:
    """The published graph on all of a sentence, with the style that a session has."""
    words = phoned(text, machine)
    speaker = machine.speaker
    script = make_script(words, [0.0] * len(words), closed=True, accent=speaker.accent)
    tokens = np.array([ids(script.text)], np.int64)
    feeds = {"tokens": tokens, "style": speaker.style, "speed": np.ones(1, np.float32)}
    network = published()
    began = time.process_time()
    samples = network.run(None, feeds)[0]
    return Spoken(text, samples.ravel(), SAMPLE_RATE, cpu_seconds=time.process_time() - began)


# ---------------------------------------------------------------------------- time


def speed(size: Size) -> Figures:
    machine = kokoro()[2]
    spent: defaultdict[str, float] = defaultdict(float)
    whole, live = [], []
    watched = [
        patch.object(owner, name, _timed(getattr(owner, name), spent, name))
        for owner, name in (
            (parts.Parts, "encode"),
            (parts.Parts, "features"),
            (session, "render"),
        )
    ]
    for text in sentences(size.speed):
        sentence = whole_sentence(text, machine)
        whole.append(sentence.cpu_seconds * SAMPLE_RATE / len(sentence.pcm))
        with watched[0], watched[1], watched[2]:
            said = spoken(text)
        live.append(said.cpu_seconds * SAMPLE_RATE / len(said.pcm))
        spent["all"] += said.cpu_seconds
    ratio = np.median(np.array(live) / np.array(whole))
    yield "RTF of the published graph, whole sentences", f"{np.median(whole):.3f}"
    yield "RTF of the session, word by word", f"{np.median(live):.3f}"
    yield "the session's over the published graph's", f"{ratio:.2f}"
    for name in ("encode", "features", "render"):
        yield f"share of {name}", f"{spent[name] / spent['all']:.0%}"


def _timed(genuine: Callable[..., Any], spent: dict[str, float], name: str) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        began = time.process_time()
        try:
            return genuine(*arguments)
        finally:
            spent[name] += time.process_time() - began

    return timed


def first(size: Size) -> Figures:
    model, voice, _ = kokoro()
    times, needed = [], []
    for text in sentences(size.first):
        words = text.split()
        with model.open(voice, seed=0) as speech:
            speech.push_word(words[0])
            assert isinstance(speech.step(), Starved), "one word is held back"
            began = time.process_time()
            for number, word in enumerate(words[1:], start=2):
                speech.push_word(word)
                if isinstance(speech.step(), AudioFrame):
                    times.append(1000 * (time.process_time() - began))
                    needed.append(number)
                    break
    median, p95 = np.percentile(times, (50, 95))
    yield "first sound after the second word", f"{median:.0f} ms, p95 {p95:.0f} ms"
    yield "sentences that needed more than two words", f"{np.mean(np.array(needed) > 2):.0%}"


def slider(size: Size) -> Figures:
    from tests.benchmarks import slider_to_ear

    with slider_to_ear.stepped() as (watch, wait):
        moves, dry = slider_to_ear.measure(
            watch, wait, size.moves, AudioSettings().lead_ms, "kokoro"
        )
    for name, label in (("frame", "first frame"), ("word", "next word")):
        median, p95 = np.percentile([getattr(move, name) for move in moves], (50, 95))
        yield f"slider to the {label} at the new rate", f"{median:.0f} ms, p95 {p95:.0f} ms"
    yield "loudspeaker ran dry, the first sound's own computing included", str(dry)


# ---------------------------------------------------------------------------- the whole program


def memory(size: Size) -> Figures:
    told = _run("memory", "--recognisers", "whisper", "--voice", "kokoro").splitlines()
    for label, sign in (("after some turns", "after a turn"), ("at most", "at most")):
        line = [each for each in told if f"engine, {sign}" in each][-1]
        yield f"memory of the whole program {label}", f"{line.split(' | ')[1]} MB"


def soak(size: Size) -> Figures:
    how = ("--voice", "kokoro", "--recogniser", "whisper", "--idle-s", "10", "--json")
    report = json.loads(_run("soak", "--minutes", str(size.minutes), *how))
    yield (
        f"underruns in {size.minutes:g} minutes, {report['turns']} turns",
        str(report["underruns"]),
    )
    for name in ("overruns", "rate_moves", "wrong", "faults", "highest_mb", "busy_cpu_percent"):
        yield f"soak: {name.replace('_', ' ')}", str(report[name])


def _run(name: str, *arguments: str) -> str:
    """What a benchmark in a process of its own prints."""
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments]
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout


# ---------------------------------------------------------------------------- sound


def joins(size: Size) -> Figures:
    found: dict[str, list[tuple[float, float]]] = {
        f"jumps {place} against {other}": []
        for other in ("the same frames planned at once", "spoken whole")
        for place in ("at joins", "elsewhere")
    }
    for text in sentences(size.joins):
        plans: list[tuple[int, Plan]] = []

        def noted(*given: Any, plans: list[tuple[int, Plan]] = plans) -> Plan:
            plan = make_plan(*given)
            plans.append((given[4], plan))
            return plan

        with patch.object(session, "make_plan", noted):
            pcm = spoken(text).pcm
        places = [done for done, _ in plans if done]
        if len(places) + 1 == len(plans):  # one sentence
            plan = plans[-1][1]
            words = [int(each) - BEFORE_WORD for each in plan.onsets[1:]]
            others = [at for at in words if not any(abs(at - each) < 4 for each in places)]
            compared = zip(found.values(), [places, others] * 2, strict=True)
            for n, (jumps, frames) in enumerate(compared):
                jumps += _jumps(plan, pcm, _at_once(plan) if n < 2 else _whole(plan), frames)
    for name, jumps in found.items():
        level, pitch = np.nanmedian(np.abs(jumps), axis=0)
        yield f"{name} ({len(jumps)})", f"{level:.2f} dB, {pitch:.1%}"


def _whole(plan: Plan) -> Plan:
    """The same words, all known from the first on: they last otherwise."""
    machine, known = kokoro()[2], plan.request
    request = PlanRequest(known.words, known.paces, None, True)
    return make_plan(machine.parts, machine.speaker, request, None, 0)


def _at_once(plan: Plan) -> Plan:
    """The same frames of each symbol, without a join."""
    machine = kokoro()[2]
    features, pitch, energy = machine.parts.features(
        plan.encoded, machine.speaker.style, plan.frames
    )
    source = machine.parts.source
    curves, turns = source.curves(pitch, energy), source.turns(pitch)
    return replace(plan, features=features, pitch=pitch, energy=energy, curves=curves, turns=turns)


def _jumps(plan: Plan, pcm: Pcm, whole: Plan, places: Sequence[int]) -> list[tuple[float, float]]:
    """Of level (dB) and pitch (a share; NaN where a side has none) at frames of a plan, less those
    of another plan of the same words.
    """
    machine = kokoro()[2]
    whole_pcm = render(machine.parts, machine.voice_inputs, whole, whole.first, whole.limit)
    found = []
    for frame in places:
        other = round(float(np.interp(frame, plan.edges, whole.edges)))
        if frame < plan.limit - SIDE and other < whole.limit - SIDE:
            here, there = _jump(plan, pcm, frame), _jump(whole, whole_pcm, other)
            found.append((here[0] - there[0], here[1] - there[1]))
    return found


def _jump(plan: Plan, pcm: Pcm, frame: int) -> tuple[float, float]:
    at = FRAME * (frame - plan.first)
    level = [_level(pcm[max(0, at + FRAME * n) :][: FRAME * SIDE]) for n in (-SIDE, 0)]
    hertz = [_hertz(plan.pitch[2 * (frame + n) :][: 2 * SIDE]) for n in (-SIDE, 0)]
    return level[1] - level[0], hertz[1] / hertz[0] - 1


def _level(pcm: Pcm) -> float:
    return float(10 * np.log10(np.mean(np.square(pcm, dtype=np.float64)) + 1e-6))  # not below -60


def _hertz(pitch: npt.NDArray[np.float32]) -> float:
    return float(pitch.mean()) if pitch.min() > VOICED_HZ else float("nan")


def onsets(size: Size) -> Figures:
    from engine.training.evaluation.voices import Aligner

    aligner, gaps = Aligner(), list[float]()
    for text in sentences(size.onsets):
        said = spoken(text)
        starts = aligner.word_starts(said.pcm, said.sample_rate, text)
        if len(starts) == len(said.onsets):
            gaps += [1000 * (own - other) for own, other in zip(said.onsets, starts, strict=True)]
    distances = np.abs(gaps)
    yield (
        f"onsets of {len(gaps)} words against an aligner's",
        f"mean {distances.mean():.0f} ms, median {np.median(distances):.0f} ms, "
        f"{np.mean(gaps):+.0f} ms on average",
    )


def rate(size: Size) -> Figures:
    texts = sentences(size.rate)
    table = np.array([[spoken(text, asked).rate for text in texts] for asked in RATES])
    means = table.mean(axis=1)
    errors = np.abs(means / RATES - 1)
    each = ", ".join(f"{got:.2f}" for got in means)
    yield f"mean rate at {', '.join(f'{asked:g}' for asked in RATES)} SPS", each
    yield "mean error of the rate", f"{errors.mean():.1%}, worst {errors.max():.1%}"
    yield "error of a single sentence", f"{np.abs(table / np.array(RATES)[:, None] - 1).mean():.1%}"
    monotone = np.mean(np.all(np.diff(table, axis=0) > 0, axis=0))
    yield "monotone", f"{'yes' if np.all(np.diff(means) > 0) else 'no'}, sentences {monotone:.0%}"


def natural(size: Size) -> Figures:
    from engine.training.evaluation.voices import (
        WhisperJudge,
        naturalness,
        phonemizer_library,
        words_wrong,
    )

    model, whisper = kokoro()[0], WhisperJudge(fetch("whisper-base"))
    scores: defaultdict[str, list[float]] = defaultdict(list)
    wrong: Counter[str] = Counter()
    texts = sentences(size.natural)
    for number, text in enumerate(texts):
        voice = model.voices()[number % 6]
        model.warm(voice)
        with model.open(voice, seed=0) as speech:
            whole = whole_sentence(text, speech._voice)
        each = {
            "word by word": say(model, voice, text),
            "of whole sentences": whole,
            **{f"at {asked:g} SPS": say(model, voice, text, asked) for asked in (2.0, 6.0)},
        }
        for name, said in each.items():
            heard = whisper.hear(said.pcm, said.sample_rate)
            wrong[name] += words_wrong(text, heard, phonemizer_library())
            if score := naturalness(said):
                scores[name].append(score)
    count = sum(len(text.split()) for text in texts)
    for name, values in scores.items():
        less = np.array(values) - scores["word by word"]
        yield (
            f"P.808 {name}",
            f"{np.mean(values):.2f}, {np.mean(less):+.2f} \u00b1 "
            f"{1.96 * np.std(less) / len(less) ** 0.5:.2f} beside word by word; words wrong "
            f"{wrong[name] / count:.1%} of {count}",
        )


def long(size: Size) -> Figures:
    from engine.training.evaluation.voices import syllables_of
    from tests.engine.training.bigram import errors_by_minute

    draw, texts, syllables = random.Random("long"), list[str](), 0
    while syllables < LONG_S * RATES[3]:
        texts.append(grammar.sentence("test", draw))
        syllables += syllables_of(texts[-1])
    sentence = spoken(" ".join(texts), RATES[3])
    minutes = errors_by_minute(sentence)
    more = 100 * (minutes[-1] - minutes[0])
    yield f"words wrong in minute {len(minutes)} less in the first", f"{more:+.1f} points"
    yield "words wrong by the minute, as pocketsphinx hears", ", ".join(f"{m:.1%}" for m in minutes)
    yield "ended by itself", str(sentence.ended)


# What the figures whose names begin so must be, and should be.
TARGETS = {
    "RTF of the session": ("0.35", "0.22"),
    "first sound": ("150 ms", "90 ms"),
    "slider to the first": ("250 ms", "150 ms"),
    "slider to the next": ("400 ms", "300 ms"),
    "memory": ("900 MB", "700 MB"),
    "underruns": ("0", "0"),
    "jumps at joins": ("1 dB, 3 %", ""),
    "onsets": ("40 ms", "25 ms"),
    "mean error": ("4 %", "2 %"),
    "monotone": ("yes", "yes"),
    "words wrong in": ("0.5 points", "0"),
}
PARTS: dict[str, Callable[[Size], Figures]] = {
    each.__name__: each
    for each in (speed, first, slider, memory, joins, onsets, rate, natural, soak, long)
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Kokoro's figures on this machine.")
    parser.add_argument("--quick", action="store_true", help="few sentences")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS][:-1])
    parser.add_argument("--minutes", type=float, help="of the soak")
    given = parser.parse_args()
    if not is_fetched():
        sys.exit("Kokoro is not on this machine. Fetch it with: rubato models get kokoro")
    size = QUICK if given.quick else WHOLE
    size = Size(**{**vars(size), "minutes": given.minutes or size.minutes})
    sys.stdout.write(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    for name in given.parts:
        for figure, value in PARTS[name](size):
            limits = next((both for key, both in TARGETS.items() if figure.startswith(key)), None)
            beside = f" | must {limits[0]} | goal {limits[1] or '-'}" if limits else ""
            sys.stdout.write(f"{figure}: {value}{beside}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
