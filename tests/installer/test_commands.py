"""Failures of other programs, as the person reads them."""

import sys

import pytest

from installer.commands import Cause, SetupError, cause_of, ends_well, run, succeeds


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("error: Request failed after 3 retries\n  dns error: failed to lookup", Cause.NETWORK),
        ("Temporary failure in name resolution", Cause.NETWORK),
        ("failed to write to file: No space left on device (os error 28)", Cause.DISK),
        ("Failed to fetch: x\n  No space left on device", Cause.DISK),
        ("CMake Error: CMAKE_CXX_COMPILER not set, after EnableLanguage", Cause.COMPILER),
        ("Hash mismatch for `numpy==2.4.6`", Cause.HASH),
        ("No solution found when resolving dependencies", Cause.PLATFORM),
        ("Segmentation fault", Cause.UNKNOWN),
    ],
)
def test_the_cause_is_read_from_the_words_of_the_program(output, cause):
    assert cause_of(output) is cause


def test_output_is_shown_without_the_list_of_packages_and_a_failure_with_what_to_do(capsys):
    script = "print('Downloading torch (180MiB)'); print(' + torch==2.13.0')"
    run([sys.executable, "-c", script], doing="Installing")
    assert capsys.readouterr().out == "    Downloading torch (180MiB)\n"
    script = "print('dns error'); raise SystemExit(1)"
    with pytest.raises(SetupError, match=r"Fetching failed.*Check the network") as caught:
        run([sys.executable, "-c", script], doing="Fetching")
    assert caught.value.cause is Cause.NETWORK
    with pytest.raises(SetupError, match="no-such-program"):
        run(["no-such-program"], doing="Trying")


def test_success_is_told_without_output_or_with_the_program_s_own(capfd, monkeypatch):
    assert succeeds([sys.executable, "-c", "print('quiet')"])
    assert capfd.readouterr().out == ""
    assert ends_well([sys.executable, "-c", ""])
    for fails in ([sys.executable, "-c", "raise SystemExit(3)"], ["/nowhere/rubato"]):
        assert not succeeds(fails)
        assert not ends_well(fails)

    def interrupted(command: list[str], **options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("installer.commands.subprocess.call", interrupted)
    assert not ends_well(["rubato"])  # Ctrl+C ends that program and no more
