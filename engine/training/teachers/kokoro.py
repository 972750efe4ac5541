"""Kokoro-82M: a teacher that speaks with prescribed durations, so every phone's time is known.

Its graph is cut after its prediction of durations. The first part says how long each symbol would
be; the second, which costs fifty times as much, is run once, with the durations that were decided.
Invariant: speech has as many frames as its durations add up to, and the same input gives the same
samples: the graph has no randomness.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.tts.base import Pcm

Floats = npt.NDArray[np.float32]

SAMPLE_RATE: Final = 24_000
FRAME: Final = 600  # samples, 25 ms: the unit of durations
# Its sounds come three frames earlier than its durations say. An aligner that finds words 8 ms
# before flite's exact times finds them 85 ms before these; Kokoro's own code subtracts three frames
# too.
EARLY: Final = 3
MOST_SYMBOLS: Final = 509
MARKS: Final = ".,?!"
# The symbols for espeak's American English and four marks, with the model's ids.
_IDS: Final = {
    " ": 16, ",": 3, ".": 4, "!": 5, "?": 6, "a": 43, "b": 44, "d": 46, "e": 47, "f": 48, "h": 50,
    "i": 51, "j": 52, "k": 53, "l": 54, "m": 55, "n": 56, "o": 57, "p": 58, "r": 60, "s": 61,
    "t": 62, "u": 63, "v": 64, "w": 65, "x": 66, "z": 68, "ɑ": 69, "ɐ": 70, "ɒ": 71, "æ": 72,
    "ɔ": 76, "ð": 81, "ə": 83, "ɚ": 85, "ɛ": 86, "ɜ": 87, "ɡ": 92, "ɪ": 102, "ŋ": 112, "θ": 119,
    "ɹ": 123, "ɾ": 125, "ʃ": 131, "ʊ": 135, "ʌ": 138, "ʒ": 147, "ʔ": 148, "ˈ": 156, "ˌ": 157,
    "ː": 158, "ᵻ": 177,
}  # fmt: skip
_SPELT: Final = {"n̩": "ən", "ɬ": "l"}  # phones with a symbol that the model lacks

_DURATIONS: Final = "/encoder/predictor/ReduceSum_output_0"  # before they are rounded
_FRAMES: Final = "/encoder/Round_output_0"
_STATES: Final = "/encoder/predictor/text_encoder/Concat_4_output_0"
_STYLES: Final = 510  # of a voice, by number of symbols
_WIDTH: Final = 256


def symbols(phone: str) -> str:
    """A phone of the phonemizer in the model's symbols. KeyError when it has none for it."""
    for letters, spelt in _SPELT.items():
        phone = phone.replace(letters, spelt)
    for symbol in phone:
        _IDS[symbol]
    return phone


@dataclass(frozen=True)
class Outline:
    """A text before it has durations: `natural` are the frames that the model predicts for each
    symbol, with fractions, [symbols + 2]; the first and the last are silence.
    """

    natural: Floats
    ids: npt.NDArray[np.int64]
    style: Floats
    states: Floats


class Kokoro:
    """The model on one thread. `voices` are style vectors by name, [510, 256]."""

    def __init__(self, model: Path, voices: dict[str, Floats]) -> None:
        """Load 92 MB and cut it, about two seconds."""
        import onnx  # training only; with onnxruntime it takes a second

        graph = onnx.load(str(model))
        self._first = _session(_part(graph, ("tokens", "style"), (_DURATIONS, _STATES)))
        self._second = _session(_part(graph, ("tokens", "style", _FRAMES, _STATES), ("audio",)))
        self._voices = voices

    def outline(self, text: str, blend: Sequence[tuple[str, float]]) -> Outline:
        """Durations of at most MOST_SYMBOLS symbols, for a blend of voices in these shares."""
        ids = np.asarray([[0, *(_IDS[symbol] for symbol in text), 0]])
        rows = [self._voices[name][len(text)] * share for name, share in blend]
        style = np.sum(rows, axis=0, keepdims=True).astype(np.float32)
        natural, states = self._first.run(None, {"tokens": ids, "style": style})
        return Outline(natural.reshape(-1), ids, style, states)

    def speak(self, outline: Outline, frames: npt.NDArray[np.int64]) -> Pcm:
        """Samples at 24 kHz, sum(frames) times FRAME of them; every symbol has one frame or more.

        Symbol n begins FRAME * (sum(frames[:n]) - EARLY) samples in.
        """
        durations = frames.astype(np.float32)[None]
        feed = {"tokens": outline.ids, "style": outline.style, _FRAMES: durations}
        pcm: Pcm = self._second.run(None, {**feed, _STATES: outline.states})[0].reshape(-1)
        return pcm


def read_voices(file: Path, names: Sequence[str]) -> dict[str, Floats]:
    """Voices that lie one after the other in a file, each fp32 [510, 256]."""
    styles = np.fromfile(file, dtype="<f4").reshape(len(names), _STYLES, _WIDTH)
    return dict(zip(names, styles, strict=True))


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _part(model: Any, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
    """The part of a model that leads from these tensors to those."""
    from onnx import TensorProto, helper

    from engine.tts.kokoro.products import with_products

    graph = model.graph
    makers = {name: node for node in graph.node for name in node.output}
    names, dependencies, needed = list(outputs), set(inputs), set()
    while names:
        name = names.pop()
        if name in dependencies:
            continue
        dependencies.add(name)
        if name in makers:
            needed.add(makers[name].name)
            names += makers[name].input
    values = {value.name: value for value in (*graph.input, *graph.output)}

    def value_info(name: str) -> Any:
        return values.get(name) or helper.make_tensor_value_info(name, TensorProto.FLOAT, None)

    nodes, constants = with_products(
        (node for node in graph.node if node.name in needed), graph.initializer
    )
    part = helper.make_graph(
        nodes,
        graph.name,
        [value_info(name) for name in inputs],
        [value_info(name) for name in outputs],
        constants,
    )
    return helper.make_model(part, opset_imports=model.opset_import, ir_version=model.ir_version)
