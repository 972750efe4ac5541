"""The published LLMVoX as a TtsModel, and its sessions. It has one voice, which is part of its
weights.

Invariant: weights are loaded once and never change.
"""

import os
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.audio.finishing import Ending
from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.wavtokenizer import AHEAD, AHEAD_MS, WavTokenizerDecoder, load_wavtokenizer
from engine.machine import return_freed_memory
from engine.nn.weights_file import REFETCH, load_network, read_shape
from engine.settings import SpeechSettings
from engine.translatable import Progress, Translatable
from engine.tts.base import TtsInfo, Voice
from engine.tts.llmvox.model import LlmVoxGeneration
from engine.tts.llmvox.published.conversion import converted_codec, converted_network
from engine.tts.llmvox.published.model import (
    TOKEN_SAMPLES,
    PublishedModel,
    PublishedSentence,
    PublishedShape,
)
from engine.tts.llmvox.published.paths import NAME, VOICE, is_fetched
from engine.tts.llmvox.session import Sentence, SentenceSession
from engine.tts.llmvox.units import ByteUnits
from engine.tts.packs import not_fetched
from engine.tts.papers.synthesiser import SystemSynthesiser, speech_device

# The public server's first chunk of 10 tokens, plus those that the windows hold back, and the
# paper's growth. Beyond 80 tokens (1.1 s) chunks need not grow: windows overlap, and a step must
# not take long. A token that is repeated for 2 s is not a pause.
GENERATION: Final = LlmVoxGeneration(
    first_chunk=10 + AHEAD,
    growth=2,
    largest_chunk=80,
    longest_unit=20,
    most_repeats=150,
    dropout=0.0,
)
LEAD_MS: Final = 1000  # the longest chunk takes half of that on two cores, in 8 bits
THREADS: Final = 2  # the window and the audio devices need the other cores
# Room for a byte's speech. A sentence ends with the word that exceeds the network's positions.
TOKENS_PER_BYTE: Final = 8


@dataclass(frozen=True)
class PublishedParts:
    """Parts that all sessions of a model share and none may change."""

    generation: LlmVoxGeneration
    model: PublishedModel
    codec: WavTokenizerDecoder


class PublishedSession(SentenceSession):
    """The TtsSession of the published LLMVoX, without control of the rate: two replicas, as in the
    paper. Every sentence is decoded on its own, and fades out before the next one begins.
    """

    token_samples = TOKEN_SAMPLES
    replicas = 2

    def __init__(self, parts: PublishedParts) -> None:
        self._model, self._windows = parts.model, parts.codec.open()
        reader = ByteUnits(parts.model.shape.positions // TOKENS_PER_BYTE)
        super().__init__(parts.generation, reader, torch.Generator())  # nothing is drawn

    def _open_sentence(self) -> Sentence:
        return PublishedSentence(self._model)

    def _decode(self, tokens: list[int]) -> Tensor:
        return self._windows.decode(self._model.codebook.weight[tokens]).cpu()

    def _rest(self) -> Tensor:
        return self._windows.end()

    def _end_sentence(self, front: Sentence) -> None:
        super()._end_sentence(front)
        self._ending = Ending(SAMPLE_RATE)  # the windows have faded out already


class PublishedSynthesiser(SystemSynthesiser[PublishedParts, None]):
    """The published LLMVoX as a TtsModel."""

    def __init__(self, parts: PublishedParts) -> None:
        note = Translatable(
            "Its codec hears {ms} ms ahead: so much later its speech begins.", ms=AHEAD_MS
        )
        device = parts.model.position.weight.device.type
        info = TtsInfo(NAME, SAMPLE_RATE, None, False, device, note=note, lead_ms=LEAD_MS)
        own = (Voice(VOICE, info.voice_model),)
        super().__init__(
            info, parts, lambda parts, voice, seed: PublishedSession(parts), own, lambda voice: None
        )


def load(settings: SpeechSettings, progress: Progress) -> PublishedSynthesiser:
    """Load the model for these settings; the fetched files are converted the first time. ModelError
    when files are missing or unusable.
    """
    device = speech_device(settings.device)
    if not is_fetched():
        raise not_fetched(VOICE, NAME)
    network, codec = converted_network(progress), converted_codec(progress)
    progress(Translatable("Loading {name}", name="LLMVoX"), None)
    model = load_network(
        network,
        lambda text: PublishedModel(read_shape(PublishedShape, text)),
        Translatable("The voice file"),
        REFETCH,
    )
    decoder = load_wavtokenizer(codec, model.shape.entry, REFETCH)
    return PublishedSynthesiser(ready(model, decoder, device))


def ready(
    model: PublishedModel,
    decoder: WavTokenizerDecoder,
    device: torch.device,
    *,
    packed: bool = True,
) -> PublishedParts:
    """Move the parts to the device, for inference only; the processor uses 8-bit products."""
    threads = min(THREADS, os.cpu_count() or 1)
    torch.set_num_threads(threads)
    model.to(device).eval().requires_grad_(requires_grad=False)
    decoder.to(device).eval().requires_grad_(requires_grad=False)
    if device.type == "cpu" and packed:
        model.pack(threads=threads)
    return_freed_memory()
    return PublishedParts(GENERATION, model, decoder)
