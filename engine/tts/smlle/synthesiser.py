"""SMLLE behind the seam every synthesiser stands behind, and its pack, made on this machine.

    config.json   shape, generation      phones.json   ids of phones      voices/   CARD.md
    transducer, spectrum, vocoder, semantic, speaker .safetensors

Invariant: weights are loaded once and never change; a pack is read as a whole or refused with a
ModelError that names the file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.codec.mel import BANDS, MelSpectrum
from engine.codec.semantic import SemanticTokeniser, load_semantic
from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.vocoder import load_vocoder
from engine.errors import InvalidInput, ModelError
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.pack_files import PHONES_FILE, VOCODER_FILE, named_voices, with_weights
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.smlle.aligned import delete_bos
from engine.tts.smlle.config import NAME, STEP_SAMPLES, Shape, read_pack_config
from engine.tts.smlle.session import ModelParts, SmlleSession
from engine.tts.smlle.spectrum import Inputs, Prompt, Spectrum, before, prepared
from engine.tts.smlle.transducer import Transducer
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import MAKING, SpeakerEncoder, resampled
from engine.tts.speaker.small import load_small_speaker
from engine.tts.synthesiser import Synthesiser

TRANSDUCER_FILE: Final = "transducer.safetensors"
SPECTRUM_FILE: Final = "spectrum.safetensors"
SEMANTIC_FILE: Final = "semantic.safetensors"
LONGEST_STEPS: Final = 500  # of a prompt, 20 s


@dataclass(frozen=True)
class Cloner:
    """What makes a voice of a recording."""

    semantic: SemanticTokeniser
    speaker: SpeakerEncoder
    mel: MelSpectrum
    masked: int  # the phone of a prompt whose text is not known

    def encode(self, pcm: Pcm, sample_rate: int, made_for: str) -> Voice:
        """The voice of a recording. UnreadableClip says why none can be made."""
        recording = recordings.read(pcm, sample_rate)
        clean = torch.from_numpy(resampled(recording.clean, sample_rate, SAMPLE_RATE))
        tokens = self.semantic.encode(clean)
        mel = self.mel(clean[None, : len(tokens) * STEP_SAMPLES])[0]
        tensors: dict[str, npt.NDArray[np.generic]] = {
            "tokens": tokens.numpy().astype(np.int16),
            "phones": np.full(len(tokens), self.masked, np.int16),
            "mel": mel.numpy().astype(np.float16),
            "speaker": recording.speaker(self.speaker),
        }
        return Voice(recording.name, made_for, tensors, recording.about)


class SmlleSynthesiser(Synthesiser[Prompt]):
    """A TtsModel."""

    def __init__(
        self,
        parts: ModelParts,
        own_voices: tuple[Voice, ...],
        cloner: Cloner | None = None,
        name: str = NAME,
        *,
        edition: str = "",
    ) -> None:
        """`cloner` None: it knows its own voices only. `edition`: see TtsInfo."""
        info = TtsInfo(
            name=name,
            sample_rate=SAMPLE_RATE,
            rate_range=parts.generation.rates,
            can_clone=cloner is not None,
            edition=edition,
            making=MAKING,
        )
        super().__init__(info, own_voices, lambda voice: prompted(parts, voice))
        self._parts = parts
        self._cloner = cloner

    @property
    def shape(self) -> Shape:
        """The shape of its networks."""
        return self._parts.spectrum.shape

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """A voice from mono samples of 1 s or more (UnreadableClip says why not); its text stays
        unknown, while the prompts in the paper have their text.
        """
        if self._cloner is None:
            raise ModelError(
                "{name} cannot speak like a recording.",
                hint="Make its pack with a speaker encoder and a tokeniser.",
                name=self.info.name,
            )
        return self._cloner.encode(pcm, sample_rate, self.info.voice_model)

    @torch.inference_mode()
    def open(self, voice: Voice, *, seed: int) -> SmlleSession:
        return SmlleSession(self._parts, self._of(voice), seed)


def load(folder: Path, device: str = "cpu") -> SmlleSynthesiser:
    """The pack's model and named voices, always on the CPU: one step's products are too small for
    another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape, cpu = config.shape, torch.device("cpu")
    parts = ModelParts(
        config.generation,
        with_weights(Transducer(shape), folder / TRANSDUCER_FILE),
        with_weights(Spectrum(shape), folder / SPECTRUM_FILE),
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(shape.encoder.head_width, cpu),
        RotaryTable(shape.spectrum.head_width, cpu),
    )
    cloner = Cloner(
        load_semantic(folder / SEMANTIC_FILE),
        load_small_speaker(folder / SPEAKER_FILE),
        MelSpectrum(),
        shape.masked,
    )
    pack_voices = named_voices(folder / VOICES_FOLDER, config.name)
    return SmlleSynthesiser(parts, pack_voices, cloner, config.name)


def prompted(parts: ModelParts, voice: Voice) -> Prompt:
    """The prompt a voice gives on the network. InvalidInput for a voice that does not fit."""
    spectrum, generation = parts.spectrum, parts.generation
    shape = spectrum.shape
    tokens = _numbers(voice, "tokens", shape.tokens)
    phones = _numbers(voice, "phones", shape.masked + 1)
    steps = len(tokens)
    mel = _values(voice, "mel", (steps * shape.columns, shape.bands))
    speaker = _values(voice, "speaker", (shape.speaker_width,))
    if len(phones) != steps or not steps <= LONGEST_STEPS:
        raise _unfit(voice, f"{steps} tokens and {len(phones)} phones")
    if generation.prompt_delete_bos:
        phones = delete_bos(phones, shape.begin, shape.end)
    columns = spectrum.normalised(mel).view(1, steps, shape.values)
    inputs = Inputs(torch.tensor([tokens]), torch.tensor([phones]), before(columns), speaker[None])
    return prepared(spectrum, parts.spectrum_rotation, inputs, columns, generation.dropout)


def _numbers(voice: Voice, name: str, count: int) -> list[int]:
    """A row of whole numbers from 0 to `count` - 1."""
    values = _array(voice, name)
    whole = values.ndim == 1 and np.issubdtype(values.dtype, np.integer)
    if not whole or not len(values) or values.min() < 0 or values.max() >= count:
        raise _unfit(voice, f"'{name}' of shape {list(values.shape)}")
    return [int(value) for value in values]


def _values(voice: Voice, name: str, shape: tuple[int, ...]) -> Tensor:
    values = _array(voice, name)
    if values.shape != shape or not np.isfinite(values).all():
        raise _unfit(voice, f"'{name}' of shape {list(values.shape)}, not {list(shape)}")
    return torch.from_numpy(values.astype(np.float32))


def _array(voice: Voice, name: str) -> npt.NDArray[Any]:
    if name not in voice.tensors:
        raise _unfit(voice, f"no '{name}'")
    return voice.tensors[name]


def _unfit(voice: Voice, what: str) -> InvalidInput:
    return InvalidInput(
        "The voice '{name}' does not fit: it holds {what}.",
        hint="Make the voice again from its recording.",
        name=voice.name,
        what=what,
    )
