"""The public implementation of VoXtream2, imported from a path and given our random weights.

Nothing of it is copied here. The path is a checkout of herimor/voxtream, or the unpacked package
voxtream (0.2.5 is VoXtream2.1), which comes without its settings. Its own packages must be
importable (torchtune 0.4, moshi, pyloudnorm); for what it imports and does not need here an empty
package stands in.
"""

import dataclasses
import importlib.abc
import importlib.machinery
import json
import sys
import types
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.codec.mimi import FRAME_MS
from engine.nn.transformer import TransformerConfig
from engine.tts.phones import BOS, EOS, MARKS, SILENCE, UNKNOWN
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    EDITIONS,
    VOXTREAM2_SHAPE,
    Edition,
    ModelConfig,
)
from engine.tts.voxtream.files.paths import VOXTREAM2
from tests.engine.tts.voxtream.random_weights import RandomWeights

UNNEEDED = (
    *("datasets", "tiktoken", "torchvision", "torchaudio", "torchao"),
    *("silero_vad", "g2p_en", "inflect", "nltk"),
)
STACKS = ("phone_former", "temp_former", "dep_former_csm")


class Reference:
    """The public implementation with given weights, and the settings of an edition where the path
    holds none.
    """

    def __init__(
        self,
        path: Path,
        weights: RandomWeights,
        shape: ModelConfig = VOXTREAM2_SHAPE,
        edition: Edition = EDITIONS[VOXTREAM2],
    ) -> None:
        package = imported(path)
        self.runtime, self.helpers = package.runtime, package.helpers
        self.config, self.rates = settings(package, path, shape, edition)
        for name, stack in zip(STACKS, (shape.phone, shape.temporal, shape.depth), strict=True):
            made = package.sampling.get_llama3_2(**_arguments(stack))
            package.sampling.MODEL_POOL[name] = made
        models = package.models
        self.model = models.Model(models.ModelConfig(**config_of(shape))).eval()
        own = self.model.state_dict()
        for key, tensor in weights.items():
            own.pop(key).copy_(tensor)
        if own:
            raise SystemExit(f"the reference has keys of its own: {list(own)[:3]}")
        with torch.device("cpu"):
            self.model.setup_caches(2, torch.float32)


def context_of(reference: Reference) -> types.SimpleNamespace:
    """What its alignment reads."""
    indices = reference.config.phoneme_index_map
    return types.SimpleNamespace(config=reference.config, phoneme_index_map=indices, batch_size=2)


@dataclass(frozen=True)
class Package:
    """The modules of the public implementation."""

    configs: Any
    models: Any
    sampling: Any
    helpers: Any
    runtime: Any


def imported(path: Path) -> Package:
    """Of a checkout or package."""
    sys.path.insert(0, str(path))
    sys.meta_path.append(_Nothing())
    warnings.simplefilter("ignore")
    _without_vocabularies()
    from voxtream import config, model
    from voxtream.utils import model as sampling
    from voxtream.utils.generator import helpers, runtime

    return Package(config, model, sampling, helpers, runtime)


def settings(
    package: Package,
    path: Path,
    shape: ModelConfig = VOXTREAM2_SHAPE,
    edition: Edition = EDITIONS[VOXTREAM2],
) -> tuple[Any, Mapping[str, Any]]:
    """Its settings and its table of rates: its own where it brings them, else the edition's."""
    fields = {field.name for field in dataclasses.fields(package.configs.SpeechGeneratorConfig)}
    folder = path / "configs"
    if folder.is_dir():
        generator = json.loads((folder / "generator.json").read_text())
        rates = json.loads((folder / "speaking_rate.json").read_text())
    else:
        generator = dict.fromkeys(fields) | settings_of(edition, shape)
        rates = rates_of(edition)
    known = {key: value for key, value in generator.items() if key in fields}
    return package.configs.SpeechGeneratorConfig(**known), rates


class SoundingWeights(RandomWeights):
    """Codes that are no sounds get the logit 0, so that the reference, which can draw them, does
    not.
    """

    def __init__(self, config: ModelConfig, seed: int) -> None:
        super().__init__(config, seed)
        self._config = config

    def take(self, key: str) -> Tensor:
        tensor, codes = super().take(key), self._config.codes
        if key == "audio_head":
            tensor[..., codes:] = 0
        elif key == "sem_head.weight":
            tensor.view(self._config.duration_tokens, -1, tensor.shape[1])[:, codes:] = 0
        return tensor


def config_of(shape: ModelConfig) -> dict[str, Any]:
    """config.json of a shape."""
    phone, temporal, depth = STACKS
    return {
        "phone_former": phone,
        "temp_former": temporal,
        "dep_former": depth,
        "phone_vocab_size": shape.phone_vocabulary,
        "audio_vocab_size": shape.audio_vocabulary,
        "audio_pad_size": 0,
        "embedding_dim": shape.width,
        "spk_embedding_dim": shape.speaker_width,
        "num_codebooks": shape.codebooks,
        "num_phone_states": shape.duration_tokens,
        "amortization_divisor": 16,
        "max_look_ahead": shape.max_look_ahead,
        "audio_window_size": shape.audio_window,
        "phone_window_size": shape.phone_window,
    }


def settings_of(edition: Edition, shape: ModelConfig) -> dict[str, Any]:
    """The keys of generator.json that are read while a text is spoken."""
    generation = edition.generation
    return {
        "sil_token": SILENCE,
        "bos_token": BOS,
        "eos_token": EOS,
        "unk_token": UNKNOWN,
        "eop_token": UNKNOWN,
        "punct_map": MARKS,
        "num_codebooks": shape.codebooks,
        "num_phones_per_frame": 2,
        "audio_delay_frames": generation.acoustic_delay,
        "temperature": generation.temperature,
        "topk": generation.top_codes,
        "top_p": generation.nucleus,
        "max_audio_length_ms": 60_000,
        "mimi_vocab_size": shape.codes,
        "mimi_frame_ms": FRAME_MS,
        "phoneme_index_map": {
            str(number): [token.shift, token.phones] for number, token in enumerate(DURATION_TOKENS)
        },
        "max_phone_tokens": 2000,
        "spk_rate_window_sec": 3.0,
        "cfg_gamma": generation.semantic_guidance,
        "cfg_ac_gamma": generation.acoustic_guidance,
        "spk_proj_weight": generation.speaker_weight,
        "audio_pad_token": shape.pad,
        "min_look_ahead_phones": generation.min_look_ahead,
        "frame_repeat_counter": generation.repeats_before_push,
    }


def rates_of(edition: Edition) -> Mapping[str, Mapping[str, Any]]:
    """speaking_rate.json of an edition."""
    return {
        f"{rate:g}": {
            "duration_state": list(target.counts),
            "weight": target.weight,
            "cfg_gamma": target.guidance,
        }
        for rate, target in edition.rates.items()
    }


def _arguments(stack: TransformerConfig) -> dict[str, int]:
    return {
        "num_layers": stack.layers,
        "num_heads": stack.heads,
        "num_kv_heads": stack.kv_heads,
        "embed_dim": stack.width,
        "intermediate_dim": stack.hidden,
    }


def _without_vocabularies() -> None:
    """Its three stacks are made with tables of 128,256 words, which it throws away: 1.6 GB."""
    from torchtune.models import llama3_2

    genuine = llama3_2.llama3_2
    llama3_2.llama3_2 = lambda **arguments: genuine(**(arguments | {"vocab_size": 2}))


class _Stand(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls


class _Anything(metaclass=_Stand):
    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self


class _Module(types.ModuleType):
    __version__ = "0.9.0"  # of torchao, which torchtune asks for
    __path__: list[str] = []  # noqa: RUF012  a package, which may have parts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything


class _Nothing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds those UNNEEDED packages that are not there."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.split(".")[0] in UNNEEDED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass
