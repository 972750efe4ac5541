"""Mimi's layers as plain products, for the few columns a single frame has.

torch's convolutions are made for long signals: with two columns its transposed convolution takes
the slow path and spends 80 ms of one core where the product itself needs 3.
Invariant: a replaced layer computes what it replaced, to rounding; with packed weights, what the
restored weights compute.
"""

from moshi.modules.transformer import StreamingTransformer
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.packed_transformer import PackedMimiTransformer, packable
from engine.nn.packed import PackedLinear
from engine.nn.quantise import Precision

ENCODING = ("encoder", "encoder_transformer", "downsample")
FEW = 32  # output columns up to which a convolution is faster as a product
HEAVY = 1 << 20  # weights from which on a product waits for memory more than it computes


class ProductConv(nn.Conv1d):
    """A convolution that is one product while the signal is short."""

    def forward(self, x: Tensor) -> Tensor:
        reach = (self.kernel_size[0] - 1) * self.dilation[0] + 1
        columns = (x.shape[2] - reach) // self.stride[0] + 1
        if columns > FEW:
            return super().forward(x)
        rows = _pieces(x, self)
        return functional.linear(rows, self.weight.flatten(1), self.bias).transpose(1, 2)


class PackedConv(nn.Conv1d):
    """A convolution that is one packed product."""

    def __init__(self, origin: nn.Conv1d, precision: Precision) -> None:
        nn.Module.__init__(self)
        self.stride, self.kernel_size = origin.stride, origin.kernel_size
        self.dilation, self.bias = origin.dilation, origin.bias
        self.in_channels, self.out_channels = origin.in_channels, origin.out_channels
        self.product = PackedLinear(origin.weight.detach().flatten(1), precision)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.product(_pieces(x, self)).transpose(1, 2)
        return out if self.bias is None else out + self.bias[:, None]


def _pieces(x: Tensor, conv: nn.Conv1d) -> Tensor:
    """What each output column of [B, C, S] is made from, [B, T, C k]."""
    reach = (conv.kernel_size[0] - 1) * conv.dilation[0] + 1
    pieces = x.unfold(2, reach, conv.stride[0])[..., :: conv.dilation[0]]  # [B, C, T, k]
    return pieces.transpose(1, 2).flatten(2)


class ProductConvTranspose(nn.ConvTranspose1d):
    """An upsampling convolution as one product and the sum of two shifted halves."""

    def __init__(self, origin: nn.ConvTranspose1d, precision: Precision) -> None:
        nn.Module.__init__(self)
        self.stride, self.kernel_size = origin.stride, origin.kernel_size
        self.out_channels, self.groups = origin.out_channels, origin.groups
        self.in_channels, self.bias = origin.in_channels, origin.bias
        # [C_out k, C_in]: column t of the input gives k samples of every output channel.
        spread = origin.weight.detach().permute(1, 2, 0).flatten(0, 1).contiguous()
        self.product = product(spread, precision)

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


class PlainProduct(nn.Module):
    """A product [.., K] -> [.., N] without bias."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight)


def product(weight: Tensor, precision: Precision) -> nn.Module:
    """[N, K] as a module, packed when asked and when K fills whole blocks."""
    if precision is Precision.FLOAT or weight.shape[1] % precision.block:
        return PlainProduct(weight)
    return PackedLinear(weight, precision)


def quicken(model: nn.Module, precision: Precision) -> None:
    """Replace the layers of a codec's decoding half (on the CPU) that are slow for single frames.

    The encoding half stays as it is: it runs once per voice and its codes should be exact.
    No stream may have been opened yet.
    """
    for name, module in list(model.named_modules()):
        if name.startswith(ENCODING):
            continue
        if isinstance(module, nn.ConvTranspose1d):
            if module.groups == 1 and module.kernel_size[0] == 2 * module.stride[0]:
                model.set_submodule(name, ProductConvTranspose(module, precision))
        elif isinstance(module, nn.Conv1d):
            if module.groups == 1:
                _quicken_conv(model, name, module, precision)
        elif isinstance(module, StreamingTransformer) and packable(module, precision):
            model.set_submodule(name, PackedMimiTransformer(module, precision))


def _quicken_conv(model: nn.Module, name: str, conv: nn.Conv1d, precision: Precision) -> None:
    """Mimi's first one takes two columns a frame and holds most of the weights."""
    packable = precision is not Precision.FLOAT and not conv.weight[0].numel() % precision.block
    if packable and conv.weight.numel() >= HEAVY:
        model.set_submodule(name, PackedConv(conv, precision))
    else:
        conv.__class__ = ProductConv
