"""VoXtream2 as a TtsModel.

Invariant: weights are loaded once and never change; a session changes only its own state.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from engine.codec.mimi import SAMPLE_RATE, Mimi
from engine.machine import return_freed_memory
from engine.translatable import Translatable
from engine.tts.base import Pcm, RateRange, TtsInfo, Voice
from engine.tts.papers.synthesiser import prompt_codes, real_numbers
from engine.tts.pick import can_clone
from engine.tts.session import Synthesiser
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import SpeakerEncoder, recipe_version, resampled
from engine.tts.voxtream.config import UNBOUNDED
from engine.tts.voxtream.files.paths import VOXTREAM2
from engine.tts.voxtream.network.frames import (
    EagerFrames,
    FrameMaker,
    GraphFrames,
    PreparedPrompt,
    prepare,
)
from engine.tts.voxtream.rate import RateTarget
from engine.tts.voxtream.session import VoxtreamParts, VoxtreamSession

log = logging.getLogger(__name__)


class VoxtreamSynthesiser(Synthesiser[PreparedPrompt]):
    """VoXtream2 as a TtsModel."""

    def __init__(
        self,
        parts: VoxtreamParts,
        speaker: SpeakerEncoder,
        own_voices: tuple[Voice, ...],
        name: str = VOXTREAM2,
        *,
        edition: str = "",
        graphs: bool | None = None,
    ) -> None:
        """`edition`: see TtsInfo. `graphs`: True = make frames by replaying a captured graph; None
        = on CUDA only.
        """
        rates = RateRange(min(parts.rates), max(parts.rates))
        info = TtsInfo(
            name=name,
            sample_rate=SAMPLE_RATE,
            rate_range=rates,
            can_clone=can_clone(name),
            device=parts.model.device.type,
            edition=edition,
            recipe_version=recipe_version(parts.loudness),
            reads_ahead=parts.generation.look_ahead > 0,
        )
        super().__init__(info, own_voices, self._prompt)
        self._parts = parts
        self._graphs = parts.model.device.type == "cuda" if graphs is None else graphs
        self._idle: list[GraphFrames] = []
        self._speaker = speaker

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Make a voice from mono samples of 1 s or more. UnreadableClip gives the reason when none
        can be made.
        """
        parts, made_for = self._parts, self.info.voice_model
        voice = encode(pcm, sample_rate, parts.mimi, self._speaker, made_for, parts.loudness)
        return_freed_memory()  # the codec's encoding half was loaded for it
        return voice

    # Buffers that warm() or a step made can be written to in this mode only.
    @torch.inference_mode()
    def open(self, voice: Voice, *, seed: int) -> VoxtreamSession:
        prompt = self._of(voice)
        return VoxtreamSession(self._parts, prompt, partial(self._frames, prompt), seed)

    @torch.inference_mode()
    def warm(self, voice: Voice) -> None:
        """Compute the voice's phone rows for every look-ahead, and its temporal state for first
        words of up to nine phones, or of any length if the model reads ahead. Then compute one
        frame, because a library's first call takes longer.
        """
        prompt = self._of(voice)
        furthest = self._parts.model.config.max_look_ahead
        for look_ahead in range(1, furthest + 1):
            prompt.rows(look_ahead)
        for look_ahead in range(1, furthest + 1 if self.info.reads_ahead else 3):
            prompt.cache(look_ahead)
        super().warm(voice)

    def with_rates(self, rates: Mapping[float, RateTarget]) -> "VoxtreamSynthesiser":
        """Return a synthesiser with the same weights and voices but another rate table, without
        stretching.
        """
        generation = replace(self._parts.generation, lowest_rate=0.0, highest_rate=UNBOUNDED)
        parts = replace(self._parts, rates=rates, generation=generation)
        name, edition = self.info.name, self.info.edition
        return VoxtreamSynthesiser(
            parts, self._speaker, self._voices, name, edition=edition, graphs=self._graphs
        )

    def close(self) -> None:
        super().close()
        self._idle.clear()

    def _frames(self, prompt: PreparedPrompt) -> FrameMaker:
        """Return a maker of frames for a session: on CUDA a graph, which is captured if none is
        idle.
        """
        if self._graphs and not self._idle:
            self._capture()
        if not self._idle:
            return EagerFrames(prompt, self._parts.mimi)
        frames = self._idle.pop()
        frames.serve(prompt)
        return frames

    def _capture(self) -> None:
        """Capture one more graph. If that fails, never try again, and set the note in `info`."""
        parts = self._parts
        try:
            frames = GraphFrames(parts.model, parts.mimi, self._idle.append)
        except RuntimeError as error:  # torch's: too little memory, or a kernel that cannot be
            log.warning("frames cannot be captured error=%s", error)
            self._graphs = False
            note = Translatable(
                "The voice is slower than this graphics card allows, because CUDA graphs"
                " failed: {error}",
                error=str(error).partition("\n")[0] or type(error).__name__,  # torch adds lines
            )
            self.info = replace(self.info, note=note)
        else:
            self._idle.append(frames)

    def _prompt(self, voice: Voice) -> PreparedPrompt:
        model = self._parts.model
        shape = model.config
        codes = prompt_codes(voice, shape.codebooks, shape.codes, shape.longest_prompt)
        speaker = real_numbers(voice, "speaker", (shape.speaker_width,))
        return prepare(model, codes, speaker, self._parts.table.special)


def encode(
    pcm: Pcm,
    sample_rate: int,
    mimi: Mimi,
    speaker: SpeakerEncoder,
    model: str,
    loudness: float | None = None,
) -> Voice:
    """Make a voice from mono samples, brought to `loudness` (LUFS; None = unchanged).
    UnreadableClip gives the reason when none can be made.
    """
    recording = recordings.read(pcm, sample_rate, loudness)
    clean = resampled(recording.clean, sample_rate, SAMPLE_RATE)
    codes = mimi.encode(torch.from_numpy(clean)[None, None])
    tensors: dict[str, npt.NDArray[np.generic]] = {
        "codes": codes[0].cpu().numpy().astype(np.int16),
        "speaker": recording.speaker(speaker),
    }
    return Voice(recording.name, model, tensors, recording.about)
