"""Once fetched, no network is needed: models are listed, verified, loaded and speak without one."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save

from engine.assets.catalogue import find
from engine.assets.store import Store
from engine.tts.phones import own_ids
from engine.tts.speaker.redimnet import random_speaker_encoder
from engine.tts.voxtream.files.checkpoint import RandomWeights
from engine.tts.voxtream.files.loading import MIMI_FILE, SPEAKER_FILE
from tests.engine.assets.hub import Hub, serving
from tests.engine.assets.offline import unpinned
from tests.engine.tts.voxtream.small_model import SMALL, small_mimi

ROOT = Path(__file__).parents[3]
CONFIG = {
    "phone_former": "phone_former",
    "temp_former": "temp_former",
    "dep_former": "dep_former_csm",
    "phone_vocab_size": SMALL.phone_vocabulary,
    "audio_vocab_size": SMALL.audio_vocabulary,
    "audio_pad_size": 0,
    "embedding_dim": SMALL.width,
    "spk_embedding_dim": SMALL.speaker_width,
    "num_codebooks": SMALL.codebooks,
    "num_phone_states": SMALL.duration_tokens,
    "max_look_ahead": SMALL.max_look_ahead,
    "audio_window_size": 256,  # the least a pack may have; the small model keeps to less
    "phone_window_size": SMALL.phone_window,
}
MARKS = {".": 117, ",": 118, "?": 119, "!": 121, "sil": 120, "unk": 122}
ASSETS = ("voxtream2", "mimi", "redimnet")


def published() -> dict[str, bytes]:
    """Every file of the voice under its published name, small and random."""
    speaker = io.BytesIO()
    state = random_speaker_encoder(0).state_dict()
    torch.save({"model_config": {"F": 72, "C": 16}, "state_dict": state}, speaker)
    codec = {
        name: value.clone().contiguous() for name, value in small_mimi()._model.state_dict().items()
    }
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "phoneme_to_token.json": json.dumps(own_ids() | MARKS).encode(),
        "model.safetensors": save(dict(RandomWeights(SMALL, 0).items())),
        MIMI_FILE: save(codec),
        SPEAKER_FILE: speaker.getvalue(),
    }


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process without a network made of models that were fetched before."""
    data = tmp_path_factory.mktemp("data")
    files = published()
    with serving(Hub(files, {"latest": files})) as hub:
        store = Store(data / "models", endpoint=hub.endpoint)
        for name in ASSETS:
            store.fetch(unpinned(find(name)), lambda progress: None, lambda: False)
    environment = {name: value for name, value in os.environ.items() if "RUBATO" not in name}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.engine.assets.offline"],
        cwd=ROOT,
        env=environment | {"RUBATO_DATA": str(data), "RUBATO_CONFIG": str(data / "config")},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_fetched_models_are_listed_verified_loaded_and_speak(report):
    status, listed = report["listed"]
    states = {entry["name"]: entry["state"] for entry in listed}
    assert status == 0
    assert [states[name] for name in ASSETS] == ["complete"] * 3
    assert "missing" in states.values()
    assert [status for status, _ in report["verified"]] == [0, 0, 0]
    assert report["spoken"] == {"name": "voxtream2", "voices": ["formant"], "frames": 5}


def test_nothing_tried_to_reach_a_network_and_nothing_could_have(report):
    assert report["tried"] == []
    assert not report["reached"]
