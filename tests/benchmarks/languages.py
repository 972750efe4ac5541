"""How much is understood of Kokoro's voices in Spanish, Italian, Portuguese and French.

    python -m tests.benchmarks.languages [--languages es,it] [--voices Dora] [--into FOLDER]
        [--sentences 40] [--others 20] [--whole]

Each voice says the sentences of languages.toml word by word at its own pace, the first --others of
them (or of `later`) at 2 and 6 SPS as well, and the replies of one to three words at its own pace.
Whisper base judges, told the language. Of the words wrong, those that sound alike are right
("restent-ils", "reste-t-il"); "spelt" counts them as wrong. "phones" compares espeak's phones of
both texts. "whole" is the published graph on entire sentences, with the same phones: what it has
wrong is not due to speaking word by word. Cells are saved in FOLDER as soon as they are measured,
and not measured again. DNSMOS needs the package speechmos.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.languages import SPOKEN
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.evaluation.recognisers import WhisperJudge, naturalness, words_wrong
from engine.training.evaluation.voices import say, speech_seconds, syllables_of
from engine.training.fetching import fetch
from engine.tts.base import Voice
from engine.tts.kokoro import synthesiser
from engine.tts.kokoro.natural import phoned
from tests.benchmarks.kokoro import whole_sentence

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
RATES = {"2 SPS": 2.0, "6 SPS": 6.0}
OWN, WHOLE, REPLIES = "own pace", "whole", "replies"


@cache
def kokoro() -> synthesiser.KokoroSynthesiser:
    fetch("kokoro")
    return synthesiser.load(SpeechSettings("kokoro"), lambda *_: None)


@cache
def judge(language: str) -> WhisperJudge:
    return WhisperJudge(fetch("whisper-base"), language)


def measure(voice: Voice, name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Figures of a cell: counts, and of each sentence its rate and P.808."""
    model = kokoro()
    espeak = Espeak(SPOKEN[voice.language].espeak)
    with model.open(voice, seed=0) as session:
        machine = session._voice
    cell: dict[str, Any] = dict.fromkeys(("words", "wrong", "spelt", "phones", "other phones"), 0)
    rates, scores, errors = [], [], []
    for text in texts:
        said = (
            whole_sentence(text, machine)
            if name == WHOLE
            else say(model, voice, text, RATES.get(name))
        )
        heard = judge(voice.language).hear(said.pcm, said.sample_rate)
        counts = compared(text, heard, espeak)
        for key, count in counts.items():
            cell[key] += count
        if counts["spelt"]:
            errors.append([text, heard, counts["wrong"]])
        rates.append(
            syllables_of(text, voice.language)
            / max(0.1, speech_seconds(said.pcm, said.sample_rate))
        )
        if name != REPLIES and (score := naturalness(said)):
            scores.append(score)
    return {**cell, "rates": rates, "p808": scores, "errors": errors}


def compared(text: str, heard: str, espeak: Espeak) -> dict[str, int]:
    plain = [normal(each) for each in (text, heard)]
    phones = [
        [phone.strip("ˈˌ").rstrip("ː-") for word in phoned(espeak, each) for phone in word.phones]
        for each in (text, heard)
    ]
    return {
        "words": len(text.split()),
        "wrong": words_wrong(text.casefold(), heard.casefold(), espeak),
        "spelt": distance(*plain),
        "phones": len(phones[0]),
        "other phones": distance(*phones),
    }


def normal(text: str) -> list[str]:
    kept = "".join(letter if letter.isalpha() else " " for letter in text.casefold())
    return kept.split()


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    row = list(range(len(other) + 1))
    for at, mine in enumerate(one, 1):
        above, row[0] = row[0], at
        for place, theirs in enumerate(other, 1):
            best = min(row[place] + 1, row[place - 1] + 1, above + (mine != theirs))
            above, row[place] = row[place], best
    return row[-1]


def row(voice: str, cells: dict[str, Any]) -> str:
    parts = [voice]
    for name, cell in cells.items():
        text = f"{name}: {cell['wrong'] / cell['words']:.1%} of {cell['words']} words wrong"
        text += f" ({cell['spelt'] / cell['words']:.1%} spelt)"
        text += f", {cell['other phones'] / cell['phones']:.1%} of phones"
        if name in RATES:
            error = np.abs(np.array(cell["rates"]) / RATES[name] - 1).mean()
            text += f", rate {np.mean(cell['rates']):.2f} SPS, error of a sentence {error:.1%}"
        if cell["p808"]:
            text += f", P.808 {np.mean(cell['p808']):.2f}"
        parts.append(text)
    return "\n  ".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", default=",".join(TEXTS))
    parser.add_argument("--voices", default="", help="names with commas between them")
    parser.add_argument("--into", type=Path, default=Path("build/languages"))
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--others", type=int, default=20)
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    names = given.voices.split(",") if given.voices else [v.name for v in kokoro().voices()]
    for voice in kokoro().voices():
        if voice.language not in given.languages.split(",") or voice.name not in names:
            continue
        known = TEXTS[voice.language]
        texts = {OWN: known["sentences"][: given.sentences], REPLIES: known["replies"]}
        others = (*RATES, WHOLE) if given.whole else tuple(RATES)
        later = known.get("later", known["sentences"])[: given.others]
        texts |= dict.fromkeys(others, later)
        file = given.into / f"{voice.name}.json"
        cells = json.loads(file.read_text()) if file.is_file() else {}
        for name in (each for each in texts if each not in cells):
            cells[name] = measure(voice, name, texts[name])
            file.write_text(json.dumps(cells, ensure_ascii=False, indent=1))
        sys.stdout.write(row(voice.name, cells))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
