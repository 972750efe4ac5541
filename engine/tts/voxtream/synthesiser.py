"""VoXtream2 as a TtsModel.

Invariant: weights are loaded once and never change; a session changes only its own state.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from engine.audio.clips.clip import Clip
from engine.codec.mimi import SAMPLE_RATE, Mimi, load_mimi
from engine.machine import return_freed_memory
from engine.nn.packed.quantise import Precision
from engine.text.phonemes import Espeak
from engine.translatable import Translatable
from engine.tts.base import Pcm, RateRange, TtsInfo, Voice
from engine.tts.papers.voice_tensors import prompt_codes, real_numbers
from engine.tts.phones import PhoneTable
from engine.tts.pick import can_clone
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import SpeakerEncoder, recipe_version, resampled
from engine.tts.synthesiser import Synthesiser
from engine.tts.voxtream.config import UNBOUNDED
from engine.tts.voxtream.edition import Edition
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.paths import VOXTREAM2
from engine.tts.voxtream.files.published import WEIGHTS, espeak_of, read_published
from engine.tts.voxtream.files.speaker_file import load_speaker_encoder
from engine.tts.voxtream.network.frames import EagerFrames, FrameMaker, GraphFrames
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.prompt import PreparedPrompt, prepare, rotary_tables
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
        self._tables = rotary_tables(parts.model)

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
            frames = GraphFrames(parts.model, self._tables, parts.mimi, self._idle.append)
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
        return prepare(model, self._tables, codes, speaker, self._parts.table.special)


@dataclass(frozen=True)
class Files:
    """Paths of the published files."""

    model: Path  # folder, see files/published.py
    mimi: Path
    speaker: Path


def load_published(
    files: Files,
    edition: Edition,
    precision: Precision,
    target: Target,
    fallback: Callable[[], Clip],
) -> VoxtreamSynthesiser:
    """Load the published model. The ModelError names a missing or wrong file.

    The model has no voice of its own: `fallback` returns a recording to make one from.
    """
    published = read_published(files.model, edition)
    shape, edition = published.shape, published.edition
    espeak = espeak_of(files.model, published.language)
    with PublishedFile(files.model / WEIGHTS, shape) as weights:
        model = load_weights(weights, shape, edition.generation, precision, target)
    mimi = load_mimi(files.mimi, shape.codebooks, target.device)
    speaker = load_speaker_encoder(files.speaker)
    clip = fallback()
    name, loudness = edition.name, edition.loudness
    voice = encode(clip.pcm, clip.sample_rate, mimi, speaker, name, loudness)
    mimi.tune()
    return_freed_memory()
    parts = _parts(edition, model, mimi, published.table, espeak)
    return VoxtreamSynthesiser(parts, speaker, (replace(voice, name="formant"),), name)


def _parts(
    edition: Edition, model: VoxtreamModel, mimi: Mimi, table: PhoneTable, espeak: Espeak
) -> VoxtreamParts:
    generation = edition.generation
    return VoxtreamParts(generation, model, mimi, table, espeak, edition.rates, edition.loudness)


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
