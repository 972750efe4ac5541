"""One utterance of VoXtream: it begins with the first word, and reads one more word for each frame.

The released loop waits for one more word before every frame until the text ends. But no frame sees
further than the look-ahead. So here a frame waits only while fewer phones are known, and the first
frame never waits. The words that a frame knows depend on its number and on the words alone, never
on when they came. Invariant: all state is here; closing the session frees it, and no other session
sees it.
"""

from dataclasses import dataclass

import numpy as np
import torch

from engine.audio.finishing import SilenceLimit, faded_out
from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE, Mimi
from engine.text.phonemes import Espeak
from engine.tts.phones import PhoneTable
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.prompt import PreparedPrompt
from engine.tts.voxtream.session import FrameSession
from engine.tts.voxtream.voxtream1.config import MIN_LOOK_AHEAD, Voxtream1Generation
from engine.tts.voxtream.voxtream1.frames import Voxtream1Frames
from engine.tts.voxtream.voxtream1.script import Cursor, Voxtream1Script


@dataclass(frozen=True)
class Voxtream1Parts:
    """Parts that all sessions of a model share and none may change."""

    generation: Voxtream1Generation
    model: VoxtreamModel
    mimi: Mimi
    table: PhoneTable
    espeak: Espeak


class Voxtream1Session(FrameSession):
    """The TtsSession of VoXtream, without control of the rate."""

    _script: Voxtream1Script

    def __init__(self, parts: Voxtream1Parts, prompt: PreparedPrompt, seed: int) -> None:
        super().__init__(SAMPLE_RATE, parts.espeak)
        self._parts = parts
        self._prompt = prompt
        self._generator = torch.Generator().manual_seed(seed)
        self._silence = SilenceLimit(SAMPLE_RATE)

    def _begin_passage(self, first_word: int) -> None:
        parts, prompt = self._parts, self._prompt
        self._script = Voxtream1Script(prompt, parts.table, first_word)
        self._cursor = Cursor(prompt.last_phone, parts.generation)
        self._frames = Voxtream1Frames(prompt, parts.mimi, parts.generation)
        self._span = None
        self._frame_count = 0  # frames of the passage

    def _read_ahead(self) -> bool:
        full = self._frame_count >= self._parts.generation.passage_frames
        while not self._script.closed and self._needs_a_word():
            if not self._read(passage_full=full):
                return False
        return True

    def _needs_a_word(self) -> bool:
        """Return True if the next frame sees further than the words read so far."""
        ahead = self._script.phone_count - self._cursor.last - 1
        most = self._parts.generation.look_ahead
        words = len(self._words_heard) - self._script.places.first_word
        return ahead < MIN_LOOK_AHEAD or (ahead < most and words <= self._frame_count)

    def _pass_over_words(self) -> None:
        end = self._script.phone_count
        self._begin_words(Span(end, end, ended=True))
        self._append(np.zeros(FRAME_SAMPLES, np.float32))
        self._passage_over = True

    def _draw_first(self) -> None:
        opened = self._prompt.open(self._script.encode())
        token = self._frames.first(opened, self._generator)
        self._span = self._cursor.advance(token, self._script)

    def _draw(self, before: Span) -> None:
        script = self._script
        frame = self._frames.next(script.vector(before), script.said(before), self._generator)
        begun = self._begin_words(before)
        self._meter.add(self._made, script.syllables_ended(before))
        self._frame_count += 1
        if self._cursor.left is not None:
            self._cursor.left -= 1
        is_cut = False
        if self._cursor.left != 0:
            self._span = self._cursor.advance(frame.token, script)
            is_cut = script.is_cut(before, self._span, self._prompt.room - self._frame_count)
        self._passage_over = is_cut or self._cursor.left == 0
        if is_cut:
            self._return_words(script.places.begun_words)
        pcm = frame.pcm.numpy()
        if self._passage_over:
            self._append(faded_out(pcm, SAMPLE_RATE))
        elif begun or not self._silence.exceeds(pcm):
            self._append(pcm)

    def _begin_words(self, span: Span) -> bool:
        """Add the onsets of words in the next frame, which speaks `span`. Return True if there are
        any.
        """
        words = self._script.words_begun(span)
        for word, late in words:
            self._begin_word(word, self._made + late * FRAME_SAMPLES // 2)
        return bool(words)

    def _end(self) -> None:
        """Do nothing, because the last frame has faded out."""
