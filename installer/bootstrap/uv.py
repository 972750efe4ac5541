"""Run uv for one of our environments, ignoring the user's configuration for other work.

Invariant: no configuration file is read and no other environment is touched. Of the user's
variables only those about the network and the sources of packages are used.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from installer.bootstrap.paths import Home
from installer.commands import Cause, SetupError, advice, cause_of, follow, index_settings

_ALLOWED = re.compile(
    r"UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_\w+_(USERNAME|PASSWORD)|FIND_LINKS|"
    r"HTTP_TIMEOUT|HTTP_RETRIES|CONCURRENT_\w+|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|"
    r"KEYRING_PROVIDER|OFFLINE|PYTHON_INSTALL_MIRROR|LINK_MODE)"
)
_OTHER_WORK = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Uv:
    """uv for one home. `wheels`: all packages come from this folder, none from the network."""

    program: Path
    home: Home
    wheels: Path | None = None

    def venv(self, env: Path, python: str) -> None:
        self._run("venv", "--no-project", "--python", python, str(env), doing="Making a folder")

    def install(self, python: Path, *arguments: str, doing: str) -> None:
        """Install exactly the named packages, without their dependencies."""
        options = ["--no-deps", "--python", str(python)]
        if self.wheels is not None:
            options += ["--no-index", "--offline", "--find-links", str(self.wheels)]
        self._run("pip", "install", *options, *arguments, doing=doing)

    def _run(self, *arguments: str, doing: str) -> None:
        # not in the current folder, which may belong to some project
        where = ["--directory", str(self.home.folder), "--no-progress", "--color", "never"]
        output = follow([str(self.program), *arguments, *where], settings(os.environ, self.home))
        if output is not None:
            cause = cause_of(output)
            raise SetupError(f"{doing} failed. {explain(cause, self.wheels)}", cause)


def explain(cause: Cause, wheels: Path | None) -> str:
    missing = (Cause.NETWORK, Cause.PLATFORM, Cause.UNKNOWN)
    if wheels is not None and cause in missing:
        return f"{wheels} does not contain all pinned packages for this Python."
    return advice(cause)


def settings(given: Mapping[str, str], home: Home) -> dict[str, str]:
    """Return the environment variables for uv."""
    kept = {
        name: value
        for name, value in given.items()
        if not (name.startswith("UV_") and not _ALLOWED.fullmatch(name)) and name not in _OTHER_WORK
    }
    own = {
        "UV_NO_CONFIG": "1",
        "UV_CACHE_DIR": str(home.cache),
        "UV_PYTHON_INSTALL_DIR": str(home.pythons),
    }
    return {**index_settings(given), **kept, **own}
