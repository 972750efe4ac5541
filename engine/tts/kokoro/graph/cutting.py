"""Cut the published graph into the parts that run, and write them into a folder.

Only this needs the package onnx, which takes half a second to import, and only at the first start.
"""

import json
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from safetensors.numpy import save_file

from engine.tts.kokoro.graph.decoder import (
    FEATURES_SEEN,
    LAST_SEEN,
    ROOT,
    SPECTRUM_SEEN,
    WEIGHTS,
    DecoderGraph,
)
from engine.tts.kokoro.graph.published import (
    DURATIONS,
    ENERGY,
    FEATURES,
    FRAMES,
    PITCH,
    STATES,
    Array,
    Published,
    probe,
    signs_are_exact,
)

_BYTE: Final = 255  # the largest
_CURVES: Final = ("F0_conv/Conv", "N_conv/Conv")


def cut(source: Path, into: Path) -> None:
    """Write text.onnx (tokens, style -> durations, states), frames.onnx (tokens, style, frames,
    states -> features, pitch, energy), decoder.onnx (graph/decoder.py), probe.onnx and tables.
    """
    published = Published(source)
    decoder = DecoderGraph(published)
    parts = {
        "text": published.part(("tokens", "style"), (DURATIONS, STATES)),
        "frames": published.part(("tokens", "style", FRAMES, STATES), (FEATURES, PITCH, ENERGY)),
        "decoder": decoder.build(),
    }
    norms = {name: _norm(published, name) for name in decoder.norms}
    parts["probe"] = probe()
    for name, model in parts.items():
        onnx.save(model, str(into / f"{name}.onnx"))
    save_file(_tables(published, decoder), str(into / "tables.safetensors"))
    entries = {name: conv.entry for name, conv in decoder.convolutions.items()}
    levels = dict.fromkeys(decoder.entries, _BYTE)  # the largest byte of each convolution's input
    if not signs_are_exact():  # the sum of two products in 16 bits must fit
        for conv in decoder.convolutions.values():
            largest = int(np.abs(conv.weight.astype(np.int16)).max())
            most = np.iinfo(np.int16).max // (2 * largest)
            levels[conv.entry] = min(levels[conv.entry], most)
    layout = {
        "norms": norms,
        "convolutions": entries,
        "folded norms": decoder.folded_norms,
        "root": ROOT,
        "levels": levels,
        "signs are exact": signs_are_exact(),
        "seen": (FEATURES_SEEN, SPECTRUM_SEEN, LAST_SEEN),
        "crops": list(decoder.crops),
    }
    (into / "layout.json").write_text(json.dumps(layout), encoding="utf-8")


def _norm(published: Published, name: str) -> dict[str, str]:
    """Return the names of a norm's tensors: mean, variance, gamma and beta. Three blocks over the
    same rows share one mean and one variance.
    """
    path = ROOT + name
    gamma = f"{path}/Add_1_output_0"
    candidates = [f"{path}/Mul_{number}_output_0" for number in (2, 3)]
    product = next(node for node in map(published.find, candidates) if node and gamma in node.input)
    divided = next(each for each in product.input if each != gamma)
    place = divided.rsplit("/", 1)[0]
    return {
        "mean": f"{place}/ReduceMean_output_0",
        "variance": f"{place}/ReduceMean_2_output_0",
        "gamma": gamma,
        "beta": f"{path}/Slice_1_output_0",
    }


def _tables(published: Published, decoder: DecoderGraph) -> dict[str, Array]:
    curves = [published.convolution(ROOT + path) for path in _CURVES]
    source = f"{WEIGHTS}generator.m_source.l_linear.bias"
    tables = {
        "harmonics": published.constant("onnx::MatMul_6993").reshape(-1),
        "harmonics bias": published.constant(source),
        "taps": np.stack([each.weight[0, 0] * np.float32(each.scale) for each in curves]),
        "taps bias": np.concatenate([each.bias for each in curves if each.bias is not None]),
    }
    for name, factor in decoder.norms.items():
        if factor is not None:
            tables[f"factor {name}"] = factor
    for name, conv in decoder.convolutions.items():
        tables[f"scale {name}"] = np.array(conv.scale)
        if conv.bias is not None:
            tables[f"bias {name}"] = conv.bias
    return {name: np.array(table, np.float32, order="C") for name, table in tables.items()}
