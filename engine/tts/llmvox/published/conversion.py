"""Conversion of the published files to files of our own. The published pickles are verified by hash
and read once, as weights only.

Entries that are not used are left out. The codebook entry that means the end (453) becomes the last
label, and bytes get ids of our own. Of the three special rows of the text's table, one is in the
file (</s>, which ends a word); the others are the mean of all rows, as in the public code.
Invariant: a converted file is complete, and contains the hashes of its sources.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from engine.assets.catalogue import find
from engine.assets.pickle_file import read_pickle
from engine.assets.store import Store
from engine.atomic_write import replace_file
from engine.codec.wavtokenizer import WavTokenizerConfig
from engine.errors import ModelError
from engine.nn.transformer import TransformerConfig
from engine.nn.weights_file import REFETCH, shape_metadata
from engine.translatable import Progress, Translatable
from engine.tts.llmvox.model import NOTHING, TEXT_END, WORD
from engine.tts.llmvox.published import paths
from engine.tts.llmvox.published.model import UNITS, PublishedShape

END: Final = 453  # the entry of the codebook that ends the speech
SOURCES_KEY: Final = "sources"
_BYTES, _BEFORE_BYTES, _WORD_END = 256, 3, 1  # ids of ByT5: that of a byte is its value + 3
_COMPILED: Final = "_orig_mod."  # before every key of a compiled network
_CODEBOOK: Final = "feature_extractor.encodec.quantizer.vq.layers.0._codebook.embed"
_TEXT_KEYS: Final = ("shared.weight", "encoder.embed_tokens.weight")
# Published names as patterns, and ours. Other tensors are not needed.
_NETWORK_NAMES: Final = (
    (r"transformer\.wpe\.weight", "position.weight"),
    (r"transformer\.h\.(\d+)\.ln_1\.weight", r"stack.layers.\1.attention_norm.scale"),
    (r"transformer\.h\.(\d+)\.attn\.c_attn\.weight", r"stack.layers.\1.attention.qkv.weight"),
    (r"transformer\.h\.(\d+)\.attn\.c_proj\.weight", r"stack.layers.\1.attention.output.weight"),
    (r"transformer\.h\.(\d+)\.ln_2\.weight", r"stack.layers.\1.mlp_norm.scale"),
    (r"transformer\.h\.(\d+)\.mlp\.c_fc\.weight", r"stack.layers.\1.mlp.gate_up.weight"),
    (r"transformer\.h\.(\d+)\.mlp\.c_proj\.weight", r"stack.layers.\1.mlp.down.weight"),
    (r"transformer\.ln_f\.weight", "stack.norm.scale"),
    (r"lm_head\.weight", "leave.weight"),
)
_CODEC_NAMES: Final = (
    (r"backbone\.embed\.(\w+)", r"enter.\1"),
    (r"backbone\.pos_net\.([0134])\.norm1\.(\w+)", r"around.\1.layers.0.\2"),
    (r"backbone\.pos_net\.([0134])\.conv1\.(\w+)", r"around.\1.layers.2.\2"),
    (r"backbone\.pos_net\.([0134])\.norm2\.(\w+)", r"around.\1.layers.3.\2"),
    (r"backbone\.pos_net\.([0134])\.conv2\.(\w+)", r"around.\1.layers.5.\2"),
    (r"backbone\.pos_net\.2\.proj_out\.(\w+)", r"around.2.output.\1"),
    (r"backbone\.pos_net\.2\.(norm|q|k|v)\.(\w+)", r"around.2.\1.\2"),
    (r"backbone\.pos_net\.5\.(\w+)", r"around.5.\1"),
    (r"backbone\.norm\.scale\.weight", "norm.weight"),
    (r"backbone\.norm\.shift\.weight", "norm.bias"),
    (r"backbone\.convnext\.(\d+)\.dwconv\.(\w+)", r"blocks.\1.depthwise.\2"),
    (r"backbone\.convnext\.(\d+)\.norm\.scale\.weight", r"blocks.\1.norm.weight"),
    (r"backbone\.convnext\.(\d+)\.norm\.shift\.weight", r"blocks.\1.norm.bias"),
    (r"backbone\.convnext\.(\d+)\.pwconv1\.(\w+)", r"blocks.\1.wide.\2"),
    (r"backbone\.convnext\.(\d+)\.pwconv2\.(\w+)", r"blocks.\1.narrow.\2"),
    (r"backbone\.convnext\.(\d+)\.gamma", r"blocks.\1.scale"),
    (r"backbone\.final_layer_norm\.(\w+)", r"last_norm.\1"),
    (r"head\.out\.(\w+)", r"leave.\1"),
)
_UNUSED: Final = re.compile(r"transformer\.h\.\d+\.attn\.bias|head\.istft\.window")  # constants
_BANDWIDTH: Final = 0  # of four in the training of the codec's adaptive norms
Tensors = dict[str, Tensor]
_Part = TypeVar("_Part", dict[str, Any], Tensor)


def converted_network(progress: Progress) -> Path:
    """Return the converted file of a PublishedModel; convert it first if needed. ModelError when a
    source is missing or has changed, AssetError when the disk refuses.
    """
    return _converted(paths.NETWORK, (paths.NETWORK, paths.CODEC, paths.TEXT), _network, progress)


def converted_codec(progress: Progress) -> Path:
    """Return the converted file of a WavTokenizerDecoder, as converted_network() does."""
    return _converted(paths.CODEC, (paths.CODEC,), _codec, progress)


def _converted(
    asset: str,
    sources: tuple[str, ...],
    make: Callable[[], tuple[Tensors, Any]],
    progress: Progress,
) -> Path:
    """Return the converted file. Make it if it is missing or its sources have changed."""
    file = paths.models_folder() / asset / paths.CONVERTED
    store = Store(paths.models_folder())
    hashes = " ".join(each for source in sources for each in store.hashes(find(source)))
    if file.is_file() and _made_of(file) == hashes:
        return file
    for source in sources:
        _check(source, store, progress)
    progress(Translatable("Converting {name}, once", name=asset), None)
    tensors, shape = make()
    about = shape_metadata(shape) | {SOURCES_KEY: hashes}
    replace_file(file, save({key: t.float().contiguous() for key, t in tensors.items()}, about))
    return file


def _made_of(file: Path) -> str:
    """Return the source hashes in a converted file; empty for any other file."""
    try:
        with safe_open(str(file), framework="pt") as handle:  # type: ignore[no-untyped-call]
            about: dict[str, str] = handle.metadata() or {}
    except (OSError, SafetensorError):
        return ""
    return about.get(SOURCES_KEY, "")


def _check(source: str, store: Store, progress: Progress) -> None:
    """Compare the fetched files with their hashes. ModelError if one has changed."""
    progress(Translatable("Verifying {name}", name=source), None)
    for fault in store.verify(find(source), lambda file, done, total: None, lambda: False):
        raise ModelError(fault, hint=REFETCH)


@contextmanager
def _source(asset: str) -> Iterator[dict[str, Any]]:
    """Read a fetched file. ModelError with its name if it is not as expected."""
    file = paths.pickle_of(asset)
    content = read_pickle(file, Translatable("The voice file"), REFETCH)
    try:
        yield content
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            "{file} cannot be used: {error}.", hint=REFETCH, file=file, error=error
        ) from error


# -------------------------------------------------------------------- the network


def _network() -> tuple[Tensors, PublishedShape]:
    with _source(paths.CODEC) as content:
        codes = _end_last(_part(_part(content, "state_dict", dict), _CODEBOOK, Tensor))
    with _source(paths.TEXT) as content:
        units = _unit_rows(content)
    with _source(paths.NETWORK) as content:
        weights = _part(content, "model", dict).items()
        tensors = _renamed(
            {key.removeprefix(_COMPILED): tensor for key, tensor in weights}, _NETWORK_NAMES
        )
        tensors["leave.weight"] = _end_last(tensors["leave.weight"])
        tensors["codebook.weight"], tensors["unit.weight"] = codes, units
        codes[-1] = 0
        return tensors, _shape(tensors, _part(content, "model_args", dict).get("n_head"))


def _shape(tensors: Mapping[str, Tensor], heads: Any) -> PublishedShape:
    """Read the shape from the tensors. The number of heads is not in them."""
    positions, width = tensors["position.weight"].shape
    tokens, entry = tensors["codebook.weight"].shape
    hidden = len(tensors["stack.layers.0.mlp.gate_up.weight"])
    layers = sum(key.endswith("attention.qkv.weight") for key in tensors)
    text = tensors["unit.weight"].shape[1]
    if type(heads) is not int or heads < 1 or width % (2 * heads):
        raise ValueError(f"{heads} heads of {width} numbers")
    if text + entry != width:
        raise ValueError(f"vectors of {text} and {entry} numbers for {width}")
    stack = TransformerConfig(layers, width, heads, heads, hidden)
    return PublishedShape(stack, tokens - 1, positions, entry, text)


def _end_last(rows: Tensor) -> Tensor:
    """Move the row of the end to the last place of rows [V, D]."""
    if len(rows) <= END:
        raise ValueError(f"a codebook of {len(rows)} entries")
    return torch.cat((rows[:END], rows[END + 1 :], rows[END : END + 1]))


def _unit_rows(content: Mapping[str, Any]) -> Tensor:
    """Return the embeddings of our text units [UNITS, D]."""
    key = next((key for key in _TEXT_KEYS if key in content), _TEXT_KEYS[0])
    table = _part(content, key, Tensor)
    rows = table.new_zeros(UNITS, table.shape[1])
    rows[:_BYTES] = table[_BEFORE_BYTES : _BEFORE_BYTES + _BYTES]
    rows[WORD] = table[_WORD_END]
    rows[[TEXT_END, NOTHING]] = table.mean(dim=0)
    return rows


# ---------------------------------------------------------------------- the codec


def _codec() -> tuple[Tensors, WavTokenizerConfig]:
    with _source(paths.CODEC) as content:
        whole = _part(content, "state_dict", dict)
        decoder = {key: whole[key] for key in whole if key.startswith(("backbone.", "head."))}
        named = _renamed(decoder, _CODEC_NAMES)
        return _joined(named), WavTokenizerConfig(
            named["enter.weight"].shape[1],
            len(named["enter.weight"]),
            sum(key.endswith(".depthwise.weight") for key in named),
        )


def _joined(named: Tensors) -> Tensors:
    """Take one row of the adaptive norms, and join the weights of attention's three products."""
    made = {key: tensor for key, tensor in named.items() if not key.startswith("around.2.")}
    for key, tensor in named.items():
        if re.search(r"(^|\.)norm\.", key) and tensor.dim() == 2:
            made[key] = tensor[_BANDWIDTH]
    attention = {
        key: tensor.flatten(1) if tensor.dim() == 3 else tensor
        for key, tensor in named.items()
        if key.startswith("around.2.")
    }
    for kind in ("weight", "bias"):
        parts = [attention.pop(f"around.2.{part}.{kind}") for part in "qkv"]
        attention[f"around.2.qkv.{kind}"] = torch.cat(parts)
    return made | attention


# ------------------------------------------------------------------------- shared


def _part(content: Mapping[str, Any], key: str, kind: type[_Part]) -> _Part:
    part = content.get(key)
    if not isinstance(part, kind):
        raise ValueError(f"it lacks '{key}'")  # noqa: TRY004  _source() reports one kind of error
    return part


def _renamed(tensors: Tensors, names: tuple[tuple[str, str], ...]) -> Tensors:
    """Rename tensors. ValueError for an unknown key, because it would change the sound."""
    renamed = {}
    for key, tensor in tensors.items():
        if _UNUSED.fullmatch(key):
            continue
        matches = ((re.fullmatch(pattern, key), ours) for pattern, ours in names)
        found = next((match.expand(ours) for match, ours in matches if match), "")
        if not found:
            raise ValueError(f"it holds '{key}', which is not expected")
        renamed[found] = tensor
    return renamed
