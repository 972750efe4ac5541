"""How much is understood of Kokoro's voices in Spanish, Italian, Portuguese and French.

    python -m tests.benchmarks.languages [--languages es,it] [--voices Dora] [--into FOLDER]
        [--sentences 40] [--others 20] [--whole]

Each voice says the sentences of languages.toml word by word at its own pace, the first --others of
them (or of `later`) at 2 and 6 SPS as well, and the replies of one to three words (and `newer`
texts) at its own pace.
Whisper base judges, told the language. Of the words wrong, those that sound alike are right
("restent-ils", "reste-t-il"); "spelt" counts them as wrong. "phones" compares espeak's phones of
both texts, and "by sound" counts the words in or beside which a phone differs, wherever the judge
put the spaces ("buscas está", "busca se está"). "onsets" are of words behind a silence at 2 SPS:
milliseconds from the reported beginning to the sound's. "whole" is the published graph on entire
sentences, with the same phones: what it has wrong is not due to speaking word by word. Cells are
saved in FOLDER as soon as they are measured, and not measured again. DNSMOS needs the package
speechmos.
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
from engine.training.evaluation.voices import (
    Spoken,
    WhisperJudge,
    naturalness,
    say,
    speech_seconds,
    syllables_of,
    words_wrong,
)
from engine.training.teachers.synthesisers import fetch
from engine.tts.base import Voice
from engine.tts.kokoro import synthesiser
from engine.tts.kokoro.windows import phoned
from tests.benchmarks.kokoro import whole_sentence

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
RATES = {"2 SPS": 2.0, "6 SPS": 6.0}
COUNTS = ("words", "wrong", "by sound", "spelt", "phones", "other phones")
_SILENT = 20  # blocks of 5 ms without sound before a word that begins behind a silence
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
    cell: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    rates, scores, errors, onsets = [], [], [], []
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
        onsets += onset_errors(said) if name == "2 SPS" else []
        if not name.endswith(REPLIES) and (score := naturalness(said)):
            scores.append(score)
    return {**cell, "rates": rates, "p808": scores, "onsets": onsets, "errors": errors}


def onset_errors(said: Spoken) -> list[float]:
    """Return by how many ms the sound of each word behind a silence begins after the report of that
    word; words whose sound is not found are left out.
    """
    hop = said.sample_rate // 200
    blocks = said.pcm[: len(said.pcm) // hop * hop].reshape(-1, hop)
    level = np.abs(blocks).max(axis=1)
    loud = level > 0.02 * np.abs(said.pcm).max()
    begins = [
        at for at in range(_SILENT, len(loud)) if loud[at] and not loud[at - _SILENT : at].any()
    ]
    errors = [min((5.0 * at - 1000 * told for told in said.onsets), key=abs) for at in begins]
    return [each for each in errors if abs(each) < 5 * _SILENT]


def compared(text: str, heard: str, espeak: Espeak) -> dict[str, int]:
    plain = [normal(each) for each in (text, heard)]
    ours, theirs = (
        [
            (phone.strip("ˈˌ").rstrip("ː-"), n)
            for n, word in enumerate(words)
            for phone in word.phones
        ]
        for words in (phoned(espeak, text), phoned(espeak, heard))
    )
    costs = table([phone for phone, _ in ours], [phone for phone, _ in theirs])
    return {
        "words": len(text.split()),
        "wrong": words_wrong(text.casefold(), heard.casefold(), espeak),
        "by sound": len(words_apart(costs, [word for _, word in ours])),
        "spelt": table(*plain)[-1][-1],
        "phones": len(ours),
        "other phones": costs[-1][-1],
    }


def words_apart(costs: list[list[int]], words: Sequence[int]) -> set[int]:
    """Return the words in or beside which the other text differs, by the way back through table().
    `words`: of each symbol.
    """
    found, row, column = set[int](), len(costs) - 1, len(costs[0]) - 1
    while row or column:
        steps = [(row - 1, column - 1), (row - 1, column), (row, column - 1)]
        before = min((step for step in steps if min(step) >= 0), key=lambda at: costs[at[0]][at[1]])
        if costs[before[0]][before[1]] < costs[row][column] and words:
            found.add(words[max(0, row - 1)])
        row, column = before
    return found


def normal(text: str) -> list[str]:
    kept = "".join(letter if letter.isalpha() else " " for letter in text.casefold())
    return kept.split()


def table(one: Sequence[str], other: Sequence[str]) -> list[list[int]]:
    """Return the Levenshtein distances of all beginnings of both."""
    rows = [list(range(len(other) + 1))]
    for mine in one:
        row = [rows[-1][0] + 1]
        for place, theirs in enumerate(other):
            above = rows[-1]
            row.append(min(above[place + 1] + 1, row[-1] + 1, above[place] + (mine != theirs)))
        rows.append(row)
    return rows


def row(voice: str, cells: dict[str, Any]) -> str:
    parts = [voice]
    for name, cell in cells.items():
        text = f"{name}: {cell['wrong'] / cell['words']:.1%} of {cell['words']} words wrong"
        text += f" ({cell['spelt'] / cell['words']:.1%} spelt"
        text += f", {cell['by sound'] / cell['words']:.1%} by sound)"
        text += f", {cell['other phones'] / cell['phones']:.1%} of phones"
        if name in RATES:
            error = np.abs(np.array(cell["rates"]) / RATES[name] - 1).mean()
            text += f", rate {np.mean(cell['rates']):.2f} SPS, error of a sentence {error:.1%}"
        if cell["onsets"]:
            apart = np.abs(cell["onsets"])
            text += f", onsets {np.median(apart):.0f}, 90 % {np.percentile(apart, 90):.0f} ms"
            text += f" of {len(apart)}"
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
        texts |= {name: known[name] for name in ("newer", "newer_replies") if name in known}
        file = given.into / f"{voice.name}.json"
        cells = json.loads(file.read_text()) if file.is_file() else {}
        for name in (each for each in texts if each not in cells):
            cells[name] = measure(voice, name, texts[name])
            file.write_text(json.dumps(cells, ensure_ascii=False, indent=1))
        sys.stdout.write(row(voice.name, cells))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
