"""A tiny GGUF model that says what a test tells it to, loaded by the real llama.cpp.

Its attention and feed-forward layers add nothing, so what comes next depends on the last token
alone: the output matrix holds, for each token, the embedding of the token before it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.llm.base import AssistantState, Message, Role
from engine.llm.servers import server
from engine.llm.skills import Skills
from engine.settings import LanguageModelSettings
from tests.engine.llm.scripted_server import ScriptedServer

WIDTH = 256  # random embeddings this wide are nearly orthogonal
LAYERS, HEADS, FEED_FORWARD = 1, 4, 32

ENDLESS = {
    "<|assistant|>": "one",
    "one": " two",
    " two": " three",
    " three": " four",
    " four": " one",
    " one": " two",
}
PLAIN = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CONTROL = ("<unk>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")

GgufMaker = Callable[..., Path]


@pytest.fixture(scope="session")
def make_gguf(tmp_path_factory) -> GgufMaker:
    """make(follows, template=PLAIN, context=512): the same arguments give the same file."""
    made: dict[object, Path] = {}

    def make(follows: Mapping[str, str] = ENDLESS, template: str = PLAIN, context: int = 512):
        key = (tuple(follows.items()), template, context)
        if key not in made:
            made[key] = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
            write_gguf(made[key], follows, template, context)
        return made[key]

    return make


def write_gguf(
    path: Path,
    follows: Mapping[str, str] = ENDLESS,
    template: str = PLAIN,
    context: int = 512,
    fault: str = "",
) -> None:
    """`follows` maps each token's text to the next; a text nothing follows ends the reply. `fault`
    makes a file that llama.cpp cannot bear: 'duplicate tokens', 'no byte tokens', or a number of
    blocks.
    """
    texts = vocabulary(follows)
    if fault == "no byte tokens":
        texts = [text for text in texts if not text.startswith("<0x")]
    generator = np.random.default_rng(1)
    embedding = generator.choice([-1.0, 1.0], (len(texts), WIDTH)).astype(np.float32)
    output = np.zeros_like(embedding)
    for before, after in follows.items():
        output[texts.index(after)] += embedding[texts.index(before)]
    output[texts.index("</s>")] += sum(
        embedding[texts.index(text)] for text in set(follows.values()) - set(follows)
    )
    if fault == "duplicate tokens":
        texts[-1] = texts[-2]
    writer = gguf.GGUFWriter(path, "llama")
    add_metadata(writer, texts, template, context)
    writer.add_block_count(int(fault) if fault.isdecimal() else LAYERS)
    writer.add_tensor("token_embd.weight", embedding)
    add_layers(writer)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    writer.add_tensor("output.weight", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def vocabulary(follows: Mapping[str, str]) -> list[str]:
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    said = [text for text in dict.fromkeys([*follows, *follows.values()]) if text not in CONTROL]
    return [*CONTROL, *bytes_, *said]


def add_metadata(writer: gguf.GGUFWriter, texts: Sequence[str], template: str, context: int):
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * (len(CONTROL) - 1)]
    kinds += [gguf.TokenType.BYTE] * sum(text.startswith("<0x") for text in texts)
    kinds += [gguf.TokenType.USER_DEFINED] * (len(texts) - len(kinds))
    writer.add_name("tiny")
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(texts))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text.encode() for text in texts])
    writer.add_token_scores([0.0] * len(texts))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_chat_template(template)


def add_layers(writer: gguf.GGUFWriter) -> None:
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}{norm}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{block}{name}.weight", np.zeros((WIDTH, WIDTH), np.float32))
        for name in ("ffn_gate", "ffn_up"):
            writer.add_tensor(f"{block}{name}.weight", np.zeros((FEED_FORWARD, WIDTH), np.float32))
        down = np.zeros((WIDTH, FEED_FORWARD), np.float32)
        writer.add_tensor(f"{block}ffn_down.weight", down)


@pytest.fixture(scope="session")
def skills() -> Skills:
    return Skills(now=lambda: datetime(2026, 1, 5, 15, 45), documents=Path("/nowhere"))


@pytest.fixture
def state() -> Callable[[], AssistantState]:
    here = AssistantState(rate=None, volume=0.5, voice="Anna", voices=("Anna",))
    return lambda: here


@pytest.fixture
def asked() -> list[Message]:
    """A question no skill understands."""
    return [Message(Role.USER, "Who wrote Hamlet?")]


@pytest.fixture
def connect(skills):
    """connect(address, ...): a model that is closed after the test."""
    connected = []

    def make(address, model="m", **named):
        settings = LanguageModelSettings("server", model=model, address=address, **named)
        connected.append(server.connect(settings, skills))
        return connected[-1]

    yield make
    for model in connected:
        model.close()


@pytest.fixture
def scripted():
    scripted = ScriptedServer()
    yield scripted
    scripted.stop()


@pytest.fixture
def reply_of(scripted, connect, asked, state):
    """reply_of(answer...): the reply of a model whose server gives these answers; without any, it
    goes on with its script. Other settings than the usual ones, such as an address, are of another
    model."""
    models = {}

    def begin(*script, said=asked, **settings):
        scripted.script = [*script] or scripted.script
        key = tuple(settings.items())
        if key not in models:
            models[key] = connect(**{"address": scripted.address, **settings})
        return models[key].reply(said, state)

    return begin


@pytest.fixture
def answer_to(reply_of):
    """As reply_of(), to its end."""
    return lambda *script, **settings: list(reply_of(*script, **settings))
