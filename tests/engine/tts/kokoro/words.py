"""Sentences for tests of Kokoro, with their phones."""

import random
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime

from engine.text.phonemes import Espeak, PhonedWord
from engine.training.corpus import grammar
from engine.tts.kokoro.graph.published import ENERGY, FEATURES, PITCH, Published
from engine.tts.kokoro.parts import VoiceInputs
from engine.tts.kokoro.plan import Plan, PlanRequest, Speaker, make_plan
from engine.tts.kokoro.statistics import statistics
from tests.engine.text.cases import phoned as phoned_words
from tests.engine.tts.kokoro.small import scratch, small_parts, small_style

TEXT = "We will meet the others at seven, by the old river."

OWN_RATE = 3.2  # SPS of the made-up graph


@cache
def espeak(language: str = "en-us") -> Espeak:
    return Espeak(language)


@cache
def phoned(text: str = TEXT, language: str = "en-us") -> tuple[PhonedWord, ...]:
    return tuple(phoned_words(text.split(), espeak(language)))


def sentences(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [grammar.sentence("test", draw) for _ in range(count)]


def plan_request(
    words: tuple[PhonedWord, ...], rate: float | None = None, *, closed: bool = True
) -> PlanRequest:
    return PlanRequest(words, (1.0,) * len(words), rate, closed)


@cache
def learnt() -> tuple[VoiceInputs, float]:
    """What the made-up graph says of TEXT; with it a window sounds as in that sentence."""
    sentences = [phoned(TEXT)]
    return statistics(small_parts(), small_style(), sentences, scratch("text"), accent="en-us")


def planned(asked: PlanRequest, before: Plan | None = None, done: int = 0) -> Plan:
    speaker = Speaker(small_style(), accent="en-us", own_rate=OWN_RATE)
    return make_plan(small_parts(), speaker, asked, before, done)


def of_graph(file: Path, output: str, style: np.ndarray, plan: Plan) -> np.ndarray:
    """Samples that a graph as it is makes of a plan, at an output of this name."""
    part = Published(file).part(("style", FEATURES, PITCH, ENERGY), (output,))
    session = onnxruntime.InferenceSession(
        part.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    given = {FEATURES: plan.features.T[None], PITCH: plan.pitch[None], ENERGY: plan.energy[None]}
    audio: np.ndarray = session.run(None, {"style": style, **given})[0].reshape(-1)
    return audio


def frames_apart(one: np.ndarray, other: np.ndarray, frame: int) -> np.ndarray:
    """How far apart two sounds are in every frame, as a share of the first one's level."""
    apart = (one - other).reshape(-1, frame).std(axis=1)
    level: np.ndarray = apart / one.std()
    return level
