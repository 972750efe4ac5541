"""Voices that learn in the window: when the command is started and ended, what is shown of it, and
the choice by ear. The command is a fake.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.voice.panel import VoiceArea
from engine import api

FIT = Path("/data/voices/learnt/anna.voice.safetensors")
ANNA = api.VoiceEntry(
    "Anna",
    clip_s=10.0,
    made_for=("kokoro",),
    resembles=True,
    can_learn=True,
    nearest="Heart",
    recording="hash",
)
HEART = api.VoiceEntry(
    "Heart", own=True, description="American woman", sex="female", accent="american"
)
FENRIR = api.VoiceEntry("Fenrir", own=True, sex="male", accent="american")
EMMA = api.VoiceEntry("Emma", own=True, sex="female", accent="british")
WANTED = replace(ANNA, words="Good morning.")
LEARNT = replace(ANNA, fit=FIT)
RUNS = """
import json, sys, time
print(json.dumps({"part": 0.421, "doing": "Learning the voice"}), file=sys.stderr, flush=True)
time.sleep(600)
"""
ENDS = "print({!r})"
Open = Callable[..., VoiceArea]


def listed(*entries: api.VoiceEntry) -> api.VoicesListed:
    return api.VoicesListed((HEART, FENRIR, EMMA, *entries))


def ending(**document: object) -> str:
    return ENDS.format(json.dumps(document))


@pytest.fixture
def opened(open_area: Callable[..., VoiceArea]) -> Open:
    """The area with the voices, in which this script learns."""

    def opened(script: str, *entries: api.VoiceEntry) -> VoiceArea:
        area = open_area(script)
        area.on_event(listed(*entries))
        return area

    return opened


def test_a_voice_that_is_to_be_learnt_is_learnt_with_its_words(opened, qtbot):
    area = opened("import json, sys; print(json.dumps({'file': 'x', 'words': sys.argv[1:]}))")
    ends: list[dict[str, object]] = []
    area.learning._job.ended.connect(ends.append)
    area.on_event(listed(ANNA))
    assert not area.learning.name  # the person did not ask for it, or gave it up
    area.on_event(listed(WANTED))
    qtbot.waitUntil(lambda: bool(ends), timeout=20_000)
    assert ends[0]["words"] == ["voices", "learn", "--json", "--text=Good morning.", "--", "Anna"]


def test_its_progress_is_shown_in_the_area_and_in_its_row_and_it_can_be_cancelled(
    opened, qtbot, posted
):
    area = opened(RUNS, WANTED)
    line, row = area.line, area.open_page().rows["Anna"]
    qtbot.waitUntil(lambda: "42 %" in line.said.text(), timeout=20_000)
    assert (line.isVisible(), row.learning.said.text()) == (True, "Anna is being learnt: 42 %")
    assert not area.page.rows["Heart"].learning.isVisible()
    posted.clear()
    row.learning.act.click()
    assert posted == [api.LearnVoice("Anna", on=False)]
    area.on_event(listed(WANTED))  # told before the engine knew
    assert (area.learning.name, line.isVisible()) == ("", False)
    area.on_event(listed(ANNA))
    area.on_event(listed(WANTED))  # the person asks for it again
    assert area.learning.name == "Anna"
    area.learning.cancel()


def test_a_voice_that_is_gone_or_has_another_recording_is_not_learnt_further(opened):
    area = opened(RUNS, WANTED)
    area.on_event(listed(replace(WANTED, recording="other")))
    assert area.learning._lesson == ("other", "Good morning.")
    area.on_event(listed())
    assert not area.learning.name


def test_a_voice_that_gets_another_name_is_learnt_on(opened, qtbot, posted):
    area = opened(RUNS, WANTED)
    qtbot.waitUntil(lambda: "42 %" in area.line.said.text(), timeout=20_000)
    area.on_event(listed(replace(WANTED, name="Bert")))
    assert area.line.said.text() == "Bert is being learnt: 42 %"
    posted.clear()
    area.learning.cancel()
    assert posted == [api.LearnVoice("Bert", on=False)]


def test_a_job_that_did_not_find_the_former_name_is_begun_with_the_new_one(opened, qtbot, posted):
    told = "json.dumps({'file': None, 'texts': sys.argv[-1:]})"
    area = opened(f"import json, sys; print({told})", WANTED)
    area.on_event(listed(replace(WANTED, name="Bert")))
    qtbot.waitUntil(lambda: bool(area.learning.state_of("Bert")) and bool(posted), timeout=20_000)
    assert area.line.said.text() == "Bert stays a blend. Bert"
    assert posted[0] == api.LearnVoice("Bert", on=False)


def test_a_refused_voice_stays_a_blend_and_says_why_until_that_is_read(opened, qtbot, posted):
    area = opened(ending(file=None, texts=["Its words are understood less well."]), WANTED)
    qtbot.waitUntil(lambda: "understood less well" in area.line.said.text(), timeout=20_000)
    assert posted == [api.LearnVoice("Anna", on=False), api.ListVoices()]
    area.line.act.click()
    assert not area.line.isVisible()


def test_what_a_better_recording_would_have_is_said_beside_the_choice(opened, qtbot):
    area = opened(ending(file=str(FIT), texts=["It is noisy."]), WANTED)
    qtbot.waitUntil(lambda: area.line.said.text() == "It is noisy.", timeout=20_000)
    area.on_event(listed(replace(WANTED, fit=FIT)))
    assert area.line.said.text() == "Anna has been learnt. Choose by ear. It is noisy."
    assert area.open_page().rows["Anna"].learning.said.text() == "It is noisy."


def test_what_breaks_off_is_not_given_up_and_not_begun_again_at_once(opened, qtbot, posted):
    area = opened("raise SystemExit(3)", WANTED)
    qtbot.waitUntil(lambda: "broke off" in area.line.said.text(), timeout=20_000)
    assert posted == [api.ListVoices()]
    area.on_event(listed(WANTED))
    assert not area.learning.name


def test_three_voices_are_heard_one_after_another_and_one_is_kept(opened, posted, qtbot):
    area = opened(RUNS, LEARNT)
    assert "Choose by ear" in area.line.said.text()
    area.line.act.click()
    assert area.page is not None
    choice = area.page.rows["Anna"].choice
    assert (choice.isVisible(), list(choice.hear)) == (True, ["Heart", "Anna", str(FIT)])
    posted.clear()
    choice.hear_all.click()
    for name in ("Heart", "Anna", str(FIT)):
        assert posted[-1] == api.PreviewVoice(name, "")
        area.on_event(api.PreviewChanged(name, api.PreviewState.SPEAKING))
        assert choice.hear[name].text() == "Stop"
        area.on_event(api.PreviewChanged(name, api.PreviewState.OVER))
    assert len(posted) == 3
    choice.hear_all.click()
    area.page.close()
    area.on_event(api.PreviewChanged("Heart", api.PreviewState.OVER))
    assert api.PreviewVoice("Anna", "") not in posted[4:]  # nothing follows on a closed page


@pytest.mark.parametrize(
    ("kept", "learnt", "speaks"),
    [("Heart", False, "Heart"), ("Anna", False, "Anna"), (str(FIT), True, "Anna")],
)
def test_what_is_kept_speaks(opened, posted, kept, learnt, speaks):
    area = opened(RUNS, LEARNT)
    choice = area.open_page().rows["Anna"].choice
    posted.clear()
    choice.keep[kept].click()
    assert posted == [
        api.ChooseLearnt("Anna", learnt=learnt),
        api.ChangeSetting("speech.voice", speaks),
    ]
    choice.keep[kept].setFocus()
    area.on_event(listed(replace(ANNA, learnt=learnt)))
    assert area.page is not None
    assert not choice.isVisible()
    assert area.page.focusWidget() is area.page.rows["Anna"].hear


def test_a_row_says_which_of_three_kinds_a_voice_is(opened):
    area = opened(RUNS, ANNA, replace(ANNA, name="Bert", learnt=True, can_learn=False))
    rows = area.open_page().rows
    assert "a stock voice" in rows["Heart"].facts.text()
    assert "a blend like your recording of 10.0 s" in rows["Anna"].facts.text()
    assert "learnt from your recording of 10.0 s" in rows["Bert"].facts.text()
    entries = [rows[name].actions_of["Learn from its recording"] for name in ("Anna", "Bert")]
    assert [each.isEnabled() for each in entries] == [True, False]


def test_voices_are_filtered_by_sex_and_accent(opened):
    area = opened(RUNS, ANNA)
    page = area.open_page()

    def shown(sex: int, accent: int) -> list[str]:
        page.sexes.setCurrentIndex(sex)
        page.accents.setCurrentIndex(accent)
        page.sexes.activated.emit(sex)
        return [name for name, row in page.rows.items() if not row.isHidden()]

    assert shown(0, 0) == ["Heart", "Fenrir", "Emma", "Anna"]
    assert shown(1, 0) == ["Heart", "Emma"]
    assert shown(1, 2) == ["Emma"]
    assert shown(2, 1) == ["Fenrir"]
    assert shown(3, 0) == ["Anna"]
    page.show_voice("Emma")
    assert not page.rows["Heart"].isHidden()
