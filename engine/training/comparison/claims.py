"""What the papers claim, beside the figures that should show it.

Invariant: a plain list and its table; nothing is judged here, the reader sees both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.training.comparison.columns import Column
from engine.training.judge.figures import UNMEASURED

# A line of the lists: a system and its variants have it of the same sentences.
OF_VARIANTS: Final = "all voices, sentences of the variants"
_WORDS: Final = "words wrong by Whisper"


@dataclass(frozen=True)
class Claim:
    """What a paper says and what should show it: a row of the table, or a line of the lists, of
    these systems.
    """

    text: str
    figure: str
    systems: tuple[str, ...]


_PAPERS: Final = ("VoXtream", "VoXtream2 (equal budget)", "SpeakStream", "LLMVoX", "SMLLE")
CLAIMS: Final = (
    Claim("VoXtream sounds first", "first packet at 200 ms a word", _PAPERS),
    Claim("LLMVoX runs dry first", "dry at 200 ms a word", _PAPERS),
    Claim(
        "VoXtream2 follows a rate best",
        "speaking rate, error",
        ("VoXtream2 (shipped)", *(name for name in _PAPERS if name not in {"VoXtream", "LLMVoX"})),
    ),
    Claim(
        "SpeakStream: the more words it knows, the fewer are wrong; it levels off (two: of a "
        "second training, whose other windows stand in the list of voices below)",
        OF_VARIANTS,
        (
            "SpeakStream (window of 1)",
            "SpeakStream (window of 2)",
            "SpeakStream",
            "SpeakStream (window of 4)",
        ),
    ),
    Claim(
        "SMLLE: of several draws the second gains most (five: of a second training, whose one "
        "draw stands in the list of voices below)",
        OF_VARIANTS,
        ("SMLLE", "SMLLE (best of two draws)", "SMLLE (best of five draws)"),
    ),
    Claim(
        "SMLLE: the mechanism harms on the prompt and is needed behind it (without it: of a second "
        "training, whose like with it stands in the list of voices below)",
        OF_VARIANTS,
        ("SMLLE", "SMLLE (mechanism on the prompt too)", "SMLLE without the mechanism"),
    ),
    Claim(
        "SMLLE: flux and latents are needed",
        OF_VARIANTS,
        (
            "SMLLE",
            "SMLLE without flux",
            "SMLLE without latents",
            "SMLLE (latents not drawn)",
        ),
    ),
)


def claims_table(columns: Mapping[str, Column]) -> str:
    """A Markdown table, a row for each claim, of columns by their system's name."""

    def figure(claim: Claim, name: str) -> str:
        own = columns.get(name, Column(""))
        text = own.cells.get(claim.figure) or own.details.get(claim.figure) or UNMEASURED
        return f"{name} {text.removeprefix(f'{_WORDS} ').split(',')[0]}"

    lines = [
        f"| {claim.text} | {_WORDS if claim.figure == OF_VARIANTS else claim.figure} | "
        f"{'<br>'.join(figure(claim, name) for name in claim.systems)} |"
        for claim in CLAIMS
    ]
    return "\n".join(("| a paper's claim | figure | here |", "| --- | --- | --- |", *lines, ""))
