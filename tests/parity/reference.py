"""The public implementation of VoXtream2, imported from a path and given our random weights.

Nothing of it is copied here. Its packages (torchtune, nltk) must be importable.
"""

import json
import sys
import warnings
from pathlib import Path

import torch

from engine.tts.voxtream.config import VOXTREAM2_SHAPE
from engine.tts.voxtream.files.checkpoint import RandomWeights


class Reference:
    """The public implementation, loaded from a path with given weights."""

    def __init__(self, path: Path, weights: RandomWeights) -> None:
        sys.path.insert(0, str(path))
        warnings.simplefilter("ignore")
        from voxtream import config as configs
        from voxtream import model as models
        from voxtream.utils import model as sampling
        from voxtream.utils.generator import helpers, runtime

        self.runtime, self.helpers, self.sampling = runtime, helpers, sampling
        generator = json.loads((path / "configs/generator.json").read_text())
        self.config = configs.SpeechGeneratorConfig(**generator)
        self.rates = json.loads((path / "configs/speaking_rate.json").read_text())
        shape = VOXTREAM2_SHAPE
        self.model = models.Model(
            models.ModelConfig(
                phone_former="phone_former",
                temp_former="temp_former",
                dep_former="dep_former_csm",
                phone_vocab_size=shape.phone_vocabulary,
                audio_vocab_size=shape.audio_vocabulary,
                audio_pad_size=0,
                embedding_dim=shape.width,
                spk_embedding_dim=shape.speaker_width,
                num_codebooks=shape.codebooks,
                num_phone_states=shape.duration_tokens,
                amortization_divisor=16,
                max_look_ahead=shape.max_look_ahead,
                audio_window_size=shape.audio_window,
                phone_window_size=shape.phone_window,
            )
        ).eval()
        own = self.model.state_dict()
        for key, tensor in weights.items():
            own.pop(key).copy_(tensor)
        if own:
            raise SystemExit(f"the reference has keys of its own: {list(own)[:3]}")
        with torch.device("cpu"):
            self.model.setup_caches(2, torch.float32)
