"""The stage `export` of SMLLE: write its networks and named voices as one pack.

The prompt of a named voice is one utterance of its speaker with its text, as in the paper. A voice
made from a recording has only the speaker's vector. Invariant: a pack is read back before the stage
is done.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from engine.training import packing
from engine.training.evaluation.voices import spoken_rate
from engine.training.run import Run
from engine.training.smlle.spectrum import smlle_shape
from engine.training.smlle.tokens import STEPS_PER_SECOND, TokenUtterance
from engine.training.utterances import mean_vector
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


def export_pack(run: Run) -> packing.Facts:
    """Write the pack. ModelError when it cannot be read back."""
    export, shape = run.recipe.export, smlle_shape(run)
    constants = SmlleGeneration(
        temperature=export.temperature,
        lengths=run.recipe.transducer.lengths,
        dropout=export.dropout or run.recipe.spectrum.dropout,
        passage_steps=round(export.passage_seconds * STEPS_PER_SECOND),
    )

    def voice_of(person: Sequence[TokenUtterance]) -> packing.Network:
        prompt = _prompt(person)
        phones = prompt.aligned(shape.begin, shape.end).astype(np.int16)
        speaker = mean_vector(person)
        arrays = {"tokens": prompt.tokens, "phones": phones, "mel": prompt.mel, "speaker": speaker}
        return arrays, {}

    networks = {name: packing.network(run.weights(stage)) for name, stage in _FILES.items()}
    config, load = SmllePackConfig(export.name, shape, constants), synthesiser.load
    facts = packing.export_pack(run, networks, config, load, TokenUtterance, voice_of)
    # Drawn, the networks do not speak as fast as the speech they learnt from.
    said = enough_texts(tuning_sentences(), constants.own_rate, export.tuning_seconds)
    rate = min(max(spoken_rate(load(packing.pack_folder(run)), said), SLOWEST), FASTEST)
    packing.write_tables(run, replace(config, generation=replace(constants, own_rate=rate)))
    return facts


def _prompt(utterances: Sequence[TokenUtterance]) -> TokenUtterance:
    """Return the longest utterance within PROMPT_SECONDS; if there is none, the longest of all."""
    shortest, longest = (seconds * STEPS_PER_SECOND for seconds in PROMPT_SECONDS)
    good = [each for each in utterances if shortest <= each.steps <= longest]
    return max(good or utterances, key=lambda each: each.steps)
