"""The doctor as a whole: it looks at everything and survives whatever is broken."""

from collections.abc import Iterator

from engine.doctor import CHECKS, Finding, State, examine
from engine.settings import Settings


def test_a_check_that_breaks_is_a_fault_and_the_others_still_speak():
    def broken(settings: Settings) -> Iterator[Finding]:
        yield Finding("first", State.OK, "fine")
        raise RuntimeError("the driver is gone")

    def fine(settings: Settings) -> list[Finding]:
        return [Finding("second", State.OK, "fine")]

    findings = examine(Settings(), [("broken", broken), ("fine", fine)])
    assert [finding.state for finding in findings] == [State.OK, State.FAULT, State.OK]
    assert "RuntimeError: the driver is gone" in findings[1].text


def test_every_part_of_this_machine_is_looked_at_and_no_fault_lacks_advice():
    findings = examine(Settings())
    looked_at = {"Python", "packages", "disk", "display", "recordings", "recogniser", "synthesiser"}
    assert looked_at <= {finding.part for finding in findings}
    assert all(finding.text for finding in findings)
    assert all(finding.advice for finding in findings if finding.state is not State.OK)
    assert not any("check itself failed" in finding.text for finding in findings)
    assert len(CHECKS) == 11
