"""How much of a voice is understood, on sentences that nobody trained on: at 4 syllables
a second by every voice, at other rates, while the slider turns, and in replies of one to three
words.

    python -m tests.benchmarks.voice [--who WHO] [--voices Heart,George] [--into FOLDER]
        [--sentences 150] [--workers 2]

WHO is a pack's folder (first of all the built-in voice's), or a synthesiser of the program
("kokoro"), which speaks word by word as in a conversation. The first six of its voices speak, or
those that are named. Whisper base judges, pocketsphinx beside it. Cells are saved in FOLDER as soon
as they are measured, and not measured again unless the pack changed: after a change of a
synthesiser take another FOLDER. Needs the extra `training`.
"""

import argparse
import random
import sys
from pathlib import Path
from statistics import mean

from engine.resources import resource
from engine.training.corpus import grammar
from engine.training.evaluation.parts import (
    FIGURES,
    UNMEASURED,
    Results,
    Size,
    by_voice,
    read_results,
    share_wrong,
    tasks_of,
)
from engine.training.evaluation.voices import depends_on, voices_of
from engine.training.run import do_tasks
from engine.training.teachers.synthesisers import fetch
from engine.tts.kokoro.voices import NAME as KOKORO

RATES = (1.5, 2.0, 4.0, 6.0, 6.5)


def texts(count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences and replies from templates of the grammar that no training uses."""
    draw = random.Random("voice")
    sentences: set[str] = set()
    while len(sentences) < count:
        sentences.add(grammar.sentence("test", draw))
    replies = sorted({grammar.sentence("short", draw) for _ in range(10 * count)})
    return tuple(sorted(sentences)), tuple(replies)


def details(results: Results) -> str:
    """Word error rates of each voice, each rate and the replies, with the rates that were heard."""
    lists = {
        "all voices": results.sentences,
        **by_voice(results.sentences),
        **{f"{rate:g} SPS": heard for rate, heard in results.rates.items()},
        "replies": results.replies,
    }
    lines = [
        f"- {name}: words wrong {share_wrong(heard)}" for name, heard in lists.items() if heard
    ]
    means = (
        f"{rate:g} -> {mean(each.rate for each in heard):.2f}"
        for rate, heard in results.rates.items()
        if heard
    )
    return "\n".join([*lines, f"- asked and measured SPS: {', '.join(means)}", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", default=str(resource("starter")))
    parser.add_argument("--voices", default="", help="names with commas between them")
    parser.add_argument("--into", type=Path, default=Path("build/voice"))
    parser.add_argument("--sentences", type=int, default=150)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="cells whose names begin like that")
    given = parser.parse_args()
    if given.who == KOKORO:
        fetch(KOKORO)
    voices = voices_of(given.who, tuple(filter(None, given.voices.split(","))))
    size = Size(
        sentences=-(-given.sentences // len(voices)),
        short_replies=2 * given.sentences,
        timed=0,
        rates=RATES,
        rate_sentences=given.sentences,
        naturalness=8,
    )
    tasks = tasks_of("voice", voices, texts(given.sentences), size, depends_on(voices[0].source))
    given.into.mkdir(parents=True, exist_ok=True)
    asked = [task for task in tasks if task.name.startswith(f"voice/{given.only}")]
    try:
        do_tasks("voice", given.into, asked, given.workers)
    finally:
        results = read_results(tasks, given.into)
        for figure in FIGURES:
            if (cell := figure.cell(results)) != UNMEASURED:
                sys.stdout.write(f"{figure.name}: {cell}\n")
        sys.stdout.write(details(results))


if __name__ == "__main__":
    main()
