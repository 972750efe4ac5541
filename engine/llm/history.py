"""Convert the history into a chat model's messages: alternating roles, interruptions marked,
trimmed to the context.

Invariant: after the system message user and assistant alternate, beginning with the user: some chat
templates refuse anything else, and an interrupted turn can leave two user messages in a row.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from engine.characters import join_surrogates
from engine.errors import LanguageModelError
from engine.languages import ENGLISH
from engine.llm.base import Message, Role, last_language
from engine.resources import table

ChatMessage = dict[str, Any]  # JSON of the OpenAI chat format

KEPT_BACK = "[text that stays on the user's computer]"
INTERRUPTED = " \u2014 [interrupted by the user here]"
UNHEARD = "[interrupted by the user before a word was heard]"

# Old messages are dropped in whole blocks, so that the prompt's beginning, and the model's cache of
# it, stays the same for several turns after each drop. Even, so that a block starts with a user.
BLOCK_MESSAGES = 8


def chat_messages(history: Sequence[Message], system_prompt: str) -> list[ChatMessage]:
    """Return the history as messages, the system prompt first (with any system messages of the
    history, and the language of the answer unless it is English).
    """
    system = [message.text for message in history if message.role is Role.SYSTEM]
    dialogue = [message for message in history if message.role is not Role.SYSTEM]
    turns: list[ChatMessage] = []
    for message in dialogue:
        if turns or message.role is not Role.ASSISTANT:
            add_text(turns, message.role.value, marked_text(message))
    if (language := last_language(history)) != ENGLISH:
        system.append(table("commands", f"{language}.toml")["answer_in"])
    prompt = join_surrogates("\n".join(filter(None, [system_prompt, *system])))
    return [{"role": "system", "content": prompt}, *turns] if prompt else turns


def add_text(messages: list[ChatMessage], role: str, text: str) -> None:
    """Append a text, unless it is empty; to the last message if it has that role and no calls."""
    if not text:
        return
    if messages and messages[-1]["role"] == role and "tool_calls" not in messages[-1]:
        messages[-1]["content"] += f"\n{text}"
    else:
        messages.append({"role": role, "content": text})


def without_private(history: Sequence[Message]) -> list[Message]:
    """Return the history for another computer: private text is replaced by KEPT_BACK."""
    return [
        replace(each, text=KEPT_BACK) if each.private and each.text else each for each in history
    ]


def trimmed(
    messages: Sequence[ChatMessage], fits: Callable[[list[ChatMessage]], bool]
) -> list[ChatMessage]:
    """Return the longest tail that fits, after the system message, with the last user message.
    Raises LanguageModelError when not even that fits.
    """
    head = [message for message in messages[:1] if message["role"] == "system"]
    turns = list(messages[len(head) :])
    last_user = max((i for i, turn in enumerate(turns) if turn["role"] == "user"), default=0)
    cuts = sorted({*range(0, last_user + 1, BLOCK_MESSAGES), last_user})
    cut = bisect_left(cuts, True, key=lambda start: fits([*head, *turns[start:]]))
    if cut == len(cuts):
        raise too_long()
    return [*head, *turns[cuts[cut] :]]


def too_long() -> LanguageModelError:
    return LanguageModelError(
        "That is too long for the language model's context.",
        hint="Say it in fewer words, or allow the model a larger context in the settings.",
    )


def without_system(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with the system prompt in the first one, for templates without it."""
    rest = list(messages)
    if len(rest) < 2 or rest[0]["role"] != "system":
        return rest
    first = {**rest[1], "content": f"{rest[0]['content']}\n\n{rest[1]['content']}"}
    return [first, *rest[2:]]


def without_calls(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages, alternating as before, with tool calls and their results as text."""
    plain: list[ChatMessage] = []
    for message in messages:
        role, text = message["role"], message.get("content") or ""
        if calls := message.get("tool_calls"):
            names = ", ".join(str(call["function"]["name"]) for call in calls)
            text = f"{text}\n[used {names}]".strip()
        if role == "tool":
            role, text = Role.USER.value, f"[{message.get('name') or 'result'}: {text}]"
        add_text(plain, role, text)
    return plain


def marked_text(message: Message) -> str:
    """Return a message's text, with a mark where the user interrupted it."""
    text = join_surrogates(message.text.strip())
    if not message.interrupted:
        return text
    return f"{text}{INTERRUPTED}" if text else UNHEARD
