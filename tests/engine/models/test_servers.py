"""Servers on this machine are asked for their models, and believed nothing else."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from engine.models.servers import MOST_BYTES, MOST_CHARS, MOST_MODELS, ServedModel, find_served
from tests.help.machine.loopback import free_port, serving

Pages = dict[str, bytes]


@contextmanager
def server(pages: Pages) -> Iterator[int]:
    """Answers these paths; returns its port."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        body = pages.get(request.path)
        request.send_response(404 if body is None else 200)
        request.end_headers()
        with suppress(ConnectionError):
            request.wfile.write(body or b"")

    with serving(answer) as made:
        yield made.server_port


def listing(*names: object) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def test_every_model_of_every_server_is_found():
    tags = json.dumps({"models": [{"name": "llama3.2:3b", "size": 2_000_000_000}]}).encode()
    meta = {"data": [{"id": "own", "meta": {"size": 500_000_000}}]}
    with (
        server({"/v1/models": listing("llama3.2:3b", "phi"), "/api/tags": tags}) as ollama,
        server({"/v1/models": json.dumps(meta).encode()}) as llama,
    ):
        found = find_served({"ollama": ollama, "lm-studio": free_port(), "llama-server": llama})
    assert found == (
        ServedModel("ollama", "llama3.2:3b", f"http://127.0.0.1:{ollama}/v1", 2_000_000_000),
        ServedModel("ollama", "phi", f"http://127.0.0.1:{ollama}/v1"),
        ServedModel("llama-server", "own", f"http://127.0.0.1:{llama}/v1", 500_000_000),
    )
    assert found[0].name == "ollama/llama3.2:3b"


def test_no_proxy_is_asked_and_no_more_than_a_hundred_models_are_taken(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with server({"/v1/models": listing(*map(str, range(500)))}) as port:
        assert len(find_served({"ollama": port})) == MOST_MODELS


def test_models_that_hold_no_conversation_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "no such folder" / "keys"))
    with server({"/v1/models": listing("nomic-embed-text", "phi", "bge-m3")}) as port:
        assert [each.model for each in find_served({"lm-studio": port})] == ["phi"]


WRONG: dict[str, Any] = {
    "nothing": b"",
    "no JSON": b"<html>",
    "a list": b"[]",
    "no data": b"{}",
    "data that is none": b'{"data": 3}',
    "strange names": listing(1, None, "", "x" * (MOST_CHARS + 1), {"a": 1}),
    "endless": listing("x") + b" " * (MOST_BYTES + 1),
    "deep": b"[" * 100_000,
}


def test_what_another_program_answers_there_is_no_model():
    pages: Pages = {}
    with server(pages) as port:
        for what, pages["/v1/models"] in WRONG.items():
            assert find_served({"lm-studio": port}) == (), what
