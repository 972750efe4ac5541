"""Language models by name.

Invariant: importing this module imports no model library; load() imports the one that is needed.
"""

from typing import TYPE_CHECKING

from engine.errors import ModelError
from engine.llm.base import LanguageModel
from engine.settings import LanguageModelSettings
from engine.translatable import Progress

if TYPE_CHECKING:
    from engine.llm.skills import Skills

NAMES = ("skills", "llama", "server")


def load(settings: LanguageModelSettings, progress: Progress) -> LanguageModel:
    """Load the language model of the settings ('server' connects at its first reply). Raises
    ModelError, and the exceptions of `progress`.
    """
    if settings.engine == "skills":
        return skills()
    if settings.engine == "llama":
        from engine.llm.local import llama

        return llama.load(settings, skills(), progress)
    if settings.engine == "server":
        from engine.llm.servers import server

        return server.connect(settings, skills())
    raise ModelError(
        "There is no language-model engine called '{name}'.",
        hint="Choose one of {names} in the settings.",
        name=settings.engine,
        names=", ".join(NAMES),
    )


def preload(settings: LanguageModelSettings) -> None:
    """Import the library that the settings need before other threads import anything: beside Qt's
    import hook, one start in 65 failed.
    """
    if settings.engine == "server":
        import httpx  # noqa: F401


def skills() -> "Skills":
    """Return the skills with this computer's clock and documents folder."""
    from pathlib import Path

    import platformdirs

    from engine.llm.skills import Skills
    from engine.llm.skills.clock.hours import local_now

    documents = Path(platformdirs.user_documents_dir())
    # Local time without a zone, like a wall clock.
    return Skills(now=local_now, documents=documents)
