"""VoXtream as a TtsModel, and its pack, made on this machine.

    config.json   system, name, shape, generation       phones.json   ids of phones
    voice.safetensors   codec.safetensors   voices/   CARD.md

Its depth transformer is the built-in voice's, which is not in the pack.

Invariant: a pack is loaded entirely or refused with a ModelError that names the file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from engine.codec.codes_file import tensors_hash
from engine.codec.mimi import SAMPLE_RATE
from engine.codec.small import load_small
from engine.errors import ModelError
from engine.machine import return_freed_memory
from engine.nn.packed.product_graph import Precision
from engine.resources import resource
from engine.text.phonemes import Espeak
from engine.translatable import Translatable
from engine.tts.base import TtsInfo, Voice
from engine.tts.pack_files import PHONES_FILE, VOICE_FILE, named_voices, read_config
from engine.tts.packs import CODEC_FILE, CONFIG_FILE
from engine.tts.papers.synthesiser import (
    SystemSynthesiser,
    prompt_codes,
    real_numbers,
    unfit,
    whole_numbers,
)
from engine.tts.phones import BOS, read_table
from engine.tts.voxtream.config import GENERATION
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights, precision_on
from engine.tts.voxtream.files.pack import VoxtreamPackConfig, target
from engine.tts.voxtream.files.paths import NAME as STARTER
from engine.tts.voxtream.network.frames import PreparedPrompt
from engine.tts.voxtream.network.model import VoxtreamModel, delayed
from engine.tts.voxtream.voxtream1.session import (
    FROZEN,
    NAME,
    Voxtream1PackConfig,
    Voxtream1Parts,
    Voxtream1Session,
)

REMAKE: Final = Translatable("Make the voice pack again.")


class Voxtream1Synthesiser(SystemSynthesiser[Voxtream1Parts, PreparedPrompt]):
    """VoXtream as a TtsModel. Its voices are prompts with their text, aligned."""

    def __init__(
        self, parts: Voxtream1Parts, own_voices: tuple[Voice, ...], name: str = NAME
    ) -> None:
        info = TtsInfo(name, SAMPLE_RATE, rate_range=None, device=parts.model.device.type)
        super().__init__(
            info, parts, Voxtream1Session, own_voices, partial(prepared_voice, parts.model)
        )


def load(folder: Path, device: str) -> Voxtream1Synthesiser:
    """Load the pack's model and named voices on a device ('auto' = the CPU, because a frame's
    products are small). The ModelError names the file that is missing or wrong.
    """
    place = target("cpu" if device == "auto" else device, threads=1)
    torch.set_num_threads(place.threads)  # a frame's products are too small for a second one
    return load_pack(folder, precision_on(place), place)


def load_pack(folder: Path, precision: Precision, place: Target) -> Voxtream1Synthesiser:
    """Load a pack as load() does. The heads and the depth transformer stay plain, because packed
    ones cannot draw codes.
    """
    config = read_config(folder / CONFIG_FILE, Voxtream1PackConfig)
    shape = config.shape
    table = read_table(folder / PHONES_FILE, shape.phone_vocabulary)
    with _weights(folder, config) as weights:
        model = load_weights(weights, shape, GENERATION, precision, place, heads=Precision.FLOAT)
    codec = load_small(folder / CODEC_FILE, place.device)
    codec.tune()
    parts = Voxtream1Parts(config.generation, model, codec, table, Espeak())
    return_freed_memory()
    return Voxtream1Synthesiser(parts, named_voices(folder, config.name), config.name)


def frozen_hash(file: Path) -> str:
    """Return the hash of a voice's FROZEN tensors. ModelError for a missing or damaged file."""
    return tensors_hash(file, lambda name: name.startswith(FROZEN))


class _CombinedWeights:
    """The weights of a pack, completed by the FROZEN weights of the built-in voice."""

    def __init__(self, own: PublishedFile, lender: PublishedFile) -> None:
        self._own, self._lender = own, lender

    def take(self, key: str) -> Tensor:
        """Return one tensor as fp32."""
        return (self._lender if key.startswith(FROZEN) else self._own).take(key)


@contextmanager
def _weights(folder: Path, config: Voxtream1PackConfig) -> Iterator[_CombinedWeights]:
    """Open the weights of a pack. ModelError when they are incomplete, or when the pack was made
    with another built-in voice.
    """
    built_in = resource(STARTER)
    if frozen_hash(built_in / VOICE_FILE) != config.frozen:
        raise ModelError(
            "The pack {folder} was made with another built-in voice than this program's.",
            hint=REMAKE,
            folder=folder,
        )
    shape = read_config(built_in / CONFIG_FILE, VoxtreamPackConfig).shape
    with (
        PublishedFile(built_in / VOICE_FILE, shape) as lender,
        PublishedFile(folder / VOICE_FILE, config.shape, without=FROZEN) as own,
    ):
        yield _CombinedWeights(own, lender)


def prepared_voice(model: VoxtreamModel, voice: Voice) -> PreparedPrompt:
    """Return the prompt in the voice's tensors: codes [K, P], phones [Q], spans [P, 2] that advance
    by at most one phone a frame and end on the last, and the speaker's vector [W]. InvalidInput
    when they do not fit the model.

    Unlike VoXtream2's masked prompt, it contains its text. Its last phones see the text that
    follows, so the last columns are computed again with the first words of every utterance.
    """
    shape = model.config
    codes = prompt_codes(voice, shape.codebooks, shape.codes, shape.longest_prompt)
    phones = whole_numbers(voice, "phones", shape.phone_vocabulary)
    spans = whole_numbers(voice, "spans", len(phones), dimensions=2)
    if len(phones) >= shape.phone_window:
        raise unfit(voice, f"{len(phones)} phones")
    if spans.shape != (codes.shape[1], 2) or not _walks(spans, len(phones)):
        raise unfit(voice, "'spans' that are no prompt's")
    speaker = real_numbers(voice, "speaker", (shape.speaker_width,))
    return prepare(model, codes, phones, spans, speaker)


def prepare(
    model: VoxtreamModel, codes: Tensor, phones: Tensor, spans: Tensor, speaker: Tensor
) -> PreparedPrompt:
    """Prepare a prompt. Position 0 of its sequence is `bos`."""
    device = model.device
    codes = codes.to(device)
    prepared = PreparedPrompt(
        model,
        tokens=torch.cat((torch.tensor([BOS]), phones))[None].to(device),
        places=torch.cat((torch.zeros(1, 2, dtype=torch.int64), spans + 1)).to(device),
        columns=delayed(codes, model.config)[:1],
        speaker=model.speaker_projection(speaker.to(device, model.dtype))[None],
        last_acoustic=codes[None, 1:, -1],
        heard=codes[None, :, :0],
    )
    prepared.cache(model.config.max_look_ahead)
    return prepared


def _walks(spans: Tensor, phones: int) -> bool:
    """Return True if duration tokens can produce frames with these spans."""
    first, last = spans[:, 0], spans[:, 1]
    steps, wide = first[1:] - last[:-1], last - first
    ends = bool(first[0] == 0) and bool(last[-1] == phones - 1)
    return ends and all(bool(((each == 0) | (each == 1)).all()) for each in (steps, wide))
