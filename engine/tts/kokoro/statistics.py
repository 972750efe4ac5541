"""Statistics of a voice that the decoder needs: norms, ranges of the bytes, and the voice's own
pace.

Kokoro's norms run over an entire utterance, which is not known yet while it is spoken. With the
mean and the variance of a few sentences of the voice, in its language, they become affine maps, and
a window sounds like the utterance. They are measured once for each style, in some seconds, and
stored beside the model. Invariant: the file's name contains the hashes of the style and of the
code; the file is complete or missing.
"""

import hashlib
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from engine.atomic_write import replace_file
from engine.resources import table
from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.durations import PER_SECOND
from engine.tts.kokoro.parts import Floats, Parts, VoiceInputs, cut_hash
from engine.tts.kokoro.windows import plan_natural

log = logging.getLogger(__name__)

PACE: Final = "own pace"  # of the tensors: SPS [1]
_LEVELS: Final = 255
_ROOM: Final = 1.1  # factor on the measured range of a convolution's result
_QUIETEST: Final = 1e-6  # range of a channel: less is silence
_EPSILON: Final = 1e-5  # of the norms
_CODE: Final = (
    "statistics.py",
    "windows.py",
    "durations.py",
    "symbols.py",
    "fit/decoder.py",
)  # decide the result
_Answer = tuple[int, dict[str, npt.NDArray[np.float64]]]
_MOST: Final = 100  # files: every mixture and learnt voice has one


def sentences_in(language: str) -> tuple[str, ...]:
    """Return the sentences in which voices of a language are measured; see engine/languages.py."""
    return tuple(table("voices.toml")["measured"][language])


def statistics(
    parts: Parts,
    style: Floats,
    sentences: Sequence[Sequence[PhonedWord]],
    kept_in: Path,
    *,
    accent: str,
    shift: Floats | None = None,
) -> tuple[VoiceInputs, float]:
    """Load the statistics of a style [1, 256], or measure them in `sentences`: the inputs of the
    decoder that are the same for every window, and the SPS without a target. `shift` [58, 128]: how
    far each norm's timbre is from the style's.
    """
    making = f"{_code_hash()} {parts.layout['levels']} {accent}"
    moved = b"" if shift is None else shift.tobytes()
    digest = hashlib.sha256(style.tobytes() + moved + making.encode()).hexdigest()[:16]
    file = kept_in / f"{digest}.safetensors"
    tensors: VoiceInputs | None = None
    try:
        with suppress(OSError):
            os.utime(file)  # the least recently used are deleted
        tensors = dict(load_file(str(file)))
    except FileNotFoundError:
        pass
    except (OSError, SafetensorError):
        log.warning("a voice's statistics are learnt again path=%s", file, exc_info=True)
    if tensors is None:
        tensors = _learn(parts, style, sentences, shift, accent=accent)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(file, save(tensors))
            files = sorted(kept_in.glob("*.safetensors"), key=lambda each: each.stat().st_mtime)
            for old in files[:-_MOST]:  # least recently used: of mixtures and deleted voices
                old.unlink(missing_ok=True)
        except OSError:  # it can be learnt again
            log.warning("a voice's statistics cannot be kept path=%s", file, exc_info=True)
    own_rate = float(tensors.pop(PACE).item())
    return tensors, own_rate


@cache
def _code_hash() -> str:
    """Hash the cut, the sentences and the code that decides the result."""
    digest = hashlib.sha256(cut_hash().encode())
    digest.update(repr(table("voices.toml")["measured"]).encode())
    for name in _CODE:
        digest.update(resources.files("engine.tts.kokoro").joinpath(name).read_bytes())
    return digest.hexdigest()


def _learn(
    parts: Parts,
    style: Floats,
    sentences: Sequence[Sequence[PhonedWord]],
    shift: Floats | None,
    *,
    accent: str,
) -> VoiceInputs:
    from engine.tts.kokoro.fit.decoder import load_decoder, measure  # loads torch and onnx

    decoder = load_decoder(parts.published)
    syllables = length = 0
    answers: list[_Answer] = []  # a number of frames, and flat tensors by name
    for words in sentences:
        said = plan_natural(parts, style, words, accent=accent)
        answers.append((len(said.features), measure(decoder, parts, said, style, shift)))
        syllables += int(said.script.nuclei.sum())
        length += int(said.frames[1:-2].sum())
    inputs = {**_norms(parts, answers), **_ranges(parts, answers)}
    for norm, name in parts.layout["folded norms"].items():  # over the convolution's bytes
        gain = inputs[f"gain {norm}"]
        inputs[f"bias {norm}"] = inputs[f"bias {norm}"] + gain * inputs.pop(f"least {name}")
        inputs[f"gain {norm}"] = gain * inputs.pop(f"step {name}")
    inputs[PACE] = np.array([syllables * PER_SECOND / length])
    kinds: dict[str, Any] = {"zero": np.uint8, "start": np.int32}
    return {
        name: np.asarray(each, kinds.get(name.split(" ")[0], np.float32))
        for name, each in inputs.items()
    }


def _norms(parts: Parts, answers: Sequence[_Answer]) -> dict[str, Any]:
    """Return the gain and bias that replace each norm."""
    inputs: dict[str, Any] = {}
    total = sum(frames for frames, _ in answers)
    for name, tensor in parts.layout["norms"].items():
        measured = [(n, each[tensor["mean"]], each[tensor["variance"]]) for n, each in answers]
        mean = sum(count * each for count, each, _ in measured) / total
        square = sum(count * (variance + each**2) for count, each, variance in measured)
        first = answers[0][1]
        gain = first[tensor["gamma"]] / np.sqrt(square / total - mean**2 + _EPSILON)
        factor = parts.tables.get(f"factor {name}", np.float32(1.0))
        inputs[f"gain {name}"] = gain * factor
        inputs[f"bias {name}"] = (first[tensor["beta"]] - mean * gain) * factor
    return inputs


def _ranges(parts: Parts, answers: Sequence[_Answer]) -> dict[str, Any]:
    """Return the ranges of the bytes before and after each convolution."""
    inputs: dict[str, Any] = {}
    for entry, levels in parts.layout["levels"].items():
        least, most = (float(each.item()) for each in _ends(entry, answers))
        least, most = min(least, 0.0), max(most, 0.0)
        scale = max(most - least, _QUIETEST) / levels
        inputs[f"scale {entry}"] = scale
        inputs[f"zero {entry}"] = round(-least / scale)
    for name, entry in parts.layout["convolutions"].items():
        least, most = _ends(f"{parts.layout['root']}{name}_output_0", answers)
        half = np.maximum(_ROOM * (most - least) / 2, _QUIETEST)
        low, step = (least + most) / 2 - half, 2 * half / _LEVELS
        scale = parts.tables[f"scale {name}"]
        bias = parts.tables.get(f"bias {name}", np.float32(0.0))
        inputs[f"step {name}"], inputs[f"least {name}"] = step, low
        inputs[f"weights {name}"] = scale / step
        inputs[f"start {name}"] = np.round((bias - low) / (inputs[f"scale {entry}"] * scale))
    return inputs


def _ends(tensor: str, answers: Sequence[_Answer]) -> tuple[Any, Any]:
    """Return the minimum and the maximum of a tensor, in total or by channel."""
    least = np.min([each[f"ReduceMin {tensor}"] for _, each in answers], axis=0)
    most = np.max([each[f"ReduceMax {tensor}"] for _, each in answers], axis=0)
    return least, most
