"""How much of a voice is understood, on sentences that nobody trained on: at 4 syllables
a second by every voice, at other rates, while the slider turns, and in replies of one to three
words.

    python -m tests.benchmarks.voice [--who WHO] [--voices Heart,George] [--into FOLDER]
        [--sentences 150] [--workers 2]

WHO is a pack's folder (first of all the built-in voice's), or a synthesiser of the program with
"-live" behind its name ("kokoro-live"), which speaks word by word as in a conversation. "kokoro"
and "flite" are for what these might be measured against: they speak whole texts at one rate, so
nothing turns while they do. The first six of its voices speak, or those that are named. Whisper
base judges, pocketsphinx beside it. Cells are saved in FOLDER as soon as they are measured, and not
measured again unless the pack changed: after a change of a synthesiser take another FOLDER. Needs
the extra `training`.
"""

import argparse
import random
import sys
from pathlib import Path

from engine.resources import resource
from engine.training.corpus import grammar
from engine.training.evaluation.figures import UNMEASURED, Results, details, goals
from engine.training.evaluation.side import Side, Texts
from engine.training.evaluation.talkers import LiveTalker, pack_hashes, talkers_of
from engine.training.evaluation.verdicts import FORMAT, bigram_judge
from engine.training.recipe import Evaluate
from engine.training.tasks import do_tasks

RATES = (1.5, 2.0, 4.0, 6.0, 6.5)


def texts(count: int) -> Texts:
    """Sentences and replies from templates of the grammar that no training uses."""
    draw = random.Random("voice")
    sentences: set[str] = set()
    while len(sentences) < count:
        sentences.add(grammar.test_sentence(draw))
    replies = sorted({grammar.short_reply(draw) for _ in range(10 * count)})
    vocabulary = (*sorted(sentences), *replies)
    knows = bigram_judge(vocabulary).knows
    known = tuple(filter(knows, sorted(sentences))), tuple(filter(knows, replies))
    return Texts(vocabulary, *known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", default=str(resource("starter")))
    parser.add_argument("--voices", default="", help="names with commas between them")
    parser.add_argument("--into", type=Path, default=Path("build/voice"))
    parser.add_argument("--sentences", type=int, default=150)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="cells whose names begin like that")
    given = parser.parse_args()
    talkers = talkers_of(given.who, tuple(filter(None, given.voices.split(","))))
    live = isinstance(talkers[0], LiveTalker)
    size = Evaluate(
        sentences=-(-given.sentences // len(talkers)),
        short_replies=2 * given.sentences,
        rates=RATES,
        rate_sentences=given.sentences,
        naturalness=8,
    )
    depends = (FORMAT, *(pack_hashes(Path(given.who)) if live else ()))
    side = Side("voice", talkers, texts(given.sentences), size, depends, live)
    given.into.mkdir(parents=True, exist_ok=True)
    tasks = [task for task in side.tasks if task.name.startswith(f"voice/{given.only}")]
    try:
        do_tasks("voice", given.into, tasks, given.workers, fresh=True)
    finally:
        results = side.results(given.into)
        for goal in goals(Results()):
            if (cell := goal.cell(results)) != UNMEASURED:
                sys.stdout.write(f"{goal.name}: {cell}\n")
        sys.stdout.write(details(results))


if __name__ == "__main__":
    main()
