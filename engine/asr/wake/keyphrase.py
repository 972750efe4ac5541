"""The wake phrase found by pocketsphinx, as soon as it is typed: a loop of all phones competes with
the phrase's own.

Invariant: a long utterance is started again now and then, so that its memory stays small.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.english import incomplete
from engine.asr.sphinx.searches import SLICE, failure, sixteen_bit
from engine.audio.base import Pcm

# Odds against all other phones, for each phone of the phrase. Of 41 times "hey rubato" (27 voices
# of Kokoro, three paces) these were found in noise 30 and 10 dB down: with 4e-5 83 and 80 %, with
# 2.4e-6 90 and 98 %; 14 minutes of other synthetic talk woke it never and once. Between the two.
PHONE_ODDS = 1e-5
FRAME = SAMPLE_RATE // 100  # samples
LONGEST_S = 30.0  # of an utterance
NAME = "wake"


class Keyphrase:
    """A Spotter."""

    def __init__(self, phrase: str, sounds: Mapping[str, str]) -> None:
        """Listen for a phrase of words that sound so. ModelError when pocketsphinx or its model is
        missing.
        """
        self._sphinx = _new_sphinx(phrase, sounds)
        self._usual_mean = str(self._sphinx.get_cmn())
        self._samples = 0  # of this utterance
        self._open = False
        self.reset()

    def push(self, pcm: Pcm) -> int | None:
        """RecogniserError when pocketsphinx fails."""
        if self._samples > LONGEST_S * SAMPLE_RATE:
            self.reset()
        self._samples += len(pcm)
        samples = sixteen_bit(pcm)
        try:
            for first in range(0, len(samples), SLICE):
                self._sphinx.process_raw(samples[first : first + SLICE], False, False)
            return self._found()
        except RuntimeError as error:
            raise failure(error) from error

    def reset(self) -> None:
        if self._open:
            self._sphinx.end_utt()
        self._sphinx.reinit_feat()
        self._sphinx.set_cmn(self._usual_mean)
        self._sphinx.start_utt()
        self._open = True
        self._samples = 0

    def _found(self) -> int | None:
        if self._sphinx.hyp() is None:
            return None
        ends = [part.end_frame for part in self._sphinx.seg()]
        end = (max(ends) + 1) * FRAME if ends else self._samples
        return max(0, self._samples - end)


def _new_sphinx(phrase: str, sounds: Mapping[str, str]) -> Any:
    phones = " ".join(sounds[word] for word in phrase.split()).split()
    odds = PHONE_ODDS ** len(phones)
    try:
        import pocketsphinx

        with tempfile.TemporaryDirectory() as folder:
            dictionary = Path(folder, "phrase.dict")
            lines = [f"{word} {phones}" for word, phones in sorted(sounds.items())]
            dictionary.write_text("\n".join(lines) + "\n", encoding="ascii")
            sphinx = pocketsphinx.Decoder(
                lm=None, dict=str(dictionary), loglevel="FATAL", kws_threshold=odds
            )
        sphinx.add_keyphrase(NAME, phrase)
        sphinx.activate_search(NAME)
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error
    return sphinx
