"""What is sent to a server, and through what: keys, proxies and certificates."""

import datetime
import ipaddress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from engine.errors import LanguageModelError, ModelError
from engine.llm.servers import address
from engine.settings import LanguageModelSettings
from tests.engine.llm import scripted_server as scripts
from tests.engine.llm.cases import text
from tests.help.machine.loopback import free_port, running

ELSEWHERE = "http://models.example:8080/v1"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_nothing_of_the_environment_is_sent(scripted, answer_to, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "petunia")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: petunia\nX-Petunia: petunia")
    assert text(answer_to(scripts.says("Yes."))) == "Yes."
    usual = "host accept accept-encoding connection content-length content-type user-agent"
    assert set(scripted.headers[0]) == set(usual.split())
    assert "petunia" not in repr(scripted.headers)


@pytest.mark.parametrize("key", ["\u201csk-1\u201d", "sk\n1", "s\u00e9cret"])
def test_a_key_that_cannot_be_sent_is_told_without_showing_it(connect, monkeypatch, key):
    monkeypatch.setenv("TEST_LLM_KEY", key)
    with pytest.raises(ModelError, match="TEST_LLM_KEY has characters") as caught:
        connect("http://127.0.0.1:1/v1", key_variable="TEST_LLM_KEY")
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "invalid", ["http://127.0.0.1:99999/v1", "http://[::1/v1", "http://h:0/v1", "http://a b/v1"]
)
def test_an_address_with_an_impossible_part_is_told(connect, invalid):
    with pytest.raises(ModelError, match="not the address"):
        connect(invalid)


@pytest.mark.parametrize(
    ("tried", "local"),
    [
        *((each, True) for each in ("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1")),
        *((each, True) for each in ("127.8.9.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0")),
        *((each, False) for each in ("models.example", "192.168.1.2", "localhost.example")),
    ],
)
def test_this_computer_is_told_from_others(tried, local):
    settings = LanguageModelSettings("server", address=f"http://{tried}:8080/v1")
    assert address.is_local(settings.address) is local
    assert address.asks_another_computer(settings) is not local


def test_no_question_goes_elsewhere_without_a_server():
    for engine in ("skills", "llama"):
        chosen = LanguageModelSettings(engine, address=ELSEWHERE)
        assert not address.asks_another_computer(chosen)
    assert not address.asks_another_computer(LanguageModelSettings("server", address="none"))


@pytest.fixture
def proxied():
    """A proxy that answers by itself, and what it was asked for."""
    seen = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(self.path)
            scripts.says("Through the proxy.")(self)
            self.close_connection = True

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    with running(server):
        yield f"127.0.0.1:{server.server_port}", seen


@pytest.mark.parametrize(
    ("variable", "scheme"),
    [("http_proxy", "http://"), ("ALL_PROXY", "http://"), ("HTTP_PROXY", "")],
)
def test_another_computer_is_asked_through_the_proxy_of_the_environment(
    proxied, answer_to, monkeypatch, variable, scheme
):
    place, seen = proxied
    monkeypatch.setenv(variable, f"{scheme}{place}")
    assert text(answer_to(address=ELSEWHERE)) == "Through the proxy."
    assert seen == [f"{ELSEWHERE}/chat/completions"]


def test_an_excepted_address_is_asked_without_the_proxy(connect, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert connect(ELSEWHERE)._client.proxy == "http://127.0.0.1:9"
    monkeypatch.setenv("no_proxy", "models.example")
    assert connect(ELSEWHERE)._client.proxy == ""


@pytest.mark.parametrize(
    "proxy", ["socks5://me:secret@host:1", "http://me:secret@host:99999", "ftp://me:secret@host"]
)
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(answer_to, monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ModelError, match=r"The proxy \w+://host\S* cannot be used") as caught:
        answer_to(address=ELSEWHERE)
    assert "secret" not in str(caught.value)
    assert text(answer_to(scripts.says("Yes."))) == "Yes."


def test_a_proxy_that_is_not_there_is_told_as_the_cause(answer_to, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(LanguageModelError, match="cannot be reached through the proxy"):
        answer_to(address=ELSEWHERE)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1 that signed itself, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime.datetime(2000, 1, 1))
        .not_valid_after(datetime.datetime(2100, 1, 1))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "own.pem").write_bytes(made.public_bytes(pem))
    form = serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, plain))
    return folder / "own.pem", folder / "key.pem"


@pytest.fixture
def secure(certificate):
    """The address of a server with that certificate."""
    scripted = scripts.ScriptedServer(certificate)
    scripted.script = [scripts.says("Safely.")]
    yield scripted.address
    scripted.stop()


def test_a_certificate_that_is_not_trusted_is_told_and_can_be_named(
    secure, certificate, connect, answer_to, monkeypatch, tmp_path
):
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LanguageModelError, match=r"certificate of .* is not accepted") as caught:
        answer_to(address=secure)
    assert "SSL_CERT_FILE" in caught.value.hint
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "no such folder" / "keys"))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    # Another model: certificates are read when it connects.
    assert text(answer_to(address=secure, temperature=0.0)) == "Safely."
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    with pytest.raises(ModelError, match=r"certificates in .*gone\.pem cannot be read"):
        connect(secure)


def test_a_server_without_tls_is_told_from_one_that_is_not_there(scripted, answer_to):
    with pytest.raises(LanguageModelError, match="No secure connection") as caught:
        answer_to(address=scripted.address.replace("http:", "https:"))
    assert "http://" in caught.value.hint
