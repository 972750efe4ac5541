"""The model behind an address, against a scripted server that does everything wrong in turn."""

import gzip
import time
import zlib
from contextlib import suppress
from dataclasses import replace

import pytest

from engine.errors import LanguageModelError, ModelError
from engine.llm.base import StartTimer, TextDelta
from engine.llm.servers import client, server
from tests.engine.llm import scripted_server as scripts
from tests.engine.llm.cases import ask, text
from tests.help.machine.loopback import free_port


def test_the_request_holds_model_history_and_tools_and_what_was_changed_since(
    scripted, connect, asked, state
):
    scripted.script = [scripts.says("Yes."), scripts.says("Yes.")]
    model = connect(scripted.address, temperature=0.1)
    ask(model, asked, state)
    model.adjust(replace(model._settings, temperature=1.5, system_prompt="Be brief."))
    ask(model, asked, state)
    request, changed = scripted.requests
    assert (request["model"], request["temperature"]) == ("m", 0.1)
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert "set_timer" in {tool["function"]["name"] for tool in request["tools"]}
    assert changed["temperature"] == 1.5
    assert "Be brief." in changed["messages"][0]["content"]


def test_without_a_model_name_the_first_one_listed_is_used(scripted, connect, asked, state):
    scripted.script = [scripts.says("Yes.")]
    model = connect(scripted.address, model="")
    ask(model, asked, state)
    assert scripted.requests[0]["model"] == "first"
    assert model.info.detail == f"first at {scripted.address}"


@pytest.mark.parametrize(
    ("entries", "chosen"),
    [
        ([{"id": "nomic-embed-text:latest"}, {"id": "qwen3:8b"}], "qwen3:8b"),
        ([{"id": "bge-m3"}, {"id": "whisper-1"}, {"id": "m"}], "m"),
        ([{"id": "x", "type": "embeddings"}, {"id": "y", "type": "llm"}], "y"),
        ([{"id": 7}, "none", {"id": "m"}], "m"),
        ([{"id": "text-embedding-3"}], "text-embedding-3"),  # its name may mislead
        ([{"id": "badge-7b"}], "badge-7b"),
        ([{"id": "m" * 1_000_000}], "m" * 200),
    ],
)
def test_the_model_chosen_by_itself_can_hold_a_conversation(scripted, answer_to, entries, chosen):
    scripted.listing = scripts.lists(*entries)
    answer_to(scripts.says("Yes."), model="")
    assert scripted.requests[0]["model"] == chosen


def test_after_a_restart_with_another_model_that_one_is_asked(scripted, answer_to):
    gone = scripts.fails(404, "model 'first' not found")
    answer_to(scripts.says("Yes."), gone, scripts.says("Again."), model="")
    scripted.listing = scripts.lists({"id": "second"})
    assert text(answer_to(model="")) == "Again."
    assert [each["model"] for each in scripted.requests] == ["first", "first", "second"]
    with pytest.raises(LanguageModelError, match="does not know the model 'second'"):
        answer_to(*[scripts.fails(404, "model not found")] * 2, model="")


@pytest.mark.parametrize("data", [[], None])
def test_a_server_without_a_model_is_told_so(scripted, answer_to, data):
    scripted.listing = scripts.refuses(200, {"data": data})
    with pytest.raises(LanguageModelError, match="has no model loaded"):
        answer_to(model="")


def test_the_key_comes_from_the_environment_and_no_proxy_is_asked_for_this_computer(
    scripted, answer_to, monkeypatch
):
    for proxy in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    monkeypatch.setenv("TEST_LLM_KEY", "secret")
    answer_to(scripts.says("Yes."), key_variable="TEST_LLM_KEY")
    assert scripted.headers[0]["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("address", "refusal"),
    [(each, "not the address") for each in ("", "localhost:8080", "ftp://host/v1", "http:///v1")]
    + [("http://127.0.0.1:1/v1", "TEST_LLM_KEY holds no key")],
)
def test_an_address_or_a_key_that_is_none_is_said(connect, monkeypatch, address, refusal):
    monkeypatch.delenv("TEST_LLM_KEY", raising=False)
    with pytest.raises(ModelError, match=refusal):
        connect(address, key_variable="TEST_LLM_KEY")


FRAGMENT = {"index": 0, "function": {"arguments": "x"}}


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "Hm. "},
        {"content": "<think>"},
        {"content": ""},
        {},
        {"tool_calls": [FRAGMENT]},
    ],
    ids=str,
)
def test_a_server_that_says_nothing_without_a_pause_can_be_left(
    scripted, reply_of, answer_to, delta
):
    reply = reply_of(never_ends(scripted, delta), scripts.says("William."))
    assert text([next(reply) for _ in range(100)]) == ""
    reply.close()
    assert scripted.gone.wait(5)
    assert text(answer_to()) == "William."


def never_ends(scripted, delta):
    def answer(handler):
        scripts.begin_events(handler)
        try:
            while True:
                scripts.event(handler, delta)
        except OSError:  # the client has left
            scripted.gone.set()

    return answer


TIMER_FRAGMENTS = (
    {"index": 0, "id": "a", "function": {"name": "set_timer", "arguments": ""}},
    {"index": 0, "function": {"arguments": '{"durat'}},
    {"index": 0, "function": {"arguments": 'ion": "ten minutes"}'}},
)


def test_a_tool_call_is_put_together_and_its_result_sent_back(scripted, answer_to):
    deltas = answer_to(scripts.calls(*TIMER_FRAGMENTS), scripts.says("It runs."))
    assert [d.seconds for d in deltas if isinstance(d, StartTimer)] == [600.0]
    assert text(deltas) == "It runs."
    sent = scripted.requests[1]["messages"]
    assert sent[-2]["tool_calls"][0]["id"] == "a"
    assert sent[-1] == {
        "role": "tool",
        "tool_call_id": "a",
        "name": "set_timer",
        "content": "Timer set for 10 minutes.",
    }


def test_a_model_that_only_calls_tools_comes_to_an_end(scripted, answer_to):
    deltas = answer_to(*[scripts.calls(*TIMER_FRAGMENTS)] * 9)
    assert len(scripted.requests) == 4
    assert text(deltas) == "Timer set for 10 minutes."


WORDS = scripts.content("William")
UNENDED = scripts.content("William", "")
PAGE = (
    "<html><head><title>502</title><style>b {}</style></head>"
    "<body><h1>Bad <b>Gateway</b></h1>\n&amp; more</body></html>"
)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (scripts.fails(403), "refused access"),
        (scripts.sends(b"data: {{{ not json\n\n"), "not a chat answer"),
        (scripts.sends(b"data: " + b"[" * 500_000 + b"\n\n"), "not a chat answer"),
        (scripts.sends({"hello": ["world"]}, b"data: [1, 2]\n\n"), "not a chat answer"),
        (scripts.sends(b"<html>Welcome</html>", kind="text/html"), "not a chat answer"),
        (scripts.sends({"choices": []}, scripts.DONE), "broke off its answer"),
        (scripts.hangs_up, "no language-model server|broke off"),
        (scripts.sends(WORDS), "broke off"),
        (scripts.sends(WORDS, WORDS), "broke off"),
        (scripts.sends(UNENDED, UNENDED), "broke off"),
        (scripts.sends(WORDS, {"usage": {"total_tokens": 3}}), "broke off"),
        (scripts.sends(WORDS, Content_Length="100000"), "broke off"),
        (scripts.says(), "gave no answer"),
        (scripts.refuses(404, '{"error": "no such model"}'), "does not know.*no such model"),
        (scripts.fails(400, "too long"), "error 400: too long"),
        (scripts.refuses(422, {"detail": [{"msg": "field required"}]}), "422: field required"),
        (scripts.refuses(500, {"message": "no memory"}), "error 500: no memory"),
        (scripts.refuses(500, "it\nbroke\x1b[0m.", "text/plain"), r"error 500: it broke \[0m\."),
        (scripts.refuses(502, PAGE, "text/html"), "error 502: Bad Gateway & more"),
        (scripts.refuses(500, ""), "error 500: no reason given"),
        (scripts.fails(429, "2 a day"), "no more questions.*2 a day"),
        (scripts.fails(401, "bad key"), "refused access.*bad key"),
        (scripts.sends({"error": "no memory"}), "failed: no memory"),
        (scripts.sends({"error": {"message": "no memory"}}), "failed: no memory"),
        (scripts.sends({"error": {"code": 7}}), "failed: no reason given"),
        (scripts.sends(b'event: error\ndata: {"message": "no memory"}\n\n'), "failed: no memory"),
        (scripts.sends(WORDS, b'error: {"code":500,"message":"no memory"}\n\n'), "no memory"),
        (scripts.sends(b"error: no memory\n\n"), "failed: no memory"),
        (scripts.sends(b'{"error":{"message":"no memory"}}'), "failed: no memory"),
    ],
)
def test_a_fault_is_told_once_and_the_next_reply_works(scripted, answer_to, answer, words):
    with pytest.raises(LanguageModelError, match=words) as caught:
        answer_to(answer, scripts.says("William."))
    assert caught.value.hint
    assert len(scripted.requests) == 1
    assert text(answer_to()) == "William."


def test_no_server_is_told_with_its_address(answer_to):
    address = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(LanguageModelError, match=rf"no language-model server at {address}"):
        answer_to(address=address)


@pytest.mark.parametrize("begins", [False, True])
def test_a_server_that_stalls_before_or_between_words_is_given_up(
    scripted, answer_to, monkeypatch, *, begins
):
    def stalls(handler):
        if begins:
            scripts.begin_events(handler)
            scripts.event(handler, {"content": "William"})
        scripted.released.wait(20)

    with monkeypatch.context() as impatient:
        impatient.setattr(server, "STALL_S" if begins else "FIRST_TOKEN_S", 0.2)
        with pytest.raises(LanguageModelError, match=r"said nothing for 0\.2 seconds"):
            answer_to(*[stalls] * 2)
    # On a busy machine the first question may come late, or never.
    assert text(answer_to(*[scripts.says("William.")] * 2)) == "William."


def test_closing_the_reply_hangs_up_even_while_nothing_comes(scripted, reply_of, answer_to):
    def stalls(handler):
        scripts.begin_events(handler)
        scripts.event(handler, {"content": "William"})
        handler.connection.settimeout(20)
        if not handler.connection.recv(1):
            scripted.gone.set()

    reply = reply_of(stalls, scripts.says("William."))
    while not text([next(reply)]):
        pass
    assert next(reply) == TextDelta("")  # the wait is interruptible
    started = time.perf_counter()
    reply.close()
    assert time.perf_counter() - started < 1
    assert scripted.gone.wait(5)
    assert text(answer_to()) == "William."


def test_a_reply_without_end_or_in_one_piece_is_cut(scripted, answer_to, monkeypatch):
    monkeypatch.setattr(server, "MAX_REPLY_CHARS", 1000)
    assert len(text(answer_to(never_ends(scripted, {"content": "word " * 20})))) == 1000
    assert scripted.gone.wait(5)
    assert len(text(answer_to(scripts.says("x" * 900_000)))) == 1000


MEBIBYTE = b"x" * (1 << 20)


def floods(begins, piece=MEBIBYTE, sent=None):
    """Begins an answer and goes on with `piece` for up to 200 MiB; counts them in `sent`."""

    def answer(handler):
        begins(handler)
        with suppress(OSError):  # the client has had enough
            for _ in range(200 * len(MEBIBYTE) // len(piece)):
                handler.wfile.write(piece)
                sent.append(len(piece))

    return answer


ENDLESS = [
    (scripts.begin_events, b'data: {"choices": "' + MEBIBYTE),  # a line that never ends
    (scripts.begin_events, b"data: {}\n" * 20_000),  # an event that never ends
    (scripts.begin_events, b": nothing\n\n" * 20_000),
    (lambda handler: scripts.begin(handler, 500), MEBIBYTE),
    (lambda handler: scripts.begin(handler, 200), b'{"x": 1}\n' * 20_000),
    (lambda handler: scripts.begin(handler, 307, Location="/v2"), MEBIBYTE),
]


@pytest.mark.parametrize(("begins", "piece"), ENDLESS)
def test_an_endless_answer_is_not_read_to_its_end(answer_to, monkeypatch, begins, piece):
    monkeypatch.setattr(client, "MAX_STREAM_BYTES", 2 << 20)  # every small line costs time
    sent = []
    with pytest.raises(LanguageModelError, match="far more than an answer has"):
        answer_to(floods(begins, piece, sent), scripts.says("William."))
    assert text(answer_to()) == "William."
    assert sum(sent) < client.MAX_STREAM_BYTES + SOCKET_BYTES


SOCKET_BYTES = 20 << 20  # what the system takes from a server that nobody reads, and more


def test_an_endless_list_of_models_is_not_read_to_its_end(scripted, answer_to):
    sent = []
    scripted.listing = floods(lambda handler: scripts.begin(handler, 200), MEBIBYTE, sent)
    with pytest.raises(LanguageModelError, match="far more than an answer has"):
        answer_to(model="")
    assert sum(sent) < client.MAX_ANSWER_BYTES + SOCKET_BYTES


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_compressed_answer_is_not_unpacked(scripted, answer_to, monkeypatch, status, kind):
    unpacked, real = [], zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", lambda *args: unpacked.append(args) or real(*args))
    packed = gzip.compress(b"data: " + MEBIBYTE * 10)
    with pytest.raises(LanguageModelError, match="compressed it unasked"):
        answer_to(scripts.sends(packed, status=status, kind=kind, Content_Encoding="gzip"))
    assert scripted.headers[0]["accept-encoding"] == "identity"
    assert unpacked == []


@pytest.fixture
def elsewhere():
    scripted = scripts.ScriptedServer()
    scripted.script = [scripts.says("I heard it all.")] * 3
    yield scripted
    scripted.stop()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_conversation_is_not_carried_to_another_address(elsewhere, answer_to, status):
    place = f"{elsewhere.address}/chat/completions"
    with pytest.raises(LanguageModelError, match="wants the conversation sent to") as caught:
        answer_to(scripts.sends(status=status, Location=place), scripts.says("William."))
    assert place in caught.value.message
    assert "Nothing was sent there" in caught.value.hint
    assert text(answer_to()) == "William."
    assert elsewhere.requests == []


def test_the_list_of_models_is_not_had_from_another_address(scripted, elsewhere, answer_to):
    asked_elsewhere = []
    elsewhere.listing = asked_elsewhere.append
    scripted.listing = scripts.sends(status=307, Location=f"{elsewhere.address}/models")
    with pytest.raises(LanguageModelError, match="wants the conversation sent to"):
        answer_to(model="")
    assert asked_elsewhere == []
