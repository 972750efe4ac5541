"""A made-up Kokoro: the tensors that the engine asks the published graph for, with few channels and
random weights. Kernels, dilations and strides are the published ones, because windows.py counts on
what they see. And words for it.
"""

import atexit
import random
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from engine.text.phonemes import Espeak, PhonedWord
from engine.training.corpus import grammar
from engine.tts.base import Voice
from engine.tts.kokoro.graph.cutting import cut
from engine.tts.kokoro.graph.decoder import ROOT, WEIGHTS
from engine.tts.kokoro.graph.published import (
    DURATIONS,
    ENERGY,
    FEATURES,
    FRAMES,
    PITCH,
    STATES,
    Published,
)
from engine.tts.kokoro.parts import SAMPLE_RATE, STEP, Parts, VoiceInputs
from engine.tts.kokoro.plan import Plan, PlanRequest, Speaker, make_plan
from engine.tts.kokoro.statistics import statistics
from engine.tts.kokoro.synthesiser import KokoroSynthesiser
from engine.tts.kokoro.voices import NAME, NORMS, SHIFT, STYLE, TAPS, Delivery
from tests.engine.text.cases import phoned as phoned_words

SYMBOLS, HALF_STYLE = 178, 128
_FEATURES, _WIDE, _RESIDUAL = 6, 7, 3  # channels of the coarse stage
_COARSE, _MIDDLE, _FINE = 6, 5, 4  # of its result and of the two behind it

TEXT = "We will meet the others at seven, by the old river."

OWN_RATE = 3.2  # SPS of the made-up graph


@cache
def scratch(name: str) -> Path:
    """A folder for this process."""
    folder = Path(mkdtemp(suffix=f"-{name}"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def small_parts() -> Parts:
    folder = scratch("cut")
    write_small(folder / "small.onnx")
    cut(folder / "small.onnx", folder)
    return Parts(folder, folder / "small.onnx")


def small_style(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.3, (1, 2 * HALF_STYLE)).astype(np.float32)


def small_voice(language: str = "en-us", seed: int = 0) -> Voice:
    return Voice(f"Small {seed}", NAME, {STYLE: small_style(seed)[0]}, {"language": language})


def small_learnt_voice() -> Voice:
    """One that learnt from a recording: every norm has a timbre of its own."""
    draw = np.random.default_rng(3)
    shift = draw.normal(0, 0.05, (NORMS, HALF_STYLE)).astype(np.float32)
    taps = draw.normal(0, 0.1, TAPS) * np.exp(-np.arange(TAPS) / 20) + (np.arange(TAPS) == 0)
    delivery = Delivery(0.5, 0.9, 1.1, taps.astype(np.float32))
    voice = small_voice()
    return replace(voice, tensors={**voice.tensors, SHIFT: shift, **delivery.tensors()})


def small(learnt: Path | None = None, voice: Voice | None = None) -> KokoroSynthesiser:
    """One that keeps what it learns of its voice for the whole process, unless told where."""
    own = voice or small_voice()
    return KokoroSynthesiser(small_parts(), (own,), learnt or scratch("learnt"))


def small_learnt() -> KokoroSynthesiser:
    return small(voice=small_learnt_voice())


def write_small(file: Path) -> None:
    """Inputs tokens [1, N] and style [1, 256], output audio [600 T]."""
    graph = _Graph()
    graph.encoder()
    graph.audio(graph.generator(graph.coarse()))
    values = helper.make_tensor_value_info
    made = helper.make_graph(
        graph.nodes,
        "small",
        [
            values("tokens", TensorProto.INT64, [1, None]),
            values("style", TensorProto.FLOAT, [1, 2 * HALF_STYLE]),
        ],
        [values("audio", TensorProto.FLOAT, [None])],
        list(graph.constants.values()),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, str(file))


class _Graph:
    """Writes nodes down; where they read an array, it becomes a constant. [1, C, T] throughout."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self._draw = np.random.default_rng(5)
        self._bytes: set[str] = set()

    # ------------------------------------------------------------------ the parts of Kokoro

    def encoder(self) -> None:
        """Frames by the symbol, whole ones so that a plan at the voice's own pace has the same;
        features by the symbol and all the others.
        """
        self.add("Slice", "style", [0], [HALF_STYLE], [1], to="timbre")
        durations = self._draw.integers(2, 6, SYMBOLS)
        durations[:16] = 8  # marks
        durations[0] = 14  # the edges
        self.add("Gather", durations.astype(np.float32), "tokens", to=DURATIONS)
        own = self.add("Gather", self.random(SYMBOLS, _FEATURES), "tokens")
        others = self.add("ReduceMean", own, [1])
        self.add("Add", own, others, to=STATES)
        frames = self.add("Round", DURATIONS, to=FRAMES)
        ends = self.add("CumSum", frames, np.int64(1))
        starts = self.add("Sub", ends, frames)
        total = self.add("ReduceSum", frames, keepdims=0)
        place = self.add("Range", np.float32(0), total, np.float32(1))
        ended, begun = (
            self.add("Less", place, self.add("Unsqueeze", ends, [2])),
            self.add("GreaterOrEqual", place, self.add("Unsqueeze", starts, [2])),
        )
        aligned = self.add("Cast", self.add("And", ended, begun), to_type=TensorProto.FLOAT)
        self.add("MatMul", self.add("Transpose", STATES, perm=[0, 2, 1]), aligned, to=FEATURES)
        for name, low, high in ((PITCH, -60.0, 300.0), (ENERGY, -2.0, 3.0)):
            mixed = self.add("MatMul", self.random(1, _FEATURES), FEATURES)
            level = self.add("Sigmoid", mixed)
            curve = self.add("Add", self.add("Mul", level, np.float32(high - low)), np.float32(low))
            curve = self.add("Max", curve, np.float32(0))
            self.add("Reshape", self.stretched(curve, 2), [1, -1], to=name)

    def coarse(self) -> str:
        curves = [
            self.convolution(name, self.add("Unsqueeze", x, [1]), (1, 1, 3), stride=2, gain=gain)
            for name, x, gain in (("F0_conv/Conv", PITCH, 0.02), ("N_conv/Conv", ENERGY, 1.0))
        ]
        residual = self.convolution("asr_res/asr_res.0/Conv", FEATURES, (_RESIDUAL, _FEATURES, 1))
        x = self.block(
            "encode", self.add("Concat", FEATURES, *curves, axis=1), _FEATURES + 2, _WIDE
        )
        for number in range(4):
            joined = self.add("Concat", x, residual, *curves, axis=1)
            last = number == 3
            into, out = _WIDE + _RESIDUAL + 2, _COARSE if last else _WIDE
            x = self.block(f"decode.{number}", joined, into, out, doubles=last)
        return x

    def block(self, path: str, x: str, into: int, out: int, *, doubles: bool = False) -> str:
        main = self.leaky(self.norm(f"{path}/norm1", x, into), 0.2)
        if doubles:
            weight = self.constant(self.random(into, 1, 3), f"{ROOT}{path}/Mul_output_0")
            bias = self.constant(self.random(into), f"{WEIGHTS}{path}.pool.bias")
            main = self.add(
                "ConvTranspose", main, weight, bias,
                strides=[2], pads=[1, 1], output_padding=[1], group=into,
            )  # fmt: skip
            x = self.stretched(x, 2)
        main = self.convolution(f"{path}/conv1/Conv", main, (out, into, 3))
        main = self.leaky(self.norm(f"{path}/norm2", main, out), 0.2)
        main = self.convolution(f"{path}/conv2/Conv", main, (out, out, 3))
        shortcut = self.convolution(f"{path}/conv1x1/Conv", x, (out, into, 1), bias=False)
        return self.add("Div", self.add("Add", main, shortcut), np.float32(2**0.5))

    def generator(self, x: str) -> str:
        spectrum = self.spectrum()
        for number, (into, out, step) in enumerate(((_COARSE, _MIDDLE, 10), (_MIDDLE, _FINE, 6))):
            weight = self.random(into, out, 2 * step) * np.float32((step * out / into) ** 0.5)
            weight = self.constant(weight, f"{ROOT}generator/Mul{'_1' if number else ''}_output_0")
            bias = self.constant(self.random(out), f"{WEIGHTS}generator.ups.{number}.bias")
            pads = [step // 2] * 2
            x = self.add(
                "ConvTranspose", self.leaky(x, 0.1), weight, bias, strides=[step], pads=pads
            )
            name = f"generator/noise_convs.{number}/Conv"
            if number:
                x = self.add("Pad", x, [0, 0, 1, 0, 0, 0], mode="reflect")
                noise = self.convolution(name, spectrum, (out, 22, 1))
            else:
                noise = self.convolution(name, spectrum, (out, 22, 12), stride=6, pads=(3, 3))
            taps = 11 if number else 7
            noise = self.residual(f"generator/noise_res.{number}", noise, out, taps)
            x, parts, shared = self.add("Add", x, noise), [], ""
            for place, taps in enumerate((3, 7, 11)):
                path = f"generator/resblocks.{3 * number + place}"
                parts.append(self.residual(path, x, out, taps, shared))
                shared = shared or f"{ROOT}{path}/adain1.0"
            x = self.add(
                "Div", self.add("Add", self.add("Add", *parts[:2]), parts[2]), np.float32(3)
            )
        return x

    def residual(self, path: str, x: str, width: int, taps: int, shared: str = "") -> str:
        """`shared`: the norm whose mean and variance the first one uses."""
        for number, dilation in enumerate((1, 3, 5)):
            main = self.snake(path, f"1.{number}", x, width, "" if number else shared)
            name = f"{path}/convs1.{number}/Conv"
            main = self.convolution(name, main, (width, width, taps), dilation=dilation)
            main = self.snake(path, f"2.{number}", main, width)
            main = self.convolution(f"{path}/convs2.{number}/Conv", main, (width, width, taps))
            x = self.add("Add", main, x)
        return x

    def spectrum(self) -> str:
        pitch = self.stretched(self.add("Unsqueeze", PITCH, [1]), STEP)
        multiples = np.arange(1, 10, dtype=np.float32).reshape(1, 9, 1) / SAMPLE_RATE
        turns = self.add("Mul", pitch, multiples)
        turns = self.resized(self.add("Sub", turns, self.add("Floor", turns)), 1 / STEP)
        turns = self.add("CumSum", turns, np.int64(2))
        angles = self.add("Mul", turns, np.float32(2 * np.pi * STEP))
        waves = self.add("Mul", self.add("Sin", self.resized(angles, STEP)), np.float32(0.1))
        voiced = self.add("Greater", pitch, np.float32(10))
        waves = self.add("Mul", waves, self.add("Cast", voiced, to_type=TensorProto.FLOAT))
        weight = self.constant(self.random(9, 1), "onnx::MatMul_6993")
        bias = self.constant(self.random(1), f"{WEIGHTS}generator.m_source.l_linear.bias")
        wave = self.add("MatMul", self.add("Transpose", waves, perm=[0, 2, 1]), weight)
        wave = self.add("Tanh", self.add("Add", wave, bias))
        padded = self.add("Pad", wave, [0, 10, 0, 0, 10, 0], mode="reflect")
        hann = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(20) / 20)).astype(np.float32)
        spectra = self.add("STFT", padded, np.int64(5), hann, np.int64(20))  # [1, R, 11, 2]
        real, imaginary = (
            self.add("Transpose", self.add("Gather", spectra, np.int64(n), axis=3), perm=[0, 2, 1])
            for n in (0, 1)
        )
        squares = [self.add("Mul", each, each) for each in (real, imaginary)]
        size = self.add("Sqrt", self.add("Add", *squares))
        return self.add("Concat", size, self.angle(real, imaginary), axis=1)

    def angle(self, real: str, imaginary: str) -> str:
        acute = self.add("Atan", self.add("Div", imaginary, real))
        turned = [self.add(kind, acute, np.float32(np.pi)) for kind in ("Add", "Sub")]
        above = self.add("Greater", imaginary, np.float32(0))
        left = self.add("Less", real, np.float32(0))
        return self.add("Where", left, self.add("Where", above, *turned), acute)

    def audio(self, x: str) -> None:
        weight = self.constant(0.2 * self.random(22, _FINE, 7), f"{ROOT}generator/Mul_2_output_0")
        bias = self.constant(self.random(22), f"{WEIGHTS}generator.conv_post.bias")
        spectra = self.add("Conv", self.leaky(x, 0.01), weight, bias, pads=[3, 3])
        size = self.add("Exp", self.add("Slice", spectra, [0], [11], [1]))
        turn = self.add("Sin", self.add("Slice", spectra, [11], [22], [1]))
        parts = [self.add("Mul", size, self.add(kind, turn)) for kind in ("Cos", "Sin")]
        basis = self.constant(
            0.02 * self.random(22, 1, 20), f"{WEIGHTS}generator.stft.istft.stft.inverse_basis"
        )
        wave = self.add("ConvTranspose", self.add("Concat", *parts, axis=1), basis, strides=[5])
        wave = self.add("Slice", self.add("Mul", wave, np.float32(4)), [10], [-10], [2])
        self.add("Reshape", wave, [-1], to="audio")

    # ------------------------------------------------------------------ nodes

    def norm(self, path: str, x: str, width: int, shared: str = "") -> str:
        """An instance norm whose gain and bias the style decides."""
        path = ROOT + path
        place = shared or path
        linear = f"{WEIGHTS}{path.removeprefix(ROOT)}.fc.".replace("/", ".")
        weight = self._draw.integers(-127, 128, (HALF_STYLE, 2 * width), np.int8)
        scale = np.array(0.3 / 73 / (2 * width) ** 0.5, np.float32)
        bytes_, scale_, bias_ = (
            self.constant(each, linear + name)
            for each, name in (
                (weight, "weight_quantized"),
                (scale, "weight_scale"),
                (0.1 * self.random(2 * width), "bias"),
            )
        )
        weights = self.add("Mul", self.add("Cast", bytes_, to_type=TensorProto.FLOAT), scale_)
        both = self.add("Add", self.add("MatMul", "timbre", weights), bias_)
        both = self.add("Reshape", both, [1, -1, 1])
        gain = self.add("Slice", both, [0], [width], [1])
        gain = self.add("Add", gain, np.float32(1), to=f"{path}/Add_1_output_0")
        bias = self.add("Slice", both, [width], [2 * width], [1], to=f"{path}/Slice_1_output_0")
        if not shared:
            mean = self.add("ReduceMean", x, [2], to=f"{path}/ReduceMean_output_0")
            centred = self.add("Sub", x, mean)
            square = self.add("Mul", centred, centred, to=f"{path}/Mul_2_output_0")
            variance = self.add("ReduceMean", square, [2], to=f"{path}/ReduceMean_2_output_0")
            deviation = self.add("Sqrt", self.add("Add", variance, np.float32(1e-5)))
            self.add("Div", centred, deviation, to=f"{path}/Div_1_output_0")
        scaled = self.add("Mul", gain, f"{place}/Div_1_output_0", to=f"{path}/Mul_3_output_0")
        return self.add("Add", scaled, bias)

    def snake(self, path: str, part: str, x: str, width: int, shared: str = "") -> str:
        y = self.norm(f"{path}/adain{part}", x, width, shared)
        alpha = self._draw.uniform(0.5, 2, (1, width, 1)).astype(np.float32)
        name = f"{WEIGHTS}{path}.alpha{part}".replace("/", ".")
        sine = self.add("Sin", self.add("Mul", self.constant(alpha, name), y))
        return self.add("Add", y, self.add("Mul", 1 / alpha, self.add("Mul", sine, sine)))

    def convolution(  # noqa: PLR0913  what a node of a convolution says
        self, path: str, x: str, shape: tuple[int, int, int], *, bias: bool = True,
        dilation: int = 1, stride: int = 1, pads: tuple[int, int] | None = None, gain: float = 1.0,
    ) -> str:  # fmt: skip
        """Of bytes: `shape` is [out, in, taps]; as long as x, unless pads say otherwise."""
        reach = dilation * (shape[2] - 1) // 2
        weight = self._draw.integers(1, 256, shape, np.uint8)
        if shape[1] == 22:  # high angles are chance, because there is next to nothing
            weight[:, 13:] = 128
        scale = self.constant(
            np.float32(gain / 73 / (shape[1] * shape[2]) ** 0.5), f"{path} weight_scale"
        )
        if x not in self._bytes:
            self._bytes.add(x)
            outputs = [f"{x}{end}" for end in ("_bytes", "_scale", "_zero_point")]
            self.nodes.append(
                helper.make_node("DynamicQuantizeLinear", [x], outputs, name=f"{x} as bytes")
            )
        both = self.add("Mul", f"{x}_scale", scale)
        total = self.add(
            "ConvInteger", f"{x}_bytes", self.constant(weight, f"{path} weight_quantized"),
            f"{x}_zero_point", np.uint8(128), kernel_shape=[shape[2]], dilations=[dilation],
            strides=[stride], pads=list(pads or (reach, reach)), group=1,
        )  # fmt: skip
        if bias:
            whole = self.add("Round", self.add("Div", 0.3 * self.random(shape[0]), both))
            whole = self.add("Cast", whole, to_type=TensorProto.INT32)
            total = self.add("Add", total, self.add("Reshape", whole, [1, -1, 1]))
        total = self.add("Cast", total, to_type=TensorProto.FLOAT)
        return self.add("Mul", total, both, to=f"{ROOT}{path}_output_0")

    def leaky(self, x: str, alpha: float) -> str:
        return self.add("LeakyRelu", x, alpha=alpha)

    def stretched(self, x: str, times: int) -> str:
        scales = np.array([1, 1, times], np.float32)
        return self.add(
            "Resize", x, "", scales, mode="nearest", nearest_mode="floor",
            coordinate_transformation_mode="asymmetric",
        )  # fmt: skip

    def resized(self, x: str, times: float) -> str:
        return self.add("Resize", x, "", np.array([1, 1, times], np.float32), mode="linear")

    def random(self, *shape: int) -> np.ndarray:
        """So that sums over the second axis and those behind it are about 1; [C]: small biases."""
        several = np.prod(shape[1:]) if len(shape) > 1 else 9
        return self._draw.normal(0, float(several) ** -0.5, shape).astype(np.float32)

    def add(
        self, kind: str, *inputs: Any, to: str = "", to_type: int = 0, **attributes: Any
    ) -> str:
        output = to or f"{kind} {len(self.nodes)}"
        if to_type:
            attributes["to"] = to_type
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(helper.make_node(kind, names, [output], name=output, **attributes))
        return output

    def constant(self, values: Any, name: str = "") -> str:
        name = name or f"constant {len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.asarray(values), name)
        return name


@cache
def espeak(language: str = "en-us") -> Espeak:
    return Espeak(language)


@cache
def phoned(text: str = TEXT, language: str = "en-us") -> tuple[PhonedWord, ...]:
    return tuple(phoned_words(text.split(), espeak(language)))


def sentences(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [grammar.sentence("test", draw) for _ in range(count)]


def plan_request(
    words: tuple[PhonedWord, ...], rate: float | None = None, *, closed: bool = True
) -> PlanRequest:
    return PlanRequest(words, (1.0,) * len(words), rate, closed)


@cache
def learnt() -> tuple[VoiceInputs, float]:
    """What the made-up graph says of TEXT; with it a window sounds as in that sentence."""
    sentences = [phoned(TEXT)]
    return statistics(small_parts(), small_style(), sentences, scratch("text"), accent="en-us")


def planned(asked: PlanRequest, before: Plan | None = None, done: int = 0) -> Plan:
    speaker = Speaker(small_style(), accent="en-us", own_rate=OWN_RATE)
    return make_plan(small_parts(), speaker, asked, before, done)


def of_graph(file: Path, style: np.ndarray, said: Any, *names: str) -> list[np.ndarray]:
    """Values [N] of these tensors of a graph as it is for what is said: a plan's curves, or others
    like them.
    """
    part = Published(file).part(("style", FEATURES, PITCH, ENERGY), names)
    session = onnxruntime.InferenceSession(
        part.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    given = {FEATURES: said.features.T[None], PITCH: said.pitch[None], ENERGY: said.energy[None]}
    return [each.reshape(-1) for each in session.run(list(names), {"style": style, **given})]


def frames_apart(one: np.ndarray, other: np.ndarray, frame: int) -> np.ndarray:
    """How far apart two sounds are in every frame, as a share of the first one's level."""
    apart = (one - other).reshape(-1, frame).std(axis=1)
    level: np.ndarray = apart / one.std()
    return level
