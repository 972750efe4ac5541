"""Check the installation, the devices and the settings, and say how to repair each fault.

Invariant: examine() never raises and changes nothing: a failing check is itself a finding.
"""

import logging
from collections.abc import Callable, Iterable

from engine.doctor import machine, parts
from engine.doctor.finding import Finding, State, diagnostics
from engine.settings import Settings

__all__ = ["Finding", "State", "diagnostics", "examine"]

log = logging.getLogger(__name__)

Check = Callable[[Settings], Iterable[Finding]]
CHECKS: tuple[Check, ...] = (
    *(machine.packages, machine.graphics_card, machine.room, machine.display),
    *(machine.settings_file, parts.sound, parts.recogniser, parts.language_model),
    *(parts.synthesiser, parts.languages),
)


def examine(settings: Settings, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Return every part with its state, in the order of CHECKS. Takes seconds: it imports torch and
    queries the language-model server of the settings.
    """
    findings: list[Finding] = []
    for check in checks:
        try:
            findings.extend(check(settings))
        except Exception as error:
            part = check.__name__.replace("_", " ")
            log.warning("check failed part=%s", part, exc_info=True)
            text = f"The check itself failed: {type(error).__name__}: {error}"
            advice = "Run `make run` once more; if it stays so, report this line."
            findings.append(Finding(part, State.FAULT, text, advice, (str(error),)))
    return findings
