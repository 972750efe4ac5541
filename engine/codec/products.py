"""Mimi's layers as plain products, for the few columns a single frame has.

torch's convolutions are made for long signals: with two columns its transposed convolution takes
the slow path and spends 80 ms of one core where the product itself needs 3.
Invariant: a replaced layer computes what it replaced, to rounding.
"""

from torch import Tensor, nn
from torch.nn import functional

ENCODING = ("encoder", "encoder_transformer", "downsample")
DECODING = ("decoder", "decoder_transformer", "upsample")
FEW = 32  # output columns; up to this many, a convolution is faster as a product


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
        self.product = PlainProduct(spread)

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
