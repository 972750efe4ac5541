"""One utterance of VoXtream: it begins with the first word, and reads one more a frame.

The released loop waits for one more word before every frame until the text ends. But no frame sees
further than the look-ahead. So here a frame waits only while fewer phones than that are known, and
the first one not even then. Which
words a frame sees depends on its number and on the words alone, never on when they came.
Invariant: all state is here; closing the session frees it, and no other session sees it.
"""

from dataclasses import dataclass

import numpy as np
import torch

from engine.audio.ending import faded_out
from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE, Mimi
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.tts.base import AudioFrame, Finished, Onset, Starved, Step
from engine.tts.phones import PhoneTable
from engine.tts.system.session import PassageUtterance
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.voxtream1.config import MIN_LOOK_AHEAD, Generation
from engine.tts.voxtream.voxtream1.frames import Frames
from engine.tts.voxtream.voxtream1.prompt import PreparedPrompt
from engine.tts.voxtream.voxtream1.script import Cursor, Script


@dataclass(frozen=True)
class ModelParts:
    """What all sessions of a model share and none may change."""

    generation: Generation
    model: VoxtreamModel
    mimi: Mimi
    table: PhoneTable
    espeak: Espeak


class VoxtreamSession(PassageUtterance):
    """A TtsSession without control of the rate."""

    def __init__(self, parts: ModelParts, prompt: PreparedPrompt, seed: int) -> None:
        super().__init__(SAMPLE_RATE)
        self._parts = parts
        self._prompt = prompt
        self._generator = torch.Generator().manual_seed(seed)
        self._span: Span | None = None  # of the last frame drawn; None = nothing drawn yet
        self._begin_passage(first_word=0)

    @torch.inference_mode()
    def step(self) -> Step:
        """The next 80 ms, as soon as the words that they need are known."""
        while not self._finished:
            if self._passage_over:
                if not self._next_passage():
                    return Starved()
            elif not self._read():
                return Starved()
            elif frame := self._opening() if self._span is None else self._frame(self._span):
                return frame
        return Finished()

    def _opening(self) -> AudioFrame | None:
        """Draw the first frame; None, because its samples come with the next one. A passage without
        a sound is one silent frame, so that its words still begin somewhere.
        """
        if self._script.has_phones:
            opened = self._prompt.open(self._script.encode())
            token = self._frames.first(opened, self._generator)
            self._span = self._cursor.advance(token, self._script)
            return None
        self._passage_over = True
        end = self._script.phone_count
        onsets = self._onsets(Span(end, end, ended=True))
        return self._packet(np.zeros(FRAME_SAMPLES, np.float32), onsets) if onsets else None

    def _next_passage(self) -> bool:
        """Begin the next passage, or finish; False when more text is needed to know which."""
        if self._words:
            self._begin_passage(self._script.places.begun_words)
        else:
            self._finished = self._ended
        return bool(self._words) or self._finished

    def _read(self) -> bool:
        """Take up the words of the next frame; False when more text is needed first."""
        script = self._script
        full = self._made >= self._parts.generation.passage_frames
        while not script.closed and self._needs_a_word():
            if not self._read_word(self._phonemizer, script, passage_full=full):
                return False
        return True

    def _needs_a_word(self) -> bool:
        """Whether the next frame sees further than the words taken up."""
        ahead = self._script.phone_count - self._cursor.last - 1
        most = self._parts.generation.look_ahead
        words = len(self._words_read) - self._script.places.first_word
        return ahead < MIN_LOOK_AHEAD or (ahead < most and words <= self._made)

    def _begin_passage(self, first_word: int) -> None:
        """Go on from the prompt alone."""
        parts, prompt = self._parts, self._prompt
        self._phonemizer = WordPhonemizer(parts.espeak)
        self._script = Script(prompt, parts.table, first_word)
        self._cursor = Cursor(prompt.last_phone, parts.generation)
        self._frames = Frames(prompt, parts.mimi, parts.generation)
        self._span = None
        self._made = 0  # frames of the passage
        self._passage_over = False

    def _frame(self, span: Span) -> AudioFrame | None:
        """The frame that speaks `span`, while the one behind it is drawn; None if it is left
        out.
        """
        script = self._script
        frame = self._frames.next(script.vector(span), script.said(span), self._generator)
        onsets = self._onsets(span)
        self._syllables_end(script.syllables_ended(span))
        self._made += 1
        if self._cursor.left is not None:
            self._cursor.left -= 1
        pcm = frame.pcm.numpy()
        if self._cursor.left == 0:
            self._passage_over, pcm = True, faded_out(pcm, SAMPLE_RATE)
        else:
            self._span = self._cursor.advance(frame.token, script)
            if script.is_cut(span, self._span, self._prompt.room - self._made):
                self._passage_over, pcm = True, faded_out(pcm, SAMPLE_RATE)
                self._return_words(script.places.begun_words)
        if not onsets and not self._passage_over and self._silence.exceeds(pcm):
            return None
        return self._packet(pcm, onsets)

    def _onsets(self, span: Span) -> tuple[Onset, ...]:
        half = FRAME_SAMPLES // 2
        return tuple(
            Onset(word, self._sample + late * half) for word, late in self._script.words_begun(span)
        )
