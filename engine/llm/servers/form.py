"""The form of the requests that one server accepts, learned from its refusals.

Invariant: a learned fact holds for the session, and each refusal either changes the form or is the
final answer. A conversation is shortened until it fits; its last question is always sent.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from engine.errors import LanguageModelError
from engine.llm.history import ChatMessage, trimmed, without_calls, without_system
from engine.llm.servers.completion import THOUGHTS
from engine.llm.servers.faults import complaint
from engine.llm.tools.toolbox import ToolSchema
from engine.settings import LanguageModelSettings

# Only the server knows how many tokens a text has. A byte of UTF-8 counts a third: three letters of
# a European language to a token (there are about four), one Chinese character, less than one emoji.
BYTES_PER_TOKEN = 3
TOKENS_AROUND_MESSAGE = 8  # what a template adds
REPLY_TOKENS = 512
MOST_FOR_TOOLS = 3 / 4  # of the context; with more the model would forget the conversation
# Share of a refused length that is tried next: without numbers in the refusal; most and least with
# them.
UNKNOWN_CUT, LEAST_CUT, DEEPEST_CUT = 0.75, 0.95, 0.3

_EXCEEDS = re.compile(
    r"context.{0,60}(exceed|overflow|length|size|window|limit)|exceed.{0,80}(context|token|length)"
    r"|(prompt|input|request|messages?|conversation|text).{0,60}too (long|large|many)"
    r"|tokens?\b.{0,60}(\blimit|<=|allowed|maximum)|(\blimit|at most|maximum)\b.{0,40}\btokens"
    r"|too many tokens|max(imum|_).{0,30}(length|tokens)|n_ctx|reduce the length|string_above_max"
)
_LACKS = (
    r"not?[ -](support|allow|permi|enabl|implement|accept|availab|compatib|recogni|configured)"
    r"|n't (support|allow|have|accept)|unsupported|requires?\b|unknown|unexpected|unrecogni"
    r"|extra_forbidden|extra inputs|disabled|no endpoints|must alternate|invalid (role|value)"
    r"|\bonly\b|not be used|must be verified"
)
_SYSTEM = re.compile(
    rf"(\bsystem\b.{{0,60}}({_LACKS}))|(({_LACKS}).{{0,60}}\bsystem\b)|roles? must alternate"
    r"|only user.{0,20}assistant"
)
_TOOLS = re.compile(r"\btools?\b|\btool_|function[ _-]?call")
_STREAM = re.compile(r"\bstream(ing|ed)?\b")
_PARSING = re.compile(r"pars(e|ing)\b.{0,60}(tool|call)|(tool|call).{0,60}pars(e|ing)\b")
_TEMPLATE = re.compile(r"jinja|chat template")
_FIELDS = frozenset(("name", "extra_content", *THOUGHTS))
_PREFIX = r"(messages\b\S*[.\]]|body\.\S*\.|['\"`])"


@dataclass
class Sent:
    """A request's messages and tools, as they were fitted into the context."""

    messages: list[ChatMessage]
    tools: Sequence[ToolSchema]
    tokens: float  # estimated

    @property
    def dialogue(self) -> int:
        """The number of messages before the question, without the system prompt."""
        return _dialogue(self.messages)


@dataclass
class Form:
    """`without`: fields of requests and messages that the server refuses, among them "tools",
    "temperature" and "stream", or "system" messages. `context`: estimated tokens; `tools_fit`:
    beside a question alone.
    """

    tools_fit: bool = True
    context: float = float("inf")
    without: set[str] = field(default_factory=set)

    def fit(
        self,
        messages: list[ChatMessage],
        tools: Sequence[ToolSchema],
        context: int,
        below: float = float("inf"),
    ) -> Sent:
        """Return as much of the conversation as fits, with fewer than `below` messages before the
        question; by the estimate at least the question.
        """
        context_tokens = min(self.context, context)
        room = context_tokens - min(REPLY_TOKENS, context_tokens / 2)
        tools = tools if "tools" not in self.without and self.tools_fit else ()
        if tools_tokens(tools) > room * MOST_FOR_TOOLS:
            tools = ()
        room -= tools_tokens(tools)

        def fits(tail: list[ChatMessage]) -> bool:
            return estimate(tail) <= room and _dialogue(tail) < below

        fitting = _question(messages)
        with suppress(LanguageModelError):
            fitting = trimmed(messages, fits)
        return Sent(fitting, tools, estimate(fitting) + tools_tokens(tools))

    def request(self, model: str, sent: Sent, settings: LanguageModelSettings) -> dict[str, Any]:
        messages = sent.messages
        if "tools" in self.without:
            messages = without_calls(messages)
        if "system" in self.without:
            messages = without_system(messages)
        request: dict[str, Any] = {
            "model": model,
            "messages": [self._bare(each) for each in messages],
            "stream": "stream" not in self.without,
        }
        if "temperature" not in self.without:
            request["temperature"] = settings.temperature
        if sent.tools:
            request["tools"] = list(sent.tools)
        return request

    def learn(self, body: object, model: str, sent: Sent) -> bool:
        """Change the form after a refusal; return whether there was anything to change."""
        words = re.sub(rf"(?<!\w){re.escape(model.lower())}(?!\w)", "", complaint(body))
        if is_too_long(words):
            return self._shorten(words, sent)
        found = (each - self.without for each in _refused(words, sent))
        refused = next(filter(None, found), set())
        self.without |= refused
        return bool(refused)

    def _shorten(self, words: str, sent: Sent) -> bool:
        if not sent.tools and sent.dialogue == 0:  # it is as short as possible
            return False
        numbers = sorted({int(each) for each in re.findall(r"\d{2,9}", words.replace(",", ""))})
        share = numbers[-2] / numbers[-1] if len(numbers) > 1 else UNKNOWN_CUT
        share = min(LEAST_CUT, max(DEEPEST_CUT, share))
        self.context = min(self.context, sent.tokens * share)
        self.tools_fit = self.tools_fit and sent.dialogue > 0
        return True

    def _bare(self, message: ChatMessage) -> ChatMessage:
        """Return the message without the fields that the server refuses."""
        if not self.without:
            return message
        bare = {name: each for name, each in message.items() if name not in self.without}
        if "tool_calls" in bare:
            bare["tool_calls"] = [
                {name: each for name, each in call.items() if name not in self.without}
                for call in bare["tool_calls"]
            ]
        return bare


def _refused(words: str, sent: Sent) -> Iterator[set[str]]:
    """Yield the fields, each perhaps with others of its kind, that a complaint may be about."""
    lacks = bool(re.search(_LACKS, words))
    calls = [call for each in sent.messages for call in each.get("tool_calls", ())]
    used = {name for each in (*sent.messages, *calls) for name in each}
    yield {each for each in used & _FIELDS if lacks and re.search(rf"{_PREFIX}{each}\b", words)}
    yield {"temperature"} if "temperature" in words else set()
    has_system = sent.messages[0]["role"] == "system"
    yield {"system"} if has_system and _SYSTEM.search(words) else set()
    yield {"stream"} if lacks and _STREAM.search(words) else set()
    about_tools = (lacks and _TOOLS.search(words)) or _TEMPLATE.search(words)
    yield {"tools"} if sent.tools and about_tools and not _PARSING.search(words) else set()


def estimate(messages: Sequence[ChatMessage]) -> float:
    """Return the estimated number of tokens of the messages."""
    return sum(TOKENS_AROUND_MESSAGE + _tokens(message) for message in messages)


def tools_tokens(tools: Sequence[ToolSchema]) -> float:
    return _tokens(list(tools)) if tools else 0.0


def is_too_long(words: str) -> bool:
    """Return whether a complaint is about the length of the conversation."""
    return bool(_EXCEEDS.search(words))


def is_about_parsing(body: object) -> bool:
    """Return whether a server could not parse its model's call; the next may be valid."""
    return bool(_PARSING.search(complaint(body)))


def _tokens(value: object) -> float:
    if isinstance(value, dict) and set(value) == {"role", "content"}:
        value = value["content"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN


def _question_at(messages: Sequence[ChatMessage]) -> int:
    users = [at for at, each in enumerate(messages) if each["role"] == "user"]
    return users[-1] if users else len(messages) - 1


def _dialogue(messages: Sequence[ChatMessage]) -> int:
    """Return the number of messages before the question, without the system prompt."""
    has_system = bool(messages) and messages[0]["role"] == "system"
    return max(0, _question_at(messages) - has_system)


def _question(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Return the system prompt, the question, and the messages after it."""
    head = [each for each in messages[:1] if each["role"] == "system"]
    return [*head, *messages[max(len(head), _question_at(messages)) :]]
