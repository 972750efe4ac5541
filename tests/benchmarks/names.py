"""How many of fifty spoken names are written right, and how often a name is written that was not
said.

    python -m tests.benchmarks.names [--voices Heart,Emma] [--names FILE] [--spoken] [--unseen]
        [--talk 60]

Kokoro's voices say each name of names.toml as its said form has it, in a sentence; Whisper base
writes it without the list, with the list as hotwords alone, by the correction alone, and with both.
Without --spoken, only false corrections are counted: the ordinary talk of tests/engine/llm/skills,
with capitals where Whisper writes them, and the same sentences with other people's names in them,
each corrected with twenty lists of fifty names. --talk: the same by ear, with one list.
"""

import argparse
import random
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import soxr

from engine.asr.base import SAMPLE_RATE
from engine.asr.heard_names import HeardNames, NameCorrection
from engine.asr.whisper.model import load_model
from engine.asr.whisper.recogniser import WhisperRecogniser
from engine.audio.base import Pcm
from engine.languages import ENGLISH
from engine.resources import resource
from engine.settings import SpeechSettings
from engine.text.names import Name, Names
from engine.text.paced import PacedText
from engine.text.phonemes import Espeak
from engine.training.evaluation.voices import say, words_wrong
from engine.training.teachers.synthesisers import fetch
from engine.tts.kokoro import synthesiser

TALK: Final = Path(__file__).parents[1] / "engine" / "llm" / "skills" / "first_hour"
FILES: Final = ("ordinary.txt", "sayings.txt", "near_misses.txt")
UNSEEN: Final = ("idiomatic.txt", "unseen.txt", "similar.txt", "new_user.txt")
LISTS, OF_A_LIST = 20, 50
OTHERS: Final = ("James", "Mary", "Sean", "Sarah", "London", "Paris", "Emma", "Oliver", "Karen")


def read(file: Path) -> tuple[Names, list[str]]:
    table = tomllib.loads(file.read_text("utf-8"))
    return tuple(Name(*each) for each in table["names"].items()), table["sentences"]["all"]


class Hotwords(NameCorrection):
    """No correction: hotwords alone."""

    def corrected(self, text: str, names: Names, language: str) -> str:
        return text


def spoken(names: Names, sentences: list[str], voices: list[str]) -> None:
    model = synthesiser.load(SpeechSettings("kokoro"), lambda *_: None)
    known = {voice.name: voice for voice in model.voices()}
    loaded = load_model(str(fetch("whisper-base")), ENGLISH)
    plain = WhisperRecogniser(loaded)
    hot = WhisperRecogniser(loaded, names=lambda: names)
    hot._decoder = replace(hot._decoder, correction=Hotwords())
    heard_names = HeardNames(names, ENGLISH)
    right = dict.fromkeys(("as it is", "hotwords", "correction", "both"), 0)
    for number, name in enumerate(names):
        voice = known[voices[number % len(voices)]]
        sentence = sentences[number % len(sentences)].format(name=name.written)
        said = say(model, voice, " ".join(spoken_words(sentence, names)))
        pcm = soxr.resample(said.pcm, said.sample_rate, SAMPLE_RATE)
        pcm = np.concatenate([pcm, np.zeros(SAMPLE_RATE // 2, np.float32)])
        texts = [hear(each, pcm) for each in (plain, hot)]
        texts += [heard_names.corrected(text) for text in texts]
        for way, text in zip(right, texts, strict=True):
            right[way] += name.written.casefold() in text.casefold()
        tell(name.written, *texts)
    tell(*(f"{way}: {count} of {len(names)}" for way, count in right.items()))


def talk(names: Names, count: int) -> None:
    """Sentences without names: names that were written, and words wrong, without and with names."""
    model = synthesiser.load(SpeechSettings("kokoro"), lambda *_: None)
    loaded, espeak = load_model(str(fetch("whisper-base")), ENGLISH), Espeak()
    lines = [line for line in (TALK / "ordinary.txt").read_text("utf-8").splitlines() if line]
    texts = random.Random(9).sample([line for line in lines if line[0].isalpha()], count)
    wrong, added = [0, 0], 0
    whispers = [WhisperRecogniser(loaded), WhisperRecogniser(loaded, names=lambda: names)]
    for text in texts:
        said = say(model, model.voices()[0], text)
        pcm = soxr.resample(said.pcm, said.sample_rate, SAMPLE_RATE)
        heard = [hear(each, pcm) for each in whispers]
        for place, each in enumerate(heard):
            wrong[place] += words_wrong(text, each.casefold(), espeak)
        written = [name.written for name in names if name.written.casefold() in heard[1].casefold()]
        added += bool(written)
        if written:
            tell(text, *heard)
    words = sum(len(text.split()) for text in texts)
    tell(f"names added in {added} of {count} sentences", f"words wrong of {words}: {wrong}")


def spoken_words(sentence: str, names: Names) -> list[str]:
    text = PacedText(pacing=False, names=names)
    return [word.spoken for word in (*text.push(sentence).words, *text.end().words)]


def hear(whisper: WhisperRecogniser, pcm: Pcm) -> str:
    recognition = whisper.open()
    recognition.push(pcm)
    return recognition.finish().text


def tell(*parts: str) -> None:
    sys.stdout.write(" | ".join(parts) + "\n")
    sys.stdout.flush()


def lists(names: Names) -> list[Names]:
    """Twenty lists: half of each from names.toml, half from the lexicon, which are more common."""
    draw = random.Random(7)
    lines = (resource("lexicon") / "names.txt").read_text("utf-8").splitlines()
    others = sorted({line.partition("\t")[0] for line in lines if line[:1].isupper()})
    half = OF_A_LIST // 2
    return [
        (*draw.sample(names, half), *(Name(each) for each in draw.sample(others, half)))
        for _ in range(LISTS)
    ]


def false_corrections(names: Names, files: Sequence[str]) -> None:
    lines = [
        line.partition(" =>")[0]
        for file in files
        for line in (TALK / file).read_text("utf-8").splitlines()
    ]
    talk = [line[0].upper() + line[1:] for line in lines if line and line[0] not in "#[="]
    talk = [" ".join("I" + w[1:] if w.split("'")[0] == "i" else w for w in t.split()) for t in talk]
    draw = random.Random(8)
    beside = [f"{line}, {draw.choice(OTHERS)} said to {draw.choice(OTHERS)}" for line in talk]
    for title, texts in (("ordinary talk", talk), ("with other names", beside)):
        changed, seconds, words = [], 0.0, 0
        for each in lists(names):
            heard = HeardNames(each, ENGLISH)
            written = {name.written.casefold() for name in each}
            for text in texts:
                if any(name in text.casefold() for name in written):
                    continue
                began = time.perf_counter()
                result = heard.corrected(text)
                seconds += time.perf_counter() - began
                words += len(text.split())
                if result != text:
                    changed.append(f"{text} -> {result}")
        tell(*changed)
        count = LISTS * len(texts)
        tell(
            f"{title}: {len(changed)} false corrections in {count} sentences",
            f"{500 * len(changed) / count:.2f} in 500",
            f"{1e6 * seconds / words:.0f} us a word",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", default="Heart,Emma,Michael")
    parser.add_argument("--names", type=Path, default=Path(__file__).with_suffix(".toml"))
    parser.add_argument("--spoken", action="store_true")
    parser.add_argument("--talk", type=int, default=0, help="so many sentences without names")
    parser.add_argument("--unseen", action="store_true", help="sentences that set no threshold")
    options = parser.parse_args()
    names, sentences = read(options.names)
    if options.talk:
        talk(names, options.talk)
    elif options.spoken:
        spoken(names, sentences, options.voices.split(","))
    else:
        false_corrections(names, UNSEEN if options.unseen else FILES)


if __name__ == "__main__":
    main()
