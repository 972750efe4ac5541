"""Known vulnerabilities in the notes of a release: none is claimed where nothing was asked."""

import json
import sys

import pytest

from installer.release.audit import advisories

CLEAN = {"name": "numpy", "version": "2.0", "vulns": []}
BAD = {
    "name": "torch",
    "version": "2.0",
    "vulns": [
        {"id": "GHSA-1", "fix_versions": ["2.1", "2.2"], "aliases": [], "description": "x"},
        {"id": "PYSEC-2", "fix_versions": [], "aliases": [], "description": "y"},
    ],
}
SKIPPED = {"name": "own", "skip_reason": "Dependency not found on PyPI"}
NONE_READ = "not checked for known vulnerabilities: "


def says(document: object, status: int, error: str = "") -> list[str]:
    """A command in the place of pip-audit."""
    script = f"import sys; print({json.dumps(document)!r}); print({error!r}, file=sys.stderr)"
    return [sys.executable, "-c", f"{script}; sys.exit({status})"]


@pytest.mark.parametrize(
    ("listed", "status", "parts"),
    [
        ([CLEAN, CLEAN], 0, ["Of the 2 packages", "reports none"]),
        ([CLEAN, BAD], 1, ["- torch 2.0: GHSA-1 (fixed in 2.1, 2.2); PYSEC-2 (fixed in no ver"]),
        ([CLEAN, SKIPPED], 0, ["Of the 1 packages", "reports none", "Not checked: own."]),
        ([SKIPPED, SKIPPED], 0, [NONE_READ + "Dependency not found on PyPI"]),
        ([], 0, [NONE_READ]),
    ],
)
def test_it_says_what_is_known_and_what_was_not_looked_at(listed, status, parts):
    told = advisories(says({"dependencies": listed, "fixes": []}, status))
    assert [part for part in parts if part not in told] == []
    assert ("reports none" in told) == ("reports none" in parts)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (says("nothing", 1, "ERROR:pip_audit: no connection"), "no connection"),
        (says(None, 3), "status 3"),
        (["/no/such/program"], "'/no/such/program'"),  # the rest is in the system's language
        ([sys.executable, "-P", "-m", "no_such_module"], "No module named no_such_module"),
    ],
)
def test_without_the_advisories_it_says_why(command, reason):
    told = advisories(command)
    assert NONE_READ in told
    assert reason in told


def test_every_package_is_asked_for_by_its_pin():
    script = "import sys, json; print(json.dumps({'dependencies': [{'name': n, 'skip_reason': n} "
    script += "for n in [' '.join(sys.argv)]]}))"
    told = advisories([sys.executable, "-c", script])
    for option in ("setup.txt", "run.txt", "torch.txt", "--require-hashes", "--disable-pip"):
        assert option in told
