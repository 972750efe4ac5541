"""The address of a language-model server: its parts, and whether it is this computer.

Invariant: pure; imports no network library.
"""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from engine.errors import ModelError
from engine.settings import LanguageModelSettings


def parts_of(address: str) -> SplitResult:
    """Return the parts of an http address. Raises ModelError for any other text."""
    try:
        parts = urlsplit(address)
        valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        valid = valid and not any(map(str.isspace, address))
    except ValueError:  # a port above 65535, half an IPv6 address
        valid = False
    if not valid:
        raise invalid(address)
    return parts


def invalid(address: str) -> ModelError:
    return ModelError(
        "'{address}' is not the address of a language-model server.",
        hint="It looks like http://127.0.0.1:8080/v1.",
        address=address,
    )


def is_local(address: str) -> bool:
    """Return whether the address is that of this computer. ModelError if it is invalid."""
    host = (parts_of(address).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    number = getattr(number, "ipv4_mapped", None) or number
    return number.is_loopback or number.is_unspecified  # 0.0.0.0 connects to this computer


def asks_another_computer(settings: LanguageModelSettings) -> bool:
    """Return whether questions go to another computer, where they may cost money."""
    if settings.engine != "server":
        return False
    try:
        return not is_local(settings.address)
    except ModelError:
        return False  # nothing can be sent there
