"""Loader of the published speaker encoder that executes no code in the file.

Invariant: either every tensor of the file fits the network in its configuration, and the
configuration contains only values that are implemented here, or a ModelError names the file, the
key, and the expected and actual value.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any

from engine.assets.pickle_file import read_pickle
from engine.errors import ModelError
from engine.nn.weights_file import check_shapes, not_finite
from engine.translatable import Translatable
from engine.tts.speaker.redimnet import (
    FFT,
    HIGHEST_HZ,
    HOP,
    LOWEST_HZ,
    SAMPLE_RATE,
    WINDOW,
    ReDimNet,
    ResidualStage,
    SpeakerConfig,
)

REFETCH = Translatable("Fetch the model again.")
NEWER = Translatable("This speaker encoder needs a newer version of the program.")
# Allowed values of the configuration's keys; the first is the default.
_KINDS: dict[str, tuple[Any, ...]] = {
    "block_1d_type": ("att",),
    "block_2d_type": ("convnext_like",),
    "out_channels": (None,),
    "pooling_func": ("ASTP",),
    "global_context_att": (False,),
    "emb_bn": (False,),
    "hop_length": (HOP,),
    "feat_type": ("pt", "pt_mel"),
    "tf_optimized_arch": (False,),
    "return_all_outputs": (False,),
}
_SPECTRUM: dict[str, tuple[Any, ...]] = {
    "sample_rate": (SAMPLE_RATE,),
    "n_fft": (FFT,),
    "win_length": (WINDOW,),
    "f_min": (LOWEST_HZ,),
    "f_max": (HIGHEST_HZ,),
    "norm_signal": (False,),
    "do_preemph": (True,),
    "spec_norm": ("mn",),
}
_SHAPES = {"F", "C", "embed_dim", "group_divisor", "stages_setup", "spec_params"}
_TRAINING = {"num_classes", "class_dropout", "feat_agg_dropout", "head_activation"}
_AUGMENTATION = {
    "do_spec_aug",
    "freq_start_bin",
    "num_apply_spec_aug",
    "freq_mask_width",
    "time_mask_width",
}
_CLASSIFIER = "cls_head."  # classifies the speakers of the training; not used for vectors


def load_speaker_encoder(file: Path) -> ReDimNet:
    """Load the published .pt file. ModelError names file, key, and expected and actual value."""
    content = read_pickle(file, Translatable("The speaker encoder"), REFETCH)
    if not {"model_config", "state_dict"} <= set(content):
        raise ModelError("{file} holds no model_config and state_dict.", hint=REFETCH, file=file)
    model = ReDimNet(_read_shape(file, content["model_config"]))
    tensors = {
        key: each for key, each in content["state_dict"].items() if not key.startswith(_CLASSIFIER)
    }
    expected = {key: each.shape for key, each in model.state_dict().items()}
    check_shapes(file, expected, {key: each.shape for key, each in tensors.items()}, REFETCH)
    if key := not_finite(tensors.items()):
        raise ModelError("{file}: '{key}' holds NaN or infinity.", hint=REFETCH, file=file, key=key)
    model.load_state_dict(tensors)
    return model.eval().requires_grad_(False)


def _read_shape(file: Path, config: dict[str, Any]) -> SpeakerConfig:
    """Return the shape in the published configuration."""
    _check_kinds(file, config, _KINDS, _SHAPES | _TRAINING)
    _check_kinds(file, config.get("spec_params", {}), _SPECTRUM, _AUGMENTATION)
    plain = SpeakerConfig()
    setups = config.get("stages_setup")
    setups = setups if isinstance(setups, list | tuple | None) else [setups]
    stages = plain.stages if setups is None else tuple(_stage(file, setup) for setup in setups)
    published = {"frequencies": "F", "channels": "C", "width": "embed_dim"}
    values = {
        field.name: config.get(published.get(field.name, field.name), getattr(plain, field.name))
        for field in fields(SpeakerConfig)
        if field.name != "stages"
    }
    return SpeakerConfig(stages=stages, **values)


def _check_kinds(
    file: Path, config: Any, kinds: dict[str, tuple[Any, ...]], others: set[str]
) -> None:
    """Raise ModelError for an unknown key, or for a value that `kinds` does not allow. Keys in
    `others` are not checked.
    """
    if not isinstance(config, dict):
        raise ModelError("{file} holds no configuration.", hint=REFETCH, file=file)
    for key, value in config.items():
        if key in others:
            continue
        if key not in kinds:
            raise ModelError(
                "{file}: the configuration's '{key}' is not known.", hint=NEWER, file=file, key=key
            )
        if value not in kinds[key]:
            raise ModelError(
                "{file}: '{key}' is {value}, expected {expected}.",
                hint=NEWER,
                file=file,
                key=key,
                value=repr(value),
                expected=repr(kinds[key][0]),
            )


def _stage(file: Path, setup: Any) -> ResidualStage:
    """Build a stage from stride, blocks, expansion, kernel sizes (ignored by the blocks) and
    attention's reduction.
    """
    match setup:
        case (int(stride), int(blocks), 1, _, int(reduction)) if min(stride, blocks, reduction) > 0:
            return ResidualStage(stride, blocks, reduction)
    raise ModelError(
        "{file}: the stage {name} is not implemented.", hint=NEWER, file=file, name=repr(setup)
    )
