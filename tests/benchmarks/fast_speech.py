"""How much of speech at 7 to 13 syllables a second is understood (Whisper base).

    python -m tests.benchmarks.fast_speech [--engine kokoro] [--voices Heart,Emma]
        [--rates 7,8,9,10,11,12,13] [--texts 12] [--own-to 9]

Each text is two sentences that no training uses, spoken word by word as in a conversation. Behind
the words wrong is the rate that was measured, and in brackets that of the program's own meter.
--own-to: let Kokoro's own durations go to this rate; above it, the speech is stretched.
"""

import argparse
import random
import sys
from typing import Final

import numpy as np

from engine.languages import ENGLISH
from engine.runtime.turn.breaks import Breaks
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.text.word import Word
from engine.training.corpus import grammar
from engine.training.evaluation.voices import WhisperJudge, speech_seconds, words_wrong
from engine.training.teachers.synthesisers import fetch
from engine.tts import registry
from engine.tts.base import AudioFrame, Finished, Pcm, RateRange, TtsModel, Voice
from engine.tts.kokoro import session as kokoro_session
from engine.tts.kokoro.windows import phoned

RATES: Final = "7,8,9,10,11,12,13"


def texts(count: int) -> list[str]:
    draw = random.Random("fast speech")
    sentences = [grammar.sentence("test", draw) for _ in range(2 * count)]
    return [" ".join(pair) for pair in zip(sentences[::2], sentences[1::2], strict=True)]


def say(model: TtsModel, voice: Voice, text: str, rate: float) -> tuple[Pcm, float, int]:
    """Return the samples, the last measured mean rate, and the number of onsets."""
    frames: list[AudioFrame] = []
    with Breaks(model.open(voice, seed=7), model.info.sample_rate) as speech:
        speech.rate = rate
        for word in text.split():
            speech.push(Word(word, 0, 0))
        speech.end_input()
        while not isinstance(step := speech.step(), Finished):
            assert isinstance(step, AudioFrame)
            frames.append(step)
    mean = next((frame.mean for frame in reversed(frames) if frame.mean), 0.0)
    return (
        np.concatenate([frame.pcm for frame in frames]),
        mean,
        sum(len(frame.onsets) for frame in frames),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="kokoro")
    parser.add_argument("--voices", default="")
    parser.add_argument("--rates", default=RATES)
    parser.add_argument("--texts", type=int, default=12)
    parser.add_argument("--own-to", type=float, default=None)
    options = parser.parse_args()
    if options.own_to:
        kokoro_session.RATE_RANGE = RateRange(1.0, options.own_to)  # type: ignore[misc]
    model = registry.load(SpeechSettings(options.engine, device="cpu"), lambda *_: None)
    judge, espeak = WhisperJudge(fetch("whisper-base")), Espeak()
    chosen = texts(options.texts)
    words = sum(len(text.split()) for text in chosen)
    wanted = list(filter(None, options.voices.split(",")))
    voices = [each for each in model.voices() if each.name in wanted] or list(model.voices()[:1])
    for voice in (each for each in voices if each.language == ENGLISH):
        for rate in map(float, options.rates.split(",")):
            wrong, syllables, seconds, means = 0, 0, 0.0, []
            for text in chosen:
                pcm, mean, onsets = say(model, voice, text, rate)
                assert onsets == len(text.split())
                wrong += words_wrong(
                    text.casefold(), judge.hear(pcm, model.info.sample_rate).casefold(), espeak
                )
                syllables += sum(word.syllables for word in phoned(espeak, text))
                seconds += speech_seconds(pcm, model.info.sample_rate)
                means.append(mean)
            sys.stdout.write(
                f"{options.engine} {voice.name} {rate:g}: {wrong / words:.1%} of {words} wrong, "
                f"{syllables / seconds:.1f} SPS ({np.mean(means):.1f})\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
