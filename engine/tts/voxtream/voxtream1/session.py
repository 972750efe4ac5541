"""One utterance of VoXtream: it begins with the first word, and reads one more word for each frame.
The shapes are a ModelConfig as VoXtream2's: the same three stacks. "VoXtream, 2" is a section of
its paper; "released" is the value in its published settings, where the paper does not state one.

The released loop waits for one more word before every frame until the text ends. But no frame sees
further than the look-ahead. So here a frame waits only while fewer phones are known, and the first
frame never waits. The words that a frame knows depend on its number and on the words alone, never
on when they came. Invariant: all state is here; closing the session frees it, and no other session
sees it.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import torch
from torch import Tensor

from engine.audio.finishing import faded_out
from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE, Mimi
from engine.nn.sampling import draw_top, race_noise
from engine.settings.rules import Range
from engine.text.phonemes import Espeak, PhonedWord
from engine.tts.pack_files import check_system
from engine.tts.phones import PhoneTable
from engine.tts.voxtream.config import DURATION_TOKENS, LEAST_ROOM, NEVER, ModelConfig, check_shape
from engine.tts.voxtream.network.frames import EagerFrames, PreparedPrompt
from engine.tts.voxtream.network.model import Choice, VoxtreamModel
from engine.tts.voxtream.script import Span, VoxtreamScript
from engine.tts.voxtream.session import FrameSession

NAME: Final = "voxtream"
# Stay or move on by one phone; one or two phones a frame (VoXtream, 2). VoXtream2 can skip one.
TOKENS: Final = DURATION_TOKENS[:4]
MOVES_ON: Final = 2  # the first of them that leaves the last phone


@dataclass(frozen=True)
class Voxtream1Generation:
    """Constants of generation."""

    temperature: Annotated[float, Range(0.01, 100)] = 0.9  # released
    top: Annotated[int, Range(1, 65_536)] = 5  # labels drawn from, and acoustic codes; released
    # phones; a frame with this many ahead never waits for a word (VoXtream, 2)
    look_ahead: Annotated[int, Range(1, 1000)] = 10
    # most frames after the first one on the closing silence; released
    end_frames: Annotated[int, Range(1, 1000)] = 5
    # most frames of a phone: ours, the released loop has no limit
    held_frames: Annotated[int, Range(1, LEAST_ROOM // 2)] = 25
    # a passage this long ends with its sentence: ours
    passage_frames: Annotated[int, Range(1, 999_999)] = NEVER


# Keys of the network of acoustic codes. The paper takes it from another model, CSM, without
# training it (VoXtream, 3.1); so does a pack, from the built-in voice.
FROZEN: Final = ("audio_embeddings.", "audio_head", "dep_former.")
MIN_LOOK_AHEAD: Final = 1  # phone; without it a frame has to wait (VoXtream, 2)


@dataclass(frozen=True)
class Voxtream1PackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: ModelConfig
    generation: Voxtream1Generation
    frozen: str  # hash of the FROZEN tensors of the built-in voice
    system: str = NAME

    def check(self) -> None:
        """Raise ValueError for values that do not fit each other."""
        shape, generation = self.shape, self.generation
        check_system(self.system, NAME)
        check_shape(shape)
        if shape.duration_tokens != len(TOKENS):
            raise ValueError("it has other duration tokens")
        if generation.top > shape.codes:
            raise ValueError(f"'top' is {generation.top} of {shape.codes} codes")


class Voxtream1Frames(EagerFrames):
    """Frames from the joint distribution. VoXtream draws duration token and semantic code together
    as one label, and also draws acoustic codes. VoXtream2 draws the token first, uses guidance with
    a second row, and takes the most likely acoustic codes. The controls are noise [K, top]: a row
    for the label, then one for each acoustic codebook.
    """

    def __init__(self, prompt: PreparedPrompt, mimi: Mimi, generation: Voxtream1Generation) -> None:
        super().__init__(prompt, mimi)
        self._generation = generation

    def _choose(self, hidden: Tensor, controls: Tensor) -> Choice:
        """Draw the frame's label from the most likely ones. The first frame always moves on; in the
        released loop the voice may stay in the pause after the prompt. Padding is never drawn; the
        released loop can draw it.
        """
        model = self.prompt.model
        least, codes = MOVES_ON if len(controls) == 1 else 0, model.config.codes
        joint = model.joint_logits(hidden)[:, least:, :codes]  # [1, N, V]
        label = self._draw(joint.flatten(1), controls[:1])
        return Choice(label // codes + least, label % codes)

    def _acoustic(self, hidden: Tensor, semantic: Tensor, controls: Tensor) -> Tensor:
        def choose(number: int, logits: Tensor) -> Tensor:
            return self._draw(logits, controls[number + 1 :][:1])

        return self.prompt.model.acoustic_codes(hidden, semantic, self._depth, choose)

    def _draw(self, logits: Tensor, noise: Tensor) -> Tensor:
        """Draw one of the `top` most likely entries of logits [1, V], [1, 1]."""
        probabilities = (logits / self._generation.temperature).softmax(-1)
        return draw_top(probabilities, self._generation.top, noise.to(logits.device))


class Voxtream1Script(VoxtreamScript):
    """VoXtream's text: without punctuation, always with all of the look-ahead."""

    def add(self, word: PhonedWord) -> None:
        super().add(PhonedWord(word.phones))

    def _look_ahead(self) -> int:
        return self._prompt.model.config.max_look_ahead


class Cursor:
    """The position of the voice, moved by duration tokens, and the number of frames left after the
    text.
    """

    def __init__(self, start: int, generation: Voxtream1Generation) -> None:
        self.last = start  # phone of the frame before
        self.left: int | None = None  # frames to be made; None = the end is not reached
        self._held = 0  # frames in a row that stayed
        self._generation = generation

    def advance(self, token: int, script: VoxtreamScript) -> Span:
        """Move by the token drawn with a frame. Return the phones of the frame after it."""
        step = TOKENS[token]
        self._held = self._held + 1 if step.shift == 0 else 0
        pushed = self._held > self._generation.held_frames
        start = self.last + (1 if pushed else step.shift)
        if pushed:
            self._held = 0
        if script.closed and start >= script.phone_count:
            return self._over(start - script.phone_count, script.phone_count)
        last = start + step.phones - 1
        self.last = last if script.closed else min(last, script.phone_count - 1)
        return Span(start, self.last)

    def _over(self, beyond: int, end: int) -> Span:
        """Move to the silence after the text, or to the end mark, after which one more frame
        follows.
        """
        place = end + min(beyond, 1)
        if place > end:
            self.left = 1
        elif self.left is None:
            self.left = self._generation.end_frames
        self.last = place
        return Span(place, place, ended=True)


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

    def __init__(self, parts: Voxtream1Parts, prompt: PreparedPrompt, seed: int) -> None:
        super().__init__(parts.espeak, prompt, seed)
        self._parts = parts

    def _begin_passage(self, first_word: int) -> None:
        super()._begin_passage(first_word)
        parts, prompt = self._parts, self._prompt
        self._script = Voxtream1Script(prompt, parts.table, first_word)
        self._cursor = Cursor(prompt.last_phone, parts.generation)
        self._frames = Voxtream1Frames(prompt, parts.mimi, parts.generation)

    def _read_ahead(self) -> bool:
        full = self._passage >= self._parts.generation.passage_frames
        while not self._script.closed and self._needs_a_word():
            if not self._read(passage_full=full):
                return False
        return True

    def _needs_a_word(self) -> bool:
        """Return True if the next frame sees further than the words read so far."""
        ahead = self._script.phone_count - self._cursor.last - 1
        most = self._parts.generation.look_ahead
        words = len(self._words_heard) - self._script.places.first_word
        return ahead < MIN_LOOK_AHEAD or (ahead < most and words <= self._passage)

    def _pass_over_words(self) -> None:
        end = self._script.phone_count
        self._begin_words(Span(end, end, ended=True))
        self._append(np.zeros(FRAME_SAMPLES, np.float32))
        self._passage_over = True

    def _draw(self, before: Span | None) -> None:
        script, parts = self._script, self._parts
        books = parts.model.codebooks if before else 1
        draws = [race_noise(parts.generation.top, self._generator) for _ in range(books)]
        if before is None:
            token = self._frames.first(self._prompt.open(script.rows()), draws[0])
            self._span = self._cursor.advance(token, script)
            return
        phones, said = script.vector(before), script.said(before)
        script.forget_before(before.first)
        frame = self._frames.next(phones, said, torch.cat(draws))
        begun = self._begin_words(before)
        self._meter.add(self._made, script.syllables_ended(before))
        self._passage += 1
        if self._cursor.left is not None:
            self._cursor.left -= 1
        is_cut = False
        if self._cursor.left != 0:
            self._span = self._cursor.advance(frame.token, script)
            is_cut = script.is_cut(before, self._span, self._prompt.room - self._passage)
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
