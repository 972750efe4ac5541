"""Find language-model servers on this machine and list their models.

Invariant: only queries the loopback address, through no proxy, each server briefly, and reads at
most MOST_BYTES of the answer, which is untrusted text. Models that cannot hold a conversation are
left out.
"""

import json
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.llm.servers.listing import can_chat

HOST: Final = "127.0.0.1"
TIMEOUT_S: Final = 1.0  # a server here answers in milliseconds; a busy one is found the next time
MOST_BYTES: Final = 1_000_000
MOST_MODELS: Final = 100
MOST_CHARS: Final = 200  # of a name
PORTS: Final[Mapping[str, int]] = {"ollama": 11434, "lm-studio": 1234, "llama-server": 8080}
# The addresses are without TLS. The default context reads all root certificates, and SSLKEYLOGFILE.
_NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TITLES: Final = {"ollama": "Ollama", "lm-studio": "LM Studio", "llama-server": "llama-server"}


@dataclass(frozen=True)
class ServedModel:
    """A model of a server. `bytes` is its size, 0 if the server does not report it."""

    server: str
    model: str
    address: str
    bytes: int = 0

    @property
    def name(self) -> str:
        return f"{self.server}/{self.model}"


def find_served(ports: Mapping[str, int] = PORTS) -> tuple[ServedModel, ...]:
    """Return the models of the servers that answer; a hanging one takes a few seconds."""
    return tuple(each for server, port in ports.items() for each in _models(server, port))


def _models(server: str, port: int) -> Iterator[ServedModel]:
    root = f"http://{HOST}:{port}"
    listing = _get_json(f"{root}/v1/models").get("data")
    if not isinstance(listing, list) or not listing:
        return
    sizes = _ollama_sizes(root) if server == "ollama" else {}
    for each in listing[:MOST_MODELS]:
        model = each.get("id") if isinstance(each, dict) else None
        if isinstance(model, str) and 0 < len(model) <= MOST_CHARS and can_chat(model, each):
            meta = each.get("meta")  # of llama-server
            size = sizes.get(model) or (meta.get("size") if isinstance(meta, dict) else None)
            known = size if isinstance(size, int) and size > 0 else 0
            yield ServedModel(server, model, f"{root}/v1", known)


def _ollama_sizes(root: str) -> dict[str, int]:
    listing = _get_json(f"{root}/api/tags").get("models")
    models = (
        [each for each in listing if isinstance(each, dict)] if isinstance(listing, list) else []
    )
    sizes = {str(each.get("name")): each.get("size") for each in models}
    return {name: size for name, size in sizes.items() if isinstance(size, int) and size > 0}


def _get_json(url: str) -> dict[str, Any]:
    """Return a JSON object; empty without a server or for any other answer."""
    import httpx  # takes a tenth of a second, and is needed only here

    try:
        with (
            httpx.Client(trust_env=False, timeout=TIMEOUT_S, verify=_NO_TLS) as client,
            client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response,
        ):
            response.raise_for_status()
            read, late = bytearray(), time.monotonic() + TIMEOUT_S
            for chunk in response.iter_raw():
                read += chunk
                if len(read) > MOST_BYTES or time.monotonic() > late:
                    return {}
        found = json.loads(read)
    except (httpx.HTTPError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
