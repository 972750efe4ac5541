"""The model behind an address, against llama-cpp-python's own server with a tiny model."""

import socket
import subprocess
import sys
import time

import pytest

from tests.engine.llm.replies import ask, text

pytestmark = pytest.mark.slow  # starting the server takes seconds


@pytest.fixture(scope="module")
def real_server(make_gguf):
    """llama-cpp-python's own server with a tiny model, on loopback."""
    pytest.importorskip("llama_cpp.server.app", reason="the server's packages are not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = make_gguf({"<|assistant|>": "William", "William": " Shakespeare."})
    options = ["--model", str(model), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "llama_cpp.server", *options, "--n_ctx", "512"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def wait_for(port: int, process: subprocess.Popen) -> None:
    """Until the port takes connections; a real process has no clock to step."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not start")


def test_a_real_server_answers_again_and_again(real_server, connect, asked, situation):
    model = connect(real_server, model="", temperature=0.0)
    assert text(ask(model, asked, situation)) == "William Shakespeare."
    assert text(ask(model, asked, situation)) == "William Shakespeare."
