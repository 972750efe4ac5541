"""What can go wrong between us and a language-model server, as sentences for the person.

Invariant: every sentence names the server's address, and every fault comes with a hint.
"""

import html
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.characters import whole
from engine.errors import LanguageModelError

if TYPE_CHECKING:
    import openai

MAX_QUOTED_CHARS = 200  # of the server's own words
NO_REASON = "no reason given"
LOADING = 503  # the status of a server that has to load its model first

_FIELDS = ("error", "message", "detail", "msg", "error_description", "title", "reason")
_TAGS = re.compile(r"<(head|style|script)\b.*?</\1>|<[a-zA-Z/!][^<>]*>", re.DOTALL | re.IGNORECASE)


class ServerFaults:
    """Errors about one server and one model name."""

    def __init__(self, address: str, key_variable: str) -> None:
        self._address = address
        self._key_variable = key_variable

    def unreachable(self) -> LanguageModelError:
        return LanguageModelError(
            f"There is no language-model server at {self._address}.",
            hint="Start it, or set another address or another engine in the settings.",
        )

    def stalled(self, seconds: float) -> LanguageModelError:
        return LanguageModelError(
            f"The language-model server at {self._address} said nothing for {seconds:g} seconds.",
            hint="It may be loading a model or be overloaded: ask again in a while.",
        )

    def broken_off(self) -> LanguageModelError:
        return LanguageModelError(
            f"The language-model server at {self._address} broke off its answer.",
            hint="Ask again. If it stays so, the conversation may be too long for the model: "
            "see the server's own messages, or set a smaller context in the settings.",
        )

    def garbled(self) -> LanguageModelError:
        return LanguageModelError(
            f"What the server at {self._address} sent is not a chat answer.",
            hint="Check that the address is that of an OpenAI-compatible server, ending in /v1.",
        )

    def out_of_bounds(self) -> LanguageModelError:
        return LanguageModelError(
            f"The language-model server at {self._address} sent far more than an answer has, or "
            "compressed it unasked; it was not read.",
            hint="Check that the address is that of an OpenAI-compatible server, ending in /v1.",
        )

    def status(self, error: "openai.APIStatusError", model: str) -> LanguageModelError:
        code, words = error.status_code, own_words(error.response.text)
        if code in {401, 403}:
            return self._refused(code, words)
        if 300 <= code < 400:
            return self._redirected(error.response.headers.get("Location", ""))
        if code == 404:
            return LanguageModelError(
                f"The server at {self._address} does not know the model {model!r} or this address: "
                f"{words}.",
                hint="Check the model's name, and that the address ends in /v1.",
            )
        if code == 429:
            return LanguageModelError(
                f"The language-model server at {self._address} takes no more questions now: "
                f"{words}.",
                hint="Ask again in a while.",
            )
        if code == LOADING:
            return LanguageModelError(
                f"The language-model server at {self._address} is still loading or busy: {words}.",
                hint="Ask again in a while.",
            )
        return self.reported(words, f" with error {code}")

    def reported(self, words: str, how: str = "") -> LanguageModelError:
        """The server's own words about what went wrong."""
        return LanguageModelError(
            f"The language-model server at {self._address} failed{how}: {words}.",
            hint="Look at the server's own messages, or choose another model.",
        )

    def _redirected(self, place: str) -> LanguageModelError:
        return LanguageModelError(
            f"The server at {self._address} wants the conversation sent to another address: "
            f"{_quoted(place) or 'it does not say which'}.",
            hint="Nothing was sent there. Set that address in the settings if you trust it.",
        )

    def _refused(self, code: int, words: str) -> LanguageModelError:
        hint = "Set the name of the environment variable that holds its key in the settings."
        if self._key_variable:
            hint = f"Check the key in the environment variable {self._key_variable}."
        return LanguageModelError(
            f"The language-model server at {self._address} refused access (error {code}): {words}.",
            hint=hint,
        )


def own_words(body: object) -> str:
    """What a server says of a fault, in a text, an object or a page: plain text on one line, cut
    short.
    """
    with suppress(ValueError, RecursionError):  # else it is a text
        body = json.loads(body) if isinstance(body, str) else body
    text = _said(body)
    is_page = "</" in text  # else what stands in angles may be a name
    return _quoted(html.unescape(_TAGS.sub(" ", text)) if is_page else text) or NO_REASON


def _said(body: object) -> str:
    match body:
        case str():
            return body
        case list():
            return "; ".join(filter(None, map(_said, body)))
        case Mapping():
            return next(filter(None, (_said(body.get(field)) for field in _FIELDS)), "")
        case _:
            return ""


def _quoted(words: str) -> str:
    """A server's own words on one line, cut short."""
    printable = "".join(char if char.isprintable() else " " for char in whole(words))
    return " ".join(printable.split())[:MAX_QUOTED_CHARS].rstrip(". ")


def is_about_tools(error: "openai.APIStatusError") -> bool:
    """Whether a server refused because it, or its model, does not support tools. Ollama answers 400
    "does not support tools", llama-server without templates 500 "tools param requires --jinja
    flag".
    """
    words = own_words(error.response.text).lower()
    return error.status_code in {400, 404, 422, 500, 501} and ("tool" in words or "jinja" in words)
