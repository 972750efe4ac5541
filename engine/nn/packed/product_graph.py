"""Weights in 8 bits: how a matrix is rounded and restored, and an ONNX graph under construction,
whose products run in ONNX Runtime's block-quantised kernels.

Why not torch: on one core, two rows times a 1024 x 16384 matrix took 3.2 ms in bf16 and 1.75 ms in
int8 with torch's kernels, but 0.70 ms in int8 with these. A complete stack is one graph, so Python
runs once per step.
Invariant: rounding is per block of consecutive inputs of one output row, symmetric around zero, and
deterministic. A compiled graph never changes; it holds its weights once, packed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from torch import Tensor, nn

# Inputs that share a scale. Blocks of 128 make two rows 25 % and 40 rows 18 % cheaper; the temporal
# logits of VoXtream2 are then 1.46 instead of 1.32 % off fp32.
BLOCK: Final = 64
BITS: Final = 8
MIDDLE: Final = 1 << (BITS - 1)  # the code of zero


class Precision(Enum):
    """How the products of a model are stored."""

    FLOAT = "full"  # as computed: fp32 on the CPU, bf16 on CUDA
    INT8 = "int8"


@dataclass(frozen=True)
class Quantised:
    """A matrix [N, K] in blocks: `codes` uint8 [N, blocks, BLOCK], `scales` fp32 [N, blocks]. A
    weight is (code - MIDDLE) * scale.
    """

    codes: Tensor
    scales: Tensor


def fills_blocks(*widths: int) -> bool:
    """Return whether products with this number of inputs can be quantised."""
    return not any(width % BLOCK for width in widths)


def quantise(weight: Tensor) -> Quantised:
    """Round [N, K]; K must be a multiple of BLOCK."""
    rows, columns = weight.shape
    assert fills_blocks(columns), f"{columns} inputs do not fill blocks of {BLOCK}"
    blocks = weight.float().reshape(rows, columns // BLOCK, BLOCK)  # [N, blocks, BLOCK]
    largest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))
    # The largest value takes the one code that has no mirror image, so that no code is wasted.
    scales = largest / -MIDDLE
    inverse = torch.where(scales == 0, torch.zeros_like(scales), 1 / scales)
    codes = (blocks * inverse).round_().add_(MIDDLE).clamp_(0, 2 * MIDDLE - 1)
    return Quantised(codes.to(torch.uint8).contiguous(), scales.squeeze(-1).contiguous())


def restore(quantised: Quantised) -> Tensor:
    """Return the matrix [N, K], fp32, that a packed product really multiplies by."""
    return ((quantised.codes.float() - MIDDLE) * quantised.scales[..., None]).flatten(1)


# ------------------------------------------------------------------------------ graphs

Array = npt.NDArray[Any]
INT8_COMPUTE = (
    4  # MatMulNBits' accuracy level: activations rounded to int8 per block, VNNI products
)

SPIN_US = "20"  # how long a thread busy-waits for its part of the next product
# An output with more bytes of weights than this is multiplied in two halves. The kernels read the
# weights of four outputs side by side, and processors prefetch only within a page of 4096 bytes.
LONG_ROW = 4096

_INTEGERS = {
    "angles": TensorProto.INT64,
    "widths": TensorProto.INT64,
    "code": TensorProto.INT64,
    "skipped": TensorProto.INT64,
    "lengths": TensorProto.INT32,
    "total": TensorProto.INT32,
}


class ProductGraph:
    """Nodes and constants; names of values are strings, as in ONNX."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._weights: dict[str, Array] = {}

    def add(self, kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self._nodes.append(helper.make_node(kind, inputs, outputs, **attributes))

    def contrib(self, kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """A node of ONNX Runtime's own operator set."""
        self.add(kind, inputs, outputs, domain="com.microsoft", **attributes)

    def constant(self, name: str, value: Array) -> str:
        self._constants.append(numpy_helper.from_array(value, name))
        return name

    def product(self, x: str, y: str, weight: Tensor) -> str:
        """y = x weight^T with the weight packed; returns y."""
        inputs = weight.shape[1]
        if inputs < LONG_ROW or not fills_blocks(inputs // 2):
            return self._product(x, y, weight)
        sizes = self.constant(f"{y}.sizes", np.array([inputs // 2] * 2, dtype=np.int64))
        parts = [f"{y}.first", f"{y}.second"]
        self.add("Split", [x, sizes], [f"{part}.x" for part in parts], axis=-1)
        for part, half in zip(parts, weight.detach().chunk(2, dim=1), strict=True):
            self._product(f"{part}.x", part, half)
        self.add("Add", parts, [y])
        return y

    def _product(self, x: str, y: str, weight: Tensor) -> str:
        packed = quantise(weight.detach())
        codes = self._weight(f"{y}.codes", packed.codes.numpy())
        scales = self._weight(f"{y}.scales", packed.scales.numpy())
        self.contrib(
            "MatMulNBits",
            [x, codes, scales],
            [y],
            K=weight.shape[1],
            N=weight.shape[0],
            bits=BITS,
            block_size=BLOCK,
            accuracy_level=INT8_COMPUTE,
        )
        return y

    def compile(self, outputs: Sequence[str], *, threads: int) -> onnxruntime.InferenceSession:
        """Load the graph, whose inputs are all names that no node and no constant gives. Constants
        live in the session from then on, already packed.
        """
        given = {name for node in self._nodes for name in node.output}
        given |= {"", *(constant.name for constant in self._constants)}
        used = dict.fromkeys(name for node in self._nodes for name in node.input)
        graph = helper.make_graph(
            self._nodes,
            "packed",
            [_described(name) for name in used if name not in given],
            [_described(name) for name in outputs],
            self._constants,
        )
        model: ModelProto = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
            ir_version=9,
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False  # it grows by powers of two
        # Waiting threads must not use up the cores that the window and the devices need: on two
        # busy cores a frame's depth steps took 162 ms of CPU with endless spinning and 88 with
        # sleeping. Spinning for a moment costs nothing (90.0 ms of CPU a frame against 90.7 with
        # sleeping) and saves 5 to 9 % of the time.
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        options.add_session_config_entry("session.force_spinning_stop", "1")
        options.add_session_config_entry("session.intra_op.spin_duration_us", SPIN_US)
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(v) for v in self._weights.values()]
        options.add_external_initializers(list(self._weights), values)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._nodes, self._constants, self._weights = [], [], {}
        return session

    def _weight(self, name: str, value: Array) -> str:
        """A constant passed beside the graph; inside the graph it would stay in memory twice."""
        self._weights[name] = value
        tensor = TensorProto(name=name, dims=value.shape, data_location=TensorProto.EXTERNAL)
        tensor.data_type = helper.np_dtype_to_tensor_dtype(value.dtype)
        about = {"location": "beside", "offset": "0", "length": str(value.nbytes)}
        for key, text in about.items():
            entry = tensor.external_data.add()
            entry.key, entry.value = key, text
        self._constants.append(tensor)
        return name


def _described(name: str) -> Any:
    """Return the description of an input or output of any shape, fp32 except for counts and codes;
    a layer's own one has a name that ends in the layer's number.
    """
    kind = _INTEGERS.get(name.rstrip("0123456789"), TensorProto.FLOAT)
    return helper.make_tensor_value_info(name, kind, None)


class PackedLinear(nn.Module):
    """A bias-free product [.., K] -> [.., N], weights in 8 bits. It computes what the plain one
    computes with the restored weights.
    """

    def __init__(self, weight: Tensor, *, threads: int = 1) -> None:
        super().__init__()
        self.in_features, self.out_features = weight.shape[1], weight.shape[0]
        graph = ProductGraph()
        self._session = graph.compile([graph.product("x", "y", weight)], threads=threads)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features)
        (out,) = self._session.run(None, {"x": rows.numpy()})
        return torch.from_numpy(out).view(*x.shape[:-1], self.out_features)


_KINDS = {torch.float32: np.float32, torch.int64: np.int64, torch.int32: np.int32}


class Bound:
    """A graph with fixed input and output tensors: contiguous CPU tensors by name, fp32 or
    integers, which live as long as this does. Passing arrays in and out would cost as much as a
    small graph itself. Only its owner runs it.
    """

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
    ) -> None:
        self._session = session
        self._tensors = (dict(inputs), dict(outputs))
        self._binding = session.io_binding()
        for tensors, bind in zip(
            self._tensors, (self._binding.bind_input, self._binding.bind_output), strict=True
        ):
            for name, tensor in tensors.items():
                assert tensor.is_contiguous(), f"{name} does not lie in one piece"
                kind, shape = _KINDS[tensor.dtype], list(tensor.shape)
                bind(name, "cpu", 0, kind, shape, tensor.data_ptr())

    def run(self) -> None:
        """Compute the outputs from the present inputs."""
        self._session.run_with_iobinding(self._binding)
