"""Mimi, VoXtream's codec, with its streaming state separate from the modules.

moshi keeps the state of a stream on the modules themselves, so two streams on one model would mix.
Here a stream is a value: it is attached to the modules for one call and detached afterwards.
Invariant: between two calls the model holds no state, so any number of streams share its weights.
One thread decodes at a time; another may encode meanwhile, with modules that share the weights.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from moshi.utils.compile import no_compile, no_cuda_graph
from safetensors import SafetensorError
from torch import Tensor, nn

from engine.codec.products import DECODING, ENCODING, quicken
from engine.errors import ModelError
from engine.nn.weights_file import not_finite

SAMPLE_RATE = 24_000  # Hz
FRAME_SAMPLES = 1_920
FRAME_MS = 80
NOTHING = -1  # the phone of a frame whose phones are unknown
PHONE_ROWS = 2  # the first and the last phone of a frame
_CPU = torch.device("cpu")
_SWITCHED_OFF = ExitStack()  # never left


@dataclass
class MimiStream:
    """The state of one stream: moshi's state objects by module name, owned by one session."""

    states: dict[str, Any]


class Mimi:
    """Codes [B, K, T] <-> samples [B, 1, 1920 T] at 24 kHz; K = the codebooks in use."""

    def __init__(self, model: Any, codebooks: int, remake: Callable[[], Any] | None = None) -> None:
        """`remake` loads the model again, which a tuned one needs in order to encode; None = a
        tuned one keeps its encoding half.
        """
        # moshi would capture graphs of its own, and compile with a compiler that may not be
        # installed. Its switches hold for the whole process: leaving one on one thread would turn
        # it on again for another.
        _SWITCHED_OFF.enter_context(no_compile())
        _SWITCHED_OFF.enter_context(no_cuda_graph())
        self._model = model
        self._remake = remake
        self._takes_phones = hasattr(model, "phones")  # it is a TextAwareMimi
        self.codebooks = codebooks
        self._model.set_num_codebooks(codebooks)
        self._encoder: Any = _encoding_half(model)  # None = loaded again while a voice is made

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self._model.parameters()).device
        return device

    def tune(self) -> None:
        """On the CPU, use products made for single frames and drop the encoding half, which is
        loaded again only while a voice is made.
        """
        if self.device.type == "cpu":
            quicken(self._model)
            if self._remake is not None:
                self._encoder = None
                for part in ENCODING:
                    setattr(self._model, part, None)  # moshi reads them, never calls them

    @torch.inference_mode()
    def open(self, batch: int = 1) -> MimiStream:
        """Return a new stream without a past, as after silence."""
        with self._model.streaming(batch):
            return MimiStream(self._model.get_streaming_state())

    @torch.inference_mode()
    def copied(self, stream: MimiStream) -> MimiStream:
        """Return another stream with the same past. moshi's states refer to modules, which are
        shared.
        """
        shared = {id(module): module for module in self._model.modules()}
        return MimiStream(deepcopy(stream.states, shared))

    @torch.inference_mode()
    def encode(self, pcm: Tensor) -> Tensor:
        """Encode a complete clip [B, 1, S] to codes [B, K, T], T = S / 1920 rounded up."""
        model = self._encoder
        if model is None:
            assert self._remake is not None
            model = self._remake()
        codes: Tensor = model.encode(pcm.to(self.device))
        return codes

    @torch.inference_mode()
    def decode_frame(
        self, stream: MimiStream, codes: Tensor, phones: Tensor | None = None
    ) -> Tensor:
        """The next frames of codes [B, K, T], each 0..2047, -> samples [B, 1, 1920 T]. `phones`
        [B, 2, T]: the ids of each frame's first and last phone, or NOTHING; only a TextAwareMimi
        heeds them.
        """
        if self._takes_phones:
            if phones is None:
                phones = codes.new_full((len(codes), PHONE_ROWS, codes.shape[2]), NOTHING)
            codes = torch.cat((codes, phones), dim=1)
        with self._resumed(stream):
            pcm: Tensor = self._model.decode(codes)
        return pcm

    @torch.inference_mode()
    def restart(self, stream: MimiStream) -> None:
        """Reset a stream without moving its tensors."""
        with self._resumed(stream):
            self._model.reset_streaming()

    @contextmanager
    def _resumed(self, stream: MimiStream) -> Iterator[None]:
        self._model.set_streaming_state(stream.states)
        try:
            yield
        finally:
            self._model.set_streaming_state(dict.fromkeys(stream.states))


def _encoding_half(model: nn.Module) -> nn.Module:
    """Return separate modules that encode with the model's weights: moshi keeps a stream's state on
    its modules, so a clip encoded while a stream is attached would become a part of it.
    """
    shared: dict[int, Any] = {id(each): each for each in chain(model.parameters(), model.buffers())}
    left_out = {id(getattr(model, name)): None for name in DECODING if hasattr(model, name)}
    return deepcopy(model, shared | left_out)


def load_mimi(file: Path, codebooks: int, device: torch.device) -> Mimi:
    """Read the published safetensors file through moshi's own loader.

    ModelError if the file is missing, damaged, or not Mimi.
    """
    from moshi.models.loaders import get_mimi  # slow to import

    def make() -> Any:
        model = _frozen(get_mimi(str(file), device=device, num_codebooks=codebooks))
        if key := not_finite(model.state_dict().items()):
            raise ValueError(f"'{key}' holds NaN or infinity")
        return model

    if not file.is_file():
        raise ModelError(
            "The codec file {file} is not there.", hint="Fetch the model again.", file=file
        )
    try:
        return Mimi(make(), codebooks, make)
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(
            "The codec file {file} cannot be used: {error}",
            hint="Fetch the model again.",
            file=file,
            error=error,
        ) from error


def _frozen(model: nn.Module) -> nn.Module:
    return model.eval().requires_grad_(False)
