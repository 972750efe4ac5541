"""Low-bit products on the CPU through ONNX Runtime's block-quantised kernels.

Why not torch: on the machine this was written on, two rows times a 1024 x 16384 matrix took 3.2 ms
in bf16, 1.75 ms in int8 and 1.16 ms in 4 bits with torch's kernels, and 0.70 ms in int8 and 0.66 ms
in 4 bits with these (one core). A whole stack is one graph, so Python runs once per step.
Invariant: a packed stack computes what Transformer.forward computes with the restored weights.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from torch import Tensor, nn

from engine.nn.cache import KvCache
from engine.nn.quantise import Precision, quantise
from engine.nn.transformer import NORM_EPS, Block, Rotation, TransformerConfig

Array = npt.NDArray[Any]
HIDDEN_SCORE = -1e30  # what a masked position's score gets; -inf would give NaN for an empty row
INT8_COMPUTE = (
    4  # MatMulNBits' accuracy level: activations rounded to int8 per block, VNNI products
)


class PackedLinear(nn.Module):
    """A bias-free product [.., K] -> [.., N], weights in 8 or 4 bits, on one thread."""

    def __init__(self, weight: Tensor, precision: Precision) -> None:
        super().__init__()
        self.in_features, self.out_features = weight.shape[1], weight.shape[0]
        graph = _Graph()
        graph.product("x", "y", weight, precision)
        self._session = graph.compile(
            {"x": [None, self.in_features]}, {"y": [None, self.out_features]}, threads=1
        )

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features)
        (out,) = self._session.run(None, {"x": rows.numpy()})
        return torch.from_numpy(out).view(*x.shape[:-1], self.out_features)


class PackedTransformer(nn.Module):
    """A Transformer's twin with packed weights: same call, same cache, fp32 activations."""

    def __init__(
        self,
        config: TransformerConfig,
        blocks: Iterable[Block],
        norm_scale: Tensor,
        *,
        precision: Precision,
        threads: int,
    ) -> None:
        super().__init__()
        self.config = config
        graph = _StackGraph(config, precision)
        for number, block in enumerate(blocks):
            graph.block(number, block)
        graph.norm(graph.hidden, "y", norm_scale)
        self._session = graph.compile(graph.stack_inputs(), graph.stack_outputs(), threads=threads)
        self._outputs = list(graph.stack_outputs())

    def forward(
        self, x: Tensor, rotation: Rotation, cache: KvCache, mask: Tensor | None = None
    ) -> Tensor:
        """As Transformer.forward, for CPU tensors."""
        length = x.shape[1]
        past = cache.capacity
        feeds: dict[str, Array] = {
            "x": x.contiguous().numpy(),
            "cos": rotation.cos.contiguous().numpy(),
            "sin": rotation.sin.contiguous().numpy(),
            "first": np.zeros(1, dtype=np.int64),
            "widths": np.array([past, length], dtype=np.int64),
            "bias": self._bias(cache, length, mask),
        }
        for layer in range(self.config.layers):
            feeds[f"past_keys{layer}"] = cache.keys[layer].numpy()
            feeds[f"past_values{layer}"] = cache.values[layer].numpy()
        out, *stored = self._session.run(self._outputs, feeds)
        for layer in range(self.config.layers):
            keys, values = stored[2 * layer], stored[2 * layer + 1]
            cache.append(layer, torch.from_numpy(keys), torch.from_numpy(values))
        return torch.from_numpy(out)

    def _bias(self, cache: KvCache, length: int, mask: Tensor | None) -> Array:
        """[R * T, capacity + T] added to the scores: 0 where a position may be read."""
        past = cache.capacity
        bias = np.full((length, past + length), HIDDEN_SCORE, dtype=np.float32)
        if mask is None:
            bias[:, : cache.length] = 0
            bias[:, past:] = 0
        else:
            bias[:, : cache.length][mask[:, : cache.length].numpy()] = 0
            bias[:, past:][mask[:, cache.length :].numpy()] = 0
        return np.tile(bias, (self.config.group, 1))


class _Graph:
    """Nodes and constants of one ONNX graph under construction."""

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

    def weight(self, name: str, value: Array) -> str:
        """A constant handed over beside the graph: inside it, it would stay in memory twice."""
        self._weights[name] = value
        tensor = TensorProto(name=name, dims=value.shape, data_location=TensorProto.EXTERNAL)
        tensor.data_type = helper.np_dtype_to_tensor_dtype(value.dtype)
        about = {"location": "beside", "offset": "0", "length": str(value.nbytes)}
        for key, text in about.items():
            entry = tensor.external_data.add()
            entry.key, entry.value = key, text
        self._constants.append(tensor)
        return name

    def product(self, x: str, y: str, weight: Tensor, precision: Precision) -> None:
        """y = x weight^T with the weight packed."""
        packed = quantise(weight.detach(), precision)
        codes = self.weight(f"{y}.codes", packed.codes.numpy())
        scales = self.weight(f"{y}.scales", packed.scales.numpy())
        self.contrib(
            "MatMulNBits",
            [x, codes, scales],
            [y],
            K=weight.shape[1],
            N=weight.shape[0],
            bits=packed.bits,
            block_size=precision.block,
            accuracy_level=INT8_COMPUTE,
        )

    def norm(self, x: str, y: str, scale: Tensor) -> None:
        weights = self.constant(f"{y}.scale", scale.detach().float().numpy())
        self.add("SimplifiedLayerNormalization", [x, weights], [y], axis=-1, epsilon=NORM_EPS)

    def compile(
        self,
        inputs: dict[str, list[Any]],
        outputs: dict[str, list[Any]],
        *,
        threads: int,
    ) -> onnxruntime.InferenceSession:
        """Load the graph; constants live in the session from then on, already packed."""
        graph = helper.make_graph(
            self._nodes,
            "packed",
            [_described(name, shape) for name, shape in inputs.items()],
            [_described(name, shape) for name, shape in outputs.items()],
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
        # Waiting threads must not burn the cores the window and the devices need. On two busy cores
        # spinning took 162 ms of CPU for a frame's depth steps, sleeping 88.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(v) for v in self._weights.values()]
        options.add_external_initializers(list(self._weights), values)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._nodes, self._constants, self._weights = [], [], {}
        return session


class _StackGraph(_Graph):
    """A transformer stack. Attention reads the past where it lies: scores against past and new
    positions are computed apart and joined, so no cache is copied.
    """

    def __init__(self, config: TransformerConfig, precision: Precision) -> None:
        super().__init__()
        self._config = config
        self._precision = precision
        self.hidden = "x"
        turned, width = config.heads + config.kv_heads, config.head_width
        sizes = [turned * width, config.kv_heads * width]
        self.constant("qk_v", np.array(sizes, dtype=np.int64))
        self.constant("q_k", np.array([config.heads, config.kv_heads], dtype=np.int64))
        self.constant("split_turned", np.array([0, 0, turned, width], dtype=np.int64))
        self.constant("split_values", np.array([0, 0, config.kv_heads, width], dtype=np.int64))
        self.constant("grouped", np.array([0, config.kv_heads, -1, width], dtype=np.int64))
        self.constant("spread", np.array([0, config.heads, -1, width], dtype=np.int64))
        self.constant("joined", np.array([0, 0, config.width], dtype=np.int64))
        self.constant("halves", np.array([config.hidden] * 2, dtype=np.int64))

    def stack_inputs(self) -> dict[str, list[Any]]:
        config, half = self._config, self._config.head_width // 2
        stored = [None, config.kv_heads, "past", config.head_width]
        shapes: dict[str, list[Any]] = {
            "x": ["batch", "length", config.width],
            "cos": ["length", half],
            "sin": ["length", half],
            "first": [1],
            "widths": [2],
            "bias": [None, None],
        }
        for layer in range(config.layers):
            shapes |= {f"past_keys{layer}": stored, f"past_values{layer}": stored}
        return shapes

    def stack_outputs(self) -> dict[str, list[Any]]:
        config = self._config
        stored = [None, config.kv_heads, None, config.head_width]
        shapes: dict[str, list[Any]] = {"y": ["batch", "length", config.width]}
        for layer in range(config.layers):
            shapes |= {f"keys{layer}": stored, f"values{layer}": stored}
        return shapes

    def block(self, layer: int, weights: Block) -> None:
        """hidden -> hidden through one block."""
        mark = f"l{layer}."
        self.norm(self.hidden, mark + "normed", weights.attention_norm.scale)
        self._project(layer, weights)
        self._attend(layer)
        self.product(mark + "mixed", mark + "out", weights.attention.output.weight, self._precision)
        self.add("Add", [self.hidden, mark + "out"], [mark + "middle"])
        self.norm(mark + "middle", mark + "ready", weights.mlp_norm.scale)
        self._mlp(mark, weights)
        self.add("Add", [mark + "middle", mark + "down"], [mark + "end"])
        self.hidden = mark + "end"

    def _project(self, layer: int, weights: Block) -> None:
        """normed [B, T, D] -> queries [B, G, R T, E], keys and values [B, G, T, E]."""
        mark, config = f"l{layer}.", self._config
        self.product(mark + "normed", mark + "qkv", weights.attention.qkv.weight, self._precision)
        self.add("Split", [mark + "qkv", "qk_v"], [mark + "qk", mark + "v"], axis=-1)
        self.contrib(
            "RotaryEmbedding",
            [mark + "qk", "first", "cos", "sin"],
            [mark + "turned"],
            interleaved=1,
            num_heads=config.heads + config.kv_heads,
            rotary_embedding_dim=0,
        )
        self.add("Reshape", [mark + "turned", "split_turned"], [mark + "turned4"])
        self.add("Transpose", [mark + "turned4"], [mark + "heads"], perm=[0, 2, 1, 3])
        self.add("Split", [mark + "heads", "q_k"], [mark + "q", f"keys{layer}"], axis=1)
        self.add("Reshape", [mark + "q", "grouped"], [mark + "queries"])
        self.add("Reshape", [mark + "v", "split_values"], [mark + "v4"])
        self.add("Transpose", [mark + "v4"], [f"values{layer}"], perm=[0, 2, 1, 3])

    def _attend(self, layer: int) -> None:
        """queries, keys, values and the past -> mixed [B, T, D]."""
        mark, scale = f"l{layer}.", 1 / math.sqrt(self._config.head_width)
        for part, keys in (("past", f"past_keys{layer}"), ("new", f"keys{layer}")):
            self.contrib(
                "FusedMatMul", [mark + "queries", keys], [mark + part], transB=1, alpha=scale
            )
        self.add("Concat", [mark + "past", mark + "new"], [mark + "scores"], axis=-1)
        self.add("Add", [mark + "scores", "bias"], [mark + "masked"])
        self.add("Softmax", [mark + "masked"], [mark + "shares"], axis=-1)
        self.add("Split", [mark + "shares", "widths"], [mark + "old", mark + "own"], axis=-1)
        self.add("MatMul", [mark + "old", f"past_values{layer}"], [mark + "from_past"])
        self.add("MatMul", [mark + "own", f"values{layer}"], [mark + "from_new"])
        self.add("Add", [mark + "from_past", mark + "from_new"], [mark + "sum"])
        self.add("Reshape", [mark + "sum", "spread"], [mark + "sum4"])
        self.add("Transpose", [mark + "sum4"], [mark + "rows"], perm=[0, 2, 1, 3])
        self.add("Reshape", [mark + "rows", "joined"], [mark + "mixed"])

    def _mlp(self, mark: str, weights: Block) -> None:
        """ready [B, T, D] -> down [B, T, D]."""
        self.product(mark + "ready", mark + "gate_up", weights.mlp.gate_up.weight, self._precision)
        self.add("Split", [mark + "gate_up", "halves"], [mark + "gate", mark + "up"], axis=-1)
        self.contrib("QuickGelu", [mark + "gate"], [mark + "silu"], alpha=1.0)
        self.add("Mul", [mark + "silu", mark + "up"], [mark + "product"])
        self.product(mark + "product", mark + "down", weights.mlp.down.weight, self._precision)


def _described(name: str, shape: list[Any]) -> Any:
    """An input or output; the two that are counts are int64, all others fp32."""
    kind = TensorProto.INT64 if name in {"first", "widths"} else TensorProto.FLOAT
    return helper.make_tensor_value_info(name, kind, shape)
