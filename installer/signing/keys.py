"""Keys: Ed25519, encrypted with a passphrase; the public half as JSON beside them."""

import getpass
import json
import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from securesystemslib.signer import CryptoSigner, Key, SSlibKey

from installer.commands import SetupError

PASSPHRASE = "RUBATO_KEY_PASSPHRASE"
_SHORTEST = 12  # characters of a passphrase


def make(path: Path) -> Key:
    """Make a key in `path` and its public half in `path`.pub. SetupError if the file exists."""
    if path.exists():
        raise SetupError(f"{path} is there already; a key is never written over.")
    private = Ed25519PrivateKey.generate()
    secret = passphrase(path)
    if len(secret) < _SHORTEST:
        raise SetupError(f"A passphrase has at least {_SHORTEST} characters.")
    text = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(secret))
    public = CryptoSigner(private).public_key
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(text)
    told = {"keyid": public.keyid, **public.to_dict()}
    path.with_name(path.name + ".pub").write_text(json.dumps(told, indent=1) + "\n")
    return public


def signer(path: Path) -> CryptoSigner:
    """The signer of a private key. SetupError if the key cannot be opened."""
    try:
        private = load_pem_private_key(path.read_bytes(), passphrase(path))
    except (OSError, ValueError, TypeError) as error:
        raise SetupError(f"{path} cannot be opened: not a key, or another passphrase.") from error
    return CryptoSigner(private)


def public(path: Path) -> Key:
    """A public half. SetupError if the file is something else."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return SSlibKey.from_dict(told.pop("keyid"), told)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise SetupError(f"{path} is not the public half of a key.") from error


def passphrase(path: Path) -> bytes:
    """The passphrase: from the environment variable on a machine without a person, else asked
    for."""
    given = os.environ.get(PASSPHRASE)
    return (given or getpass.getpass(f"Passphrase of {path.name}: ")).encode()
