"""The faults of a connection to a language-model server, as messages for the user.

Invariant: every message names the server's address, and every fault comes with a hint.
"""

import html
import json
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx

from engine.characters import join_surrogates
from engine.errors import LanguageModelError
from engine.translatable import Translatable, mark

if TYPE_CHECKING:
    from engine.llm.servers.client import Refused

MAX_QUOTED_CHARS = 200  # of the server's own words
NO_REASON = Translatable("no reason given")
LOADING = 503  # the status of a server that has to load its model first

MAX_COMPLAINT_CHARS = 4_000
MOST_NESTED = 8

_NAMED = ("type", "code", "param")
_FIELDS = ("error", "message", "detail", "msg", "error_description", "title", "reason")
_TAGS = re.compile(r"<(head|style|script)\b.*?</\1>|<[a-zA-Z/!][^<>]*>", re.DOTALL | re.IGNORECASE)

LOOK_THERE = Translatable("Look at the server's own messages, or choose another model.")


# By status of a refusal: the fault and its remedy.
_STATUSES = {
    401: (
        mark("The language-model server at {address} refused access (error {code}): {error}."),
        mark("Set the name of the environment variable that holds its key in the settings."),
    ),
    404: (
        mark("The server at {address} does not know the model '{name}' or this address: {error}."),
        mark("Check the model's name, and that the address ends in /v1."),
    ),
    429: (
        mark("The language-model server at {address} takes no more questions now: {error}."),
        mark("Ask again in a while."),
    ),
    LOADING: (
        mark("The language-model server at {address} is still loading or busy: {error}."),
        mark("Ask again in a while."),
    ),
}
_STATUSES[403] = _STATUSES[401]
_OTHER_STATUS = mark("The language-model server at {address} failed with error {code}: {error}.")
_NOT_OPENAI = mark("Check that the address is that of an OpenAI-compatible server, ending in /v1.")


class ServerFaults:
    """Errors about one server. `proxy`: the proxy of its requests; empty = none."""

    def __init__(self, address: str, key_variable: str, proxy: str = "") -> None:
        self._address = address
        self._key_variable = key_variable
        self._proxy = proxy

    def connection(self, error: httpx.HTTPError | OSError) -> LanguageModelError:
        """Return the error for a connection that was refused or lost."""
        if tls := tls_fault(error):
            return self._untrusted(tls)
        if not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            return self.broken_off()
        if self._proxy:
            return self._error(
                mark(
                    "The language-model server at {address} cannot be reached through the proxy "
                    "{proxy}."
                ),
                mark("Check the proxy. If the server needs none, add it to NO_PROXY."),
                proxy=self._proxy,
            )
        return self._error(
            mark("There is no language-model server at {address}."),
            mark("Start it, or set another address or another engine in the settings."),
        )

    def _untrusted(self, error: ssl.SSLError) -> LanguageModelError:
        if isinstance(error, ssl.SSLCertVerificationError):
            return self._error(
                mark(
                    "The certificate of the language-model server at {address} is not accepted: "
                    "{error}."
                ),
                mark(
                    "If you trust the server, put its certificate, or that of its authority, into "
                    "a file and name the file in the environment variable SSL_CERT_FILE."
                ),
                error=_quoted(error.verify_message or str(error)),
            )
        return self._error(
            mark(
                "No secure connection to the language-model server at {address} is possible: "
                "{error}."
            ),
            mark("If the server has no certificate, its address begins with http://."),
            error=_quoted(error.reason or str(error)),
        )

    def stalled(self, seconds: float) -> LanguageModelError:
        return self._error(
            mark("The language-model server at {address} said nothing for {seconds} seconds."),
            mark("It may be loading a model or be overloaded: ask again in a while."),
            seconds=f"{seconds:g}",
        )

    def broken_off(self) -> LanguageModelError:
        return self._error(
            mark("The language-model server at {address} broke off its answer."),
            mark(
                "Ask again. If it stays so, the conversation may be too long for the model: "
                "see the server's own messages, or set a smaller context in the settings."
            ),
        )

    def no_model(self) -> LanguageModelError:
        return self._error(
            mark("The language-model server at {address} has no model loaded."),
            mark("Load a model there, or set a model's name in the settings."),
        )

    def garbled(self) -> LanguageModelError:
        text = mark("What the server at {address} sent is not a chat answer.")
        return self._error(text, _NOT_OPENAI)

    def out_of_bounds(self) -> LanguageModelError:
        text = mark(
            "The language-model server at {address} sent far more than an answer has, "
            "or compressed it unasked; it was not read."
        )
        return self._error(text, _NOT_OPENAI)

    def status(self, error: "Refused", model: str) -> LanguageModelError:
        code = error.status
        if 300 <= code < 400:
            place = _quoted(self._without_key(error.headers.get("Location", "")))
            return self._error(
                mark(
                    "The server at {address} wants the conversation sent to another address: "
                    "{place}."
                ),
                mark("Nothing was sent there. Set that address in the settings if you trust it."),
                place=place or Translatable("it does not say which"),
            )
        text, hint = _STATUSES.get(code, (_OTHER_STATUS, LOOK_THERE))
        if code in {401, 403} and self._key_variable:
            hint = Translatable(
                "Check the key in the environment variable {name}.", name=self._key_variable
            )
        words = own_words(self._without_key(error.body))
        return self._error(text, hint, code=code, name=model, error=words)

    def reported(self, words: str) -> LanguageModelError:
        """Return the error with the server's own explanation."""
        text = mark("The language-model server at {address} failed: {error}.")
        return self._error(text, LOOK_THERE, error=self._without_key(words))

    def _error(self, text: str, hint: str, **values: object) -> LanguageModelError:
        return LanguageModelError(text, hint=hint, address=self._address, **values)

    def _without_key(self, words: str) -> str:
        """Hide the key in a text: a server may quote it in a refusal, and people share messages."""
        key = os.environ.get(self._key_variable) if self._key_variable else None
        return words.replace(key, "\u2026") if key and key in words else words


def own_words(body: object) -> str:
    """Return a server's explanation of a fault as plain text on one line, cut short."""
    with suppress(ValueError, RecursionError):  # otherwise plain text
        body = json.loads(body) if isinstance(body, str) else body
    text = _said(body)
    is_page = "</" in text  # otherwise angle brackets may enclose a name
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
    """Return a server's own words on one line, cut short."""
    printable = "".join(char if char.isprintable() else " " for char in join_surrogates(words))
    return " ".join(printable.split())[:MAX_QUOTED_CHARS].rstrip(". ")


def complaint(body: object) -> str:
    """Return the words, parameters and fields of a refusal in lower case, without quotations."""
    with suppress(ValueError, RecursionError):
        body = json.loads(body) if isinstance(body, str) else body
    return " ".join(_complaints(body, MOST_NESTED)).lower()[:MAX_COMPLAINT_CHARS]


def _complaints(body: object, depth: int) -> Iterator[str]:
    match body:
        case str():
            yield body
        case list() if depth:
            for each in body:
                yield from _complaints(each, depth - 1)
        case Mapping() if depth:
            for name in (*_FIELDS, *_NAMED):
                yield from _complaints(body.get(name), depth - 1)
            if isinstance(place := body.get("loc"), list):
                yield ".".join(map(str, place))
            if isinstance(asked := body.get("n_prompt_tokens"), int):
                yield f"{asked} tokens of {body.get('n_ctx')}"


def tls_fault(error: BaseException) -> ssl.SSLError | None:
    """Return the TLS error that caused a connection error; None if TLS did not cause it."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause
