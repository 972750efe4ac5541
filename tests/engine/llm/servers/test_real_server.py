"""The model behind an address, against llama-cpp-python's own server with a tiny model."""

import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.engine.llm.cases import ask, text
from tests.faults.whole import Told
from tests.help.machine.loopback import free_port

pytestmark = pytest.mark.slow  # starting the server takes seconds


def test_a_real_server_answers_again_and_again(make_gguf, connect, asked, state):
    pytest.importorskip("llama_cpp.server.app", reason="the server's packages are not installed")
    port, model = free_port(), make_gguf({"<|assistant|>": "William", "William": " Shakespeare."})
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--n_ctx", "512"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet)

    def takes_connections() -> bool:
        assert process.poll() is None, "the server did not start"
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return True
        return False

    try:
        Told().wait(takes_connections)
        model = connect(f"http://127.0.0.1:{port}/v1", model="", temperature=0.0)
        assert text(ask(model, asked, state)) == "William Shakespeare."
        assert text(ask(model, asked, state)) == "William Shakespeare."
    finally:
        process.terminate()
        process.wait(20)
