"""Known vulnerabilities of the pinned packages, as pip-audit reports them, for the release notes.

Invariant: reports an absence of vulnerabilities only if the advisories were read.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from installer.plan import PINS

COMMAND = (sys.executable, "-P", "-m", "pip_audit")
PINNED = ("setup.txt", "run.txt", "torch.txt")  # installed by a release; one torch of each version
TIMEOUT_S = 600
_OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json")


def advisories(command: Sequence[str] = COMMAND) -> str:
    """Return the advisories about the packages of this system, or why they could not be read."""
    files = (option for name in PINNED for option in ("--requirement", str(PINS / name)))
    try:
        done = subprocess.run(
            [*command, *_OPTIONS, *files],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _not_checked(str(error))
    try:
        listed: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return _not_checked(lines[-1].strip() if lines else f"status {done.returncode}")
    skipped = [each for each in listed if "vulns" not in each]
    if len(skipped) == len(listed):  # pip-audit calls this "No known vulnerabilities found"
        return _not_checked(skipped[0]["skip_reason"] if skipped else "pip-audit read no packages")
    found = [_advisory_line(each) for each in listed if each.get("vulns")]
    text = f"Of the {len(listed) - len(skipped)} packages pinned for {sys.platform}, pip-audit "
    text += "knows these vulnerabilities:\n\n" + "\n".join(found) if found else "reports none."
    names = ", ".join(each["name"] for each in skipped)
    return text + (f"\n\nNot checked: {names}." if skipped else "")


def _advisory_line(package: dict[str, Any]) -> str:
    faults = (
        f"{fault['id']} (fixed in {', '.join(fault['fix_versions']) or 'no version'})"
        for fault in package["vulns"]
    )
    return f"- {package['name']} {package['version']}: {'; '.join(faults)}"


def _not_checked(reason: str) -> str:
    return f"The packages were not checked for known vulnerabilities: {reason}"
