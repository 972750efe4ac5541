"""Once fetched, no network is needed: models are listed, verified, loaded and speak without one.

The published names stand for small shapes here.
"""

import hashlib
import io
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from moshi.models import loaders
from safetensors.torch import save

from app.__main__ import main
from engine.assets import catalogue
from engine.assets.catalogue import Asset, AssetFile
from engine.assets.store import Store
from engine.settings import SpeechSettings
from engine.tts.base import AudioFrame
from engine.tts.phones import MARKS, SILENCE, UNKNOWN, own_ids
from engine.tts.registry import load
from engine.tts.voxtream import config
from engine.tts.voxtream.files.pack import ENCODER_FILE, MIMI_FILE
from tests.engine.assets.hub import Hub, serving
from tests.engine.assets.toy import ignore, never
from tests.engine.tts.voxtream.random_weights import RandomWeights, random_speaker_encoder
from tests.engine.tts.voxtream.small_model import SMALL, narrow_sections, small_mimi
from tests.parity.reference import config_of

# The least window a pack may have; the small model keeps to less.
CONFIG = config_of(SMALL) | {"audio_window_size": 256}
ASSETS = ("voxtream2", "mimi", "redimnet")
FORBIDDEN = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}
FORBIDDEN |= {"socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"}


@contextmanager
def no_network() -> Iterator[list[str]]:
    """What was tried in here. An audit hook sees what any library of this process does, whatever
    it imported before; it cannot be taken away again.
    """
    tried: list[str] = []
    is_watching = True

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if is_watching and event in FORBIDDEN:
            tried.append(f"{event} {arguments[1:]}")
            raise ConnectionRefusedError(event)

    sys.addaudithook(refuse)
    yield tried
    with pytest.raises(ConnectionRefusedError, match=r"^socket\."):
        socket.create_connection(("127.0.0.1", 9))
    is_watching = False


def published() -> dict[str, bytes]:
    """Every file of the voice under its published name, small and random."""
    speaker = io.BytesIO()
    state = random_speaker_encoder(0).state_dict()
    torch.save({"model_config": {"F": 72, "C": 16}, "state_dict": state}, speaker)
    codec = {
        name: value.clone().contiguous() for name, value in small_mimi()._model.state_dict().items()
    }
    table = own_ids() | MARKS | {"sil": SILENCE, "unk": UNKNOWN}
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "phoneme_to_token.json": json.dumps(table).encode(),
        "model.safetensors": save(dict(RandomWeights(SMALL, 0).items())),
        MIMI_FILE: save(codec),
        ENCODER_FILE: speaker.getvalue(),
    }


def unpinned(asset: Asset) -> Asset:
    """Small random files stand for the published ones, which the catalogue pins."""
    files = tuple(AssetFile(file.path, file.likely_bytes / 1e6) for file in asset.files)
    return replace(asset, files=files)


@pytest.fixture
def loose(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Asset]]:
    """The catalogue without pins, and the shapes behind the published names."""
    text = catalogue.resource("models.toml").read_text(encoding="utf-8")
    assets = {name: unpinned(asset) for name, asset in catalogue.parse(text).items()}
    monkeypatch.setattr(catalogue, "parse", lambda text: assets)
    shapes = {"phone_former": SMALL.phone, "temp_former": SMALL.temporal}
    for name, stack in {**shapes, "dep_former_csm": SMALL.depth}.items():
        monkeypatch.setitem(config.STACKS, name, stack)
    for name, section in narrow_sections().items():
        monkeypatch.setitem(loaders._mimi_config, name, section)
    catalogue.catalogue.cache_clear()
    yield assets
    catalogue.catalogue.cache_clear()


def test_fetched_models_are_listed_verified_loaded_and_speak(loose, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path / "config"))
    files = published()
    (speaker,) = loose["redimnet"].files
    pinned = replace(speaker, sha256=hashlib.sha256(files[ENCODER_FILE]).hexdigest())
    loose["redimnet"] = replace(loose["redimnet"], files=(pinned,))  # a release has no record
    with serving(Hub(files, {"latest": files})) as hub:
        store = Store(tmp_path / "models", endpoint=hub.endpoint)
        for name in ASSETS:
            store.fetch(loose[name], ignore, never)
    with no_network() as tried:
        assert main(["models", "list", "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)["models"]
        states = {entry["name"]: entry["state"] for entry in listed}
        assert [states[name] for name in ASSETS] == ["complete"] * 3
        assert "missing" in states.values()
        assert [main(["models", "verify", name]) for name in ASSETS] == [0, 0, 0]
        wanted = SpeechSettings(engine="voxtream2", device="cpu")
        model = load(wanted, lambda phrase, fraction: None)
        assert (model.info.name, [each.name for each in model.voices()]) == (
            "voxtream2",
            ["formant"],
        )
        with model.open(model.voices()[0], seed=0) as session:
            for word in ["Nobody", "on", "the", "shore", "saw", "it", "go."]:
                session.push_word(word)
            session.end_input()
            assert all(isinstance(session.step(), AudioFrame) for _ in range(5))
        model.close()
        assert tried == []
