"""Lists, verifies and loads fetched models in a process that may not reach any network; prints what
came of it as JSON. The published names stand for small shapes here.

    RUBATO_DATA=FOLDER python -m tests.engine.assets.offline
"""

import contextlib
import io
import json
import socket
import sys
from dataclasses import replace
from typing import Any

from app.__main__ import main
from engine.assets import catalogue
from engine.assets.catalogue import Asset, AssetFile
from tests.engine.tts.voxtream.small_model import SMALL, narrow_sections

FORBIDDEN = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}
FORBIDDEN |= {"socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"}
tried: list[str] = []


def forbid_network() -> None:
    """An audit hook sees what any library of this process does, whatever it imported before."""

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FORBIDDEN:
            tried.append(f"{event} {arguments[1:]}")
            raise ConnectionRefusedError(event)

    sys.addaudithook(refuse)


def shrink() -> None:
    """The shapes behind the published names, and the codec's."""
    from moshi.models import loaders

    from engine.tts.voxtream import config

    config.STACKS |= {
        "phone_former": SMALL.phone,
        "temp_former": SMALL.temporal,
        "dep_former_csm": SMALL.depth,
    }
    loaders._mimi_config |= narrow_sections()


def unpinned(asset: Asset) -> Asset:
    """Small random files stand for the published ones, which the catalogue pins."""
    return replace(asset, files=tuple(AssetFile(file.path, file.megabytes) for file in asset.files))


def unpin() -> None:
    """So for every entry that this process looks up."""
    published = catalogue.parse(catalogue.resource("models.toml").read_text(encoding="utf-8"))
    loose = {name: unpinned(asset) for name, asset in published.items()}
    catalogue.catalogue.cache_clear()
    catalogue.parse = lambda text: loose


def command(*arguments: str) -> tuple[int, str]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = main(arguments)
    return status, out.getvalue()


def speak() -> dict[str, Any]:
    """Load as the program does and speak a few frames."""
    from engine.settings import SpeechSettings
    from engine.tts.base import AudioFrame
    from engine.tts.registry import load

    wanted = SpeechSettings(engine="voxtream2", device="cpu", profile="full")
    model = load(wanted, lambda phrase, fraction: None)
    with model.open(model.voices()[0], seed=0) as session:
        for word in ["Nobody", "on", "the", "shore", "saw", "it", "go."]:
            session.push_word(word)
        session.end_input()
        frames = [step for _ in range(5) if isinstance(step := session.step(), AudioFrame)]
    voices = [voice.name for voice in model.voices()]
    return {"name": model.info.name, "frames": len(frames), "voices": voices}


def reached() -> bool:
    """Whether the guard lets anything through."""
    try:
        with socket.create_connection(("127.0.0.1", 9), timeout=0.1):
            return True
    except ConnectionRefusedError as error:
        return not str(error).startswith("socket.")


def report() -> dict[str, Any]:
    status, listed = command("models", "list", "--json")
    verified = [command("models", "verify", name) for name in ("voxtream2", "mimi", "redimnet")]
    spoken = speak()
    before = list(tried)
    return {
        "listed": (status, json.loads(listed)["models"]),
        "verified": verified,
        "spoken": spoken,
        "tried": before,
        "reached": reached(),
    }


if __name__ == "__main__":
    shrink()
    unpin()
    forbid_network()
    sys.stdout.write(json.dumps(report()) + "\n")
