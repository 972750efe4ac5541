"""The stage `export` of SMLLE: write its networks and named voices as one pack.

The prompt of a named voice is one utterance of its speaker with its text, as in the paper. A voice
made from a recording has only the speaker's vector. Invariant: a pack is read back before the stage
is done.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.training.evaluation.voices import spoken_rate
from engine.training.packing import (
    Facts,
    finish,
    fresh_folder,
    named_speakers,
    save_voice,
    write_networks,
    write_tables,
)
from engine.training.run import Run
from engine.training.smlle.spectrum import smlle_shape
from engine.training.smlle.tokens import STEPS_PER_SECOND, TokenUtterance
from engine.training.utterances import mean_vector, read_sides
from engine.training.voxtream.rate_table import enough_texts, tuning_sentences
from engine.tts.pack_files import SPECTRUM_FILE, VOCODER_FILE
from engine.tts.smlle import synthesiser
from engine.tts.smlle.config import SmlleGeneration, SmllePackConfig

SLOWEST, FASTEST = 1.0, 10.0  # SPS that a pack may give as its own
PROMPT_SECONDS: Final = (2.0, 6.0)  # of a named voice; in training it is 3 s
_FILES: Final = {
    synthesiser.TRANSDUCER_FILE: "transducer",
    SPECTRUM_FILE: "spectrum",
    VOCODER_FILE: "vocoder",
}


def export_pack(run: Run) -> Facts:
    """Write the pack. ModelError when it cannot be read back."""
    export, shape = run.recipe.export, smlle_shape(run)
    folder, people = fresh_folder(run), read_sides(run, TokenUtterance).training
    write_networks(run, {name: run.weights(stage) for name, stage in _FILES.items()})
    constants = SmlleGeneration(
        temperature=export.temperature,
        lengths=run.recipe.transducer.lengths,
        dropout=export.dropout or run.recipe.spectrum.dropout,
        passage_steps=round(export.passage_seconds * STEPS_PER_SECOND),
    )
    config = SmllePackConfig(export.name, shape, constants)
    write_tables(run, config)
    called = named_speakers(run, people)
    for name, number in called.items():
        prompt = _prompt(people[number])
        tensors: dict[str, npt.NDArray[np.generic]] = {
            "tokens": prompt.tokens,
            "phones": prompt.aligned(shape.begin, shape.end).astype(np.int16),
            "mel": prompt.mel,
            "speaker": mean_vector(people[number]),
        }
        save_voice(run, name, number, tensors)
    # Drawn, the networks do not speak as fast as the speech they learnt from.
    said = enough_texts(tuning_sentences(), constants.own_rate, export.tuning_seconds)
    rate = min(max(spoken_rate(synthesiser.load(folder), said), SLOWEST), FASTEST)
    write_tables(run, replace(config, generation=replace(constants, own_rate=rate)))
    synthesiser.load(folder)
    return finish(run, list(called))


def _prompt(utterances: tuple[TokenUtterance, ...]) -> TokenUtterance:
    """Return the longest utterance within PROMPT_SECONDS; if there is none, the longest of all."""
    shortest, longest = (seconds * STEPS_PER_SECOND for seconds in PROMPT_SECONDS)
    good = [each for each in utterances if shortest <= each.steps <= longest]
    return max(good or utterances, key=lambda each: each.steps)
