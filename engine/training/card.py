"""The model card of a pack: what it is, what it was made from, what it reaches and what it cannot
do.

Invariant: every number comes from a manifest, from `evaluate` or from the limits stated in the
recipe; nothing is promised.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from engine import systems
from engine.training.recipe import Network, Recipe
from engine.training.run import Run, read_json
from engine.training.stages import SYSTEMS, VOXTREAM, VOXTREAM2
from engine.training.teachers.synthesisers import LICENCES

FILE: Final = "CARD.md"
_READING: Final = """\
Each cell holds the median over the voices, then the worst of them. *Words wrong* is the share of
words that a speech recogniser got wrong: Whisper; *bigram*, a pocketsphinx that knows which
sentences may come; or *open*, a pocketsphinx that does not. SPS are syllables per second.
*Likeness* is 1 for the same speaker, by an encoder that took no part in the training. *Its sources*
are the synthesisers that spoke the training corpus.
"""
_LIMITS: Final = """\
- English only. It learnt from synthesised speech, so it sounds like a synthesiser and not like a
  person. No recording of a person took part, unless the recipe names a folder of recordings.
- The pronunciations are espeak-ng's: names and foreign words may be wrong.
"""
_CLONES: Final = """\
- From a recording it takes only the pitch and the colour of the voice. The likeness above was
  measured on virtual speakers; a real person's clone is less like that person.
"""
_ALONE: Final = """\
- It speaks only with its own voices, because a prompt needs its text. Its rate cannot be changed.
"""
_TAKEN: Final = """
Codec and speaker encoder are those of an earlier pack. The voice was trained from new weights.
"""
_ENCODER: Final = """
Its speaker encoder is an earlier pack's.
"""
_ENCODER_AND_VOCODER: Final = """
Its speaker encoder is an earlier pack's, and its vocoder began with that pack's.
"""
_BEGUN: Final = """
It began with an earlier pack{keeps}.
The hours above count the speech used to train its {learnt} further. The test sentences and test
speakers were left out of that speech. What the earlier pack learnt from is not recorded, so it
may have met some of the prose it is tested with.
"""


def begun_with(recipe: Recipe) -> str:
    """Which parts of the pack come from the one the run began with."""
    if not recipe.begin_with:
        return ""
    if recipe.fresh_voice:
        return _TAKEN
    if recipe.system not in {VOXTREAM2, VOXTREAM}:
        return _ENCODER if recipe.decoder.fresh or recipe.decoder.pack else _ENCODER_AND_VOCODER
    parts: dict[str, Network] = {
        "codes": recipe.codec,
        "speaker encoder": recipe.speaker,
        "voice": recipe.voice,
        "decoder": recipe.decoder,
    }
    learnt = [name for name, part in parts.items() if part.schedule.steps]
    kept = [name for name in parts if name not in learnt]
    keeps = f" and keeps that pack's {_enumerated(kept)}" if kept else ""
    return _BEGUN.format(keeps=keeps, learnt=_enumerated(learnt) or "parts")


def _enumerated(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def write_card(run: Run, folder: Path, figures: Mapping[str, Any]) -> None:
    """Write CARD.md; `figures` = what `evaluate` printed, empty before it ran."""
    recipe = run.recipe
    parts = sorted(file for file in folder.rglob("*.safetensors"))
    sizes = "\n".join(f"| {file.relative_to(folder)} | {file.stat().st_size:,} |" for file in parts)
    sources = "\n".join(f"- {LICENCES[name]}" for name in recipe.corpus.synthesisers)
    hours = read_json(run.stage("corpus") / "manifest.json").get("hours", 0.0)
    command = "run the stage `evaluate`"
    if system := systems.find(recipe.system):
        command = f"run `python -m engine.training compare --only {system.title}`"
    reached, limits = (
        "".join(f"- {sentence}\n" for sentence in some)
        for some in (recipe.export.reached, recipe.export.limits)
    )
    table = f"{_READING}\n{figures['table']}" if figures else ""
    measured = table or reached or f"Not measured yet: {command}."
    limits = f"\n## What keeps it from its targets\n{limits}" if limits else ""
    own = _ALONE if recipe.system == VOXTREAM else _CLONES
    text = f"""# {recipe.export.name}

{SYSTEMS[recipe.system].card} trained from scratch by the stages of
`python -m engine.training` on {hours} hours of speech from free synthesisers. Its recipe says how.
{begun_with(recipe)}
## Made from
{sources}
- Text: sentences of our own grammar, and {1 - recipe.corpus.grammar_share:.0%} prose from Debian's
  manuals; none of that text is in the pack.

## Sizes, bytes
| file | bytes |
|---|---|
{sizes}

## What it reaches
{measured}

## What it cannot do
{_LIMITS}{own}{limits}"""
    (folder / FILE).write_text(text, encoding="utf-8")
