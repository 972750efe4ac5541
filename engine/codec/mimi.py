"""Mimi, VoXtream's codec, with its streaming state separate from the modules.

moshi keeps the state of a stream on the modules themselves, so two streams on one model would mix.
Here a stream is a value: it is attached to the modules for one call and detached afterwards.
Invariant: between two calls the model holds no state, so any number of streams share its weights.
One thread decodes at a time; another may encode meanwhile, with modules that share the weights.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from moshi.utils.compile import no_compile, no_cuda_graph
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import ModelError
from engine.nn.transformer import Linear
from engine.nn.weights_file import check_finite

SAMPLE_RATE = 24_000  # Hz
FRAME_SAMPLES = 1_920
FRAME_MS = 80
NOTHING = -1  # the phone of a frame whose phones are unknown
PHONE_ROWS = 2  # the first and the last phone of a frame
ENCODING = ("encoder", "encoder_transformer", "downsample")
DECODING = ("decoder", "decoder_transformer", "upsample")
FEW = 32  # output columns; up to this many, a convolution is faster as a product
_SWITCHED_OFF = ExitStack()  # never left


MimiStream = dict[str, Any]
"""The state of one stream: moshi's state objects by module name, owned by one session."""


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
            stream: MimiStream = self._model.get_streaming_state()
        return stream

    @torch.inference_mode()
    def copied(self, stream: MimiStream) -> MimiStream:
        """Return another stream with the same past. moshi's states refer to modules, which are
        shared.
        """
        shared = {id(module): module for module in self._model.modules()}
        return deepcopy(stream, shared)

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
        with resumed(self._model, stream):
            pcm: Tensor = self._model.decode(codes)
        return pcm

    @torch.inference_mode()
    def restart(self, stream: MimiStream) -> None:
        """Reset a stream without moving its tensors."""
        with resumed(self._model, stream):
            self._model.reset_streaming()


@contextmanager
def resumed(model: Any, stream: MimiStream) -> Iterator[None]:
    """Attach a stream to moshi's modules for one call."""
    model.set_streaming_state(stream)
    try:
        yield
    finally:
        model.set_streaming_state(dict.fromkeys(stream))


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
        check_finite(model.state_dict().items())
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


# ---------------------------------------------------------------------- layers as plain products

# For the few columns that a single frame has. torch's convolutions are made for long signals: with
# two columns its transposed convolution takes the slow path and spends 80 ms of one core where the
# product itself needs 3. A replaced layer computes what it replaced, to rounding.


class ProductConv(nn.Conv1d):
    """A convolution that is one product while the signal is short."""

    def forward(self, x: Tensor) -> Tensor:
        reach = (self.kernel_size[0] - 1) * self.dilation[0] + 1
        columns = (x.shape[2] - reach) // self.stride[0] + 1
        if columns > FEW:
            return super().forward(x)
        pieces = x.unfold(2, reach, self.stride[0])[..., :: self.dilation[0]]  # [B, C, T, k]
        rows = pieces.transpose(1, 2).flatten(2)  # what each column is computed from [B, T, C k]
        return functional.linear(rows, self.weight.flatten(1), self.bias).transpose(1, 2)


class ProductConvTranspose(nn.ConvTranspose1d):
    """An upsampling convolution as one product and the sum of two shifted halves."""

    def __init__(self, origin: nn.ConvTranspose1d) -> None:
        nn.Module.__init__(self)
        self.stride, self.kernel_size = origin.stride, origin.kernel_size
        self.out_channels, self.groups = origin.out_channels, origin.groups
        self.in_channels, self.bias = origin.in_channels, origin.bias
        # [C_out k, C_in]: column t of the input gives k samples of every output channel.
        spread = origin.weight.detach().permute(1, 2, 0).flatten(0, 1).contiguous()
        self.product = Linear(spread.shape[1], spread.shape[0])
        self.product.weight = nn.Parameter(spread, requires_grad=False)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:
        batch, _, length = x.shape
        step = self.stride[0]
        spread = self.product(x.transpose(1, 2))  # [B, T, C_out 2 step]
        halves = spread.view(batch, length, self.out_channels, 2, step)
        out = x.new_zeros(batch, self.out_channels, length + 1, step)
        out[:, :, :length] = halves[:, :, :, 0].transpose(1, 2)
        out[:, :, 1:] += halves[:, :, :, 1].transpose(1, 2)
        flat = out.flatten(2)  # [B, C_out, (T + 1) step]
        return flat if self.bias is None else flat + self.bias[:, None]


def quicken(model: nn.Module) -> None:
    """Replace the layers of a codec's decoding half (on the CPU) that are slow for single frames.

    The encoding half stays as it is: it runs once per voice and its codes should be exact.
    No stream may have been opened yet.
    """
    for name, module in list(model.named_modules()):
        if name.startswith(ENCODING):
            continue
        if isinstance(module, nn.ConvTranspose1d):
            if module.groups == 1 and module.kernel_size[0] == 2 * module.stride[0]:
                model.set_submodule(name, ProductConvTranspose(module))
        elif isinstance(module, nn.Conv1d) and module.groups == 1:
            module.__class__ = ProductConv
