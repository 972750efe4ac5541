"""Measure how far the formant voice is from the rates it is asked for:

python -m tests.benchmarks.formant_rates

Rates count the syllables of the whole utterance over its whole length, pauses included.
"""

import sys

from engine.tts.base import AudioFrame
from engine.tts.espeak.model import EspeakModel

TEXTS = {
    "mixed": "The weather in the mountains will change quickly tomorrow afternoon, and nobody "
    "knows exactly how cold it gets. I have set a timer for ten minutes and will tell "
    "you when it is over. You asked about the longest river of the country, which is "
    "about two thousand miles long. It is a quarter past seven.",
    "short": "Yes. It is ten past four. Sure, I can do that. The lamp is off now. Ten miles is "
    "about sixteen kilometres. What else? Good night, then.",
    "fluent": "if you want to go to the station you have to take the second street on the left "
    "and walk along the river until you see the bridge and then you cross it and turn "
    "right behind the old library and there it is",
    "long": "Electromagnetic radiation propagates independently of atmospheric conditions, "
    "although considerable attenuation characteristically accompanies precipitation. "
    "International organisations systematically investigate environmental "
    "sustainability.",
}
RATES = (None, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)


def measure(model: EspeakModel, text: str, *, rate: float | None, voice: int = 0) -> float:
    """SPS over the whole of `text`."""
    with model.open(model.voices()[voice], seed=1) as session:
        session.rate = rate
        for word in text.split():
            session.push_word(word)
        session.end_input()
        frames = []
        while isinstance(step := session.step(), AudioFrame):
            frames.append(step)
    seconds = sum(len(frame.pcm) for frame in frames) / model.info.sample_rate
    return session.syllables / seconds


def main() -> None:
    model = EspeakModel()
    write = sys.stdout.write
    write(f"{'voice':10}{'target':>8}" + "".join(f"{name:>16}" for name in TEXTS) + "\n")
    for number, voice in enumerate(model.voices()):
        for rate in RATES:
            write(f"{voice.name:10}{rate or 'own':>8}")
            for text in TEXTS.values():
                measured = measure(model, text, rate=rate, voice=number)
                error = "" if rate is None else f" {measured / rate - 1:+.1%}"
                write(f"{measured:8.2f}{error:8}")
            write("\n")
    model.close()


if __name__ == "__main__":
    main()
