"""The page of voices: what is asked of the engine, and what is shown of its answers."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look.theme import Theme
from app.voice.clip import TO_READ
from app.voice.learning import Learning
from app.voice.page import VoicesPage
from app.voice.panel import VoiceArea
from engine import api

LEFT = Qt.MouseButton.LeftButton
ANTON = api.VoiceEntry("Anton", own=True)
GRANDMA = api.VoiceEntry("Grandma", clip_s=9.4, snr_db=38.2, made_for=("neural 1",), again=True)
STRANGER = api.VoiceEntry("Stranger", made_for=("other",), usable=False, why_not="It is for other.")
LISTED = api.VoicesListed((ANTON, GRANDMA, STRANGER), ("Oma",))
TAKE = Path("/data/takes/My voice.wav")


@pytest.fixture
def page(area: VoiceArea, posted: list[api.Command]) -> VoicesPage:
    area.on_event(api.VoicesChanged(("Anton", "Grandma"), "Anton", can_clone=True))
    page = area.open_page()
    assert posted == [api.ListVoices()]
    posted.clear()
    area.on_event(LISTED)
    return page


def inspected(**values: object) -> api.ClipInspected:
    told = {"seconds": 8.0, "level_db": -20.0, "noise_db": -60.0, "usable": True, "advice": ""}
    return api.ClipInspected(TAKE, **{**told, **values})


def test_a_row_says_what_a_voice_is_and_what_can_be_done(page):
    anton, grandma, stranger = page.rows.values()
    assert anton.facts.text() == "comes with the program · not used yet"
    assert "made of 9.4 s · 38 dB above its noise · for neural" in grandma.facts.text()
    assert "It is for other." in stranger.facts.text()
    assert anton.use.text() == "Speaks now"
    assert (anton.use.isEnabled(), anton.more.isVisible()) == (False, False)
    assert (stranger.hear.isEnabled(), stranger.use.isEnabled()) == (False, False)
    assert grandma.actions_of["Make again from its recording"].isEnabled()
    assert not stranger.actions_of["Make again from its recording"].isEnabled()


def test_the_voices_of_other_languages_say_whether_they_are_in_use(page, area):
    names, languages = ("Anton", "Dora", "Alex"), ("en", "es", "es")
    area.on_event(api.VoicesListed(tuple(map(api.VoiceEntry, names))))
    area.on_event(api.VoicesChanged(names, "Anton", languages=languages, chosen=("Anton", "Alex")))
    buttons = [page.rows[name].use for name in names]
    assert [each.text() for each in buttons] == ["Speaks now", "Use", "Chosen"]
    assert [each.isEnabled() for each in buttons] == [False, True, False]


@pytest.mark.parametrize(("selected", "seen"), [("Dora", {"Dora"}), ("Heart", {"Dora", "Heart"})])
def test_the_page_begins_with_the_voices_of_the_conversations_language(area, selected, seen):
    names, accents, codes = ("Heart", "Dora"), ("american", "spanish"), ("en", "es")
    voices = zip(names, accents, codes, strict=True)
    entries = [
        api.VoiceEntry(name, own=True, sex="female", accent=accent, language=code)
        for name, accent, code in voices
    ]
    area.on_event(api.VoicesChanged(names, selected, languages=codes))
    page = area.open_page()
    area.on_event(api.VoicesListed(tuple(entries)))
    assert {name for name, row in page.rows.items() if not row.isHidden()} == seen
    page.show_voice("Heart")
    assert not page.rows["Heart"].isHidden()
    page.accents.setCurrentIndex(0)
    area.on_event(api.VoicesListed(tuple(entries[::-1])))
    assert page.accents.currentIndex() == 0


def test_a_voice_is_heard_with_the_persons_own_words_and_stopped(page, posted, qtbot):
    row = page.rows["Grandma"]
    page.text.setText("Good morning")
    qtbot.mouseClick(row.hear, LEFT)
    page.handle(api.PreviewChanged("Grandma", api.PreviewState.WAITING))
    assert row.hear.text() == "Waits"
    page.handle(api.PreviewChanged("Grandma", api.PreviewState.SPEAKING))
    assert (row.hear.text(), page.rows["Anton"].hear.text()) == ("Stop", "Hear")
    qtbot.mouseClick(row.hear, LEFT)
    page.handle(api.PreviewChanged("Grandma", api.PreviewState.OVER))
    assert row.hear.text() == "Hear"
    assert posted == [api.PreviewVoice("Grandma", "Good morning"), api.StopPreview()]


def test_what_is_chosen_or_written_in_a_row_is_asked_of_the_engine_once(page, posted, qtbot):
    row = page.rows["Grandma"]
    qtbot.mouseClick(row.use, LEFT)
    row.actions_of["Make again from its recording"].trigger()
    row.actions_of["Remove"].trigger()
    row.pace.setValue(3.5)
    row.pace.setValue(row.pace.minimum())
    assert posted == [
        api.ChangeSetting("speech.voice", "Grandma"),
        api.RemakeVoice("Grandma"),
        api.RemoveVoice("Grandma"),
        api.SetVoicePace("Grandma", 3.5),
        api.SetVoicePace("Grandma", None),
    ]
    posted.clear()
    for name in ("  Oma Erna ", "Grandma"):  # the second is as it was
        dialog = row.rename()
        assert dialog.textValue() == "Grandma"
        dialog.setTextValue(name)
        dialog.accept()
    assert posted == [api.RenameVoice("Grandma", "Oma Erna")]


def test_files_are_chosen_in_dialogs_that_stop_nothing(page, posted, tmp_path):
    out = page.rows["Grandma"].export()
    assert out.isVisible()
    out.fileSelected.emit(str(tmp_path / "g.safetensors"))
    taken = page.choose_file()
    taken.fileSelected.emit(str(tmp_path / "in.safetensors"))
    out.close()
    taken.close()
    assert posted == [
        api.ExportVoice("Grandma", tmp_path / "g.safetensors"),
        api.ImportVoice(tmp_path / "in.safetensors"),
    ]


def test_what_is_said_and_a_name_from_a_file_are_plain_text(page):
    page.handle(api.Failed("model", "<b>The disk is full.</b>", "Make room."))
    assert page.notice.text() == "<b>The disk is full.</b> Make room."
    page.handle(api.VoicesListed((api.VoiceEntry("<b>x</b>\u202eevil\nline"),)))
    shown = next(iter(page.rows.values())).title
    assert not {"\u202e", "\n"} & set(shown.text())
    assert shown.textFormat() is Qt.TextFormat.PlainText


def record(page: VoicesPage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.record, LEFT)
    qtbot.mouseClick(page.recorder.record, LEFT)
    page.handle(api.ClipRecording(True))
    page.handle(api.ClipRecording(True, 6.0))


def test_a_voice_is_recorded_judged_and_adopted(page, area, posted, qtbot):
    record(page, qtbot)
    area.on_event(api.Levels(-20.0, -90.0))
    assert page.recorder.meter.fraction > 0
    assert "6 s" in page.recorder.facts.text()
    qtbot.mouseClick(page.recorder.record, LEFT)
    area.on_event(api.ClipRecording(False, 8.0))
    area.on_event(inspected())
    assert "8.0 s · level -20 dB · 40 dB above noise" in page.recorder.facts.text()
    assert not area.sheet.consent.isVisible()  # it is the page's recording
    page.recorder.consent.name.setText("Me")
    page.recorder.consent.agreed.setChecked(True)
    qtbot.mouseClick(page.recorder.consent.adopt, LEFT)
    assert posted == [
        api.RecordClip(on=True),
        api.RecordClip(on=False),
        api.AddVoice(TAKE, consent=True, name="Me"),
    ]
    assert page.recorder.record.text() == "&Record another"
    posted.clear()
    page.close()
    assert posted == []  # the engine forgets the clip once it is a voice


def test_a_dropped_recording_is_offered_in_parts_too(area, posted, qtbot):
    area.on_event(inspected(usable=False, seconds=1_260.0, better=(12.0, 8.0)))
    assert area.sheet.part.isVisible()
    qtbot.mouseClick(area.sheet.part.better, LEFT)
    assert posted == [api.AddVoice(TAKE, start_s=12.0, seconds=8.0)]
    area.on_event(inspected())
    assert not area.sheet.part.isVisible()


def test_closing_the_page_ends_what_it_began(page, posted, qtbot):
    record(page, qtbot)
    page.handle(api.PreviewChanged("Anton", api.PreviewState.SPEAKING))
    posted.clear()
    page.close()
    assert posted == [api.StopPreview(), api.RecordClip(on=False)]


def test_escape_ends_a_recording_and_keeps_it(page, posted, qtbot):
    record(page, qtbot)
    posted.clear()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert (posted, page.isVisible()) == ([api.RecordClip(on=False)], True)
    page.handle(api.ClipRecording(False, 8.0))
    qtbot.keyClick(page, Qt.Key.Key_Escape)  # it is being checked
    page.handle(inspected())
    assert (page.isVisible(), page.recorder.consent.isVisible()) == (True, True)
    posted.clear()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert (page.isVisible(), posted) == (False, [])
    page.open_beside()
    assert page.recorder.consent.isVisible()


def test_a_take_that_is_checked_while_the_page_is_closed_waits_there(area, page, posted, qtbot):
    record(page, qtbot)
    page.close()
    area.on_event(api.ClipRecording(False, 8.0))
    area.on_event(inspected())
    assert not area.sheet.isVisible()
    page.open_beside()
    assert page.recorder.consent.isVisible()


def test_only_its_own_button_discards_a_take(page, posted, qtbot):
    record(page, qtbot)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    page.handle(api.ClipRecording(False, 8.0))
    page.handle(inspected())
    posted.clear()
    assert page.recorder.leave.text() == "&Discard"
    qtbot.mouseClick(page.recorder.leave, LEFT)
    assert (posted, page.recorder.isVisible()) == ([api.DropClip()], False)
    qtbot.mouseClick(page.record, LEFT)
    assert page.recorder.leave.text() == "&Close"


def test_what_was_read_aloud_goes_along_where_the_voice_learns(page, posted, qtbot):
    record(page, qtbot)
    page.handle(api.ClipRecording(False, 12.0))
    page.handle(inspected(seconds=12.0, resembles=True))
    consent = page.recorder.consent
    assert consent.words.text() == TO_READ
    page.handle(inspected(seconds=8.0, resembles=True, part=(1.0, 8.0)))
    assert consent.words.text() == ""  # a part of it
    page.handle(inspected(seconds=12.0, resembles=True))
    consent.agreed.setChecked(True)
    posted.clear()
    consent.adopt.click()
    assert posted == [
        api.AddVoice(TAKE, True, "My voice"),
        api.LearnVoice("My voice", words=TO_READ),
    ]


def test_a_refused_recording_says_why_and_offers_what_helps(page, posted, qtbot):
    record(page, qtbot)
    page.handle(api.ClipRecording(False, 20.0))
    page.handle(inspected(seconds=20.0, usable=False, advice="No speech.", better=(4.0, 8.0)))
    part, consent = page.recorder.part, page.recorder.consent
    assert "No speech." in page.recorder.facts.text()
    assert (part.isVisible(), consent.isVisible()) == (True, False)
    posted.clear()
    qtbot.mouseClick(part.better, LEFT)
    part.start.setValue(10.0)
    part.length.setValue(5.0)
    qtbot.mouseClick(part.look, LEFT)
    assert posted == [
        api.AddVoice(TAKE, start_s=4.0, seconds=8.0),
        api.AddVoice(TAKE, start_s=10.0, seconds=5.0),
    ]
    page.handle(inspected(seconds=8.0, part=(4.0, 8.0)))
    assert consent.isVisible()
    assert part.start.maximum() == 19.0  # of the whole, not of the part
    consent.agreed.setChecked(True)
    qtbot.mouseClick(consent.adopt, LEFT)
    assert posted[-1] == api.AddVoice(TAKE, True, "My voice", 4.0, 8.0)


MIXABLE = ("Heart", "Emma", "George")


def mixable(*names: str) -> api.VoicesListed:
    return api.VoicesListed(tuple(api.VoiceEntry(name, own=True) for name in names), mixable=names)


def test_the_mixer_begins_with_voices_of_the_language_that_is_spoken(qtbot, theme, posted):
    page = VoicesPage(posted.append, Learning(posted.append, theme), theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    spoken = {"Heart": "en", "Emma": "en", "Dora": "es", "Alex": "es"}
    page.show_chosen(api.VoicesChanged((*spoken,), "Alex"))
    entries = tuple(api.VoiceEntry(name, language=code) for name, code in spoken.items())
    page.handle(api.VoicesListed(entries, mixable=(*spoken,)))
    assert page.mixer.shares.text() == "50 % Dora, 50 % Alex"
    assert page.mixer.one.count() == len(spoken)


@pytest.fixture
def mixing(qtbot: QtBot, theme: Theme, posted: list[api.Command]) -> VoicesPage:
    page = VoicesPage(posted.append, Learning(posted.append, theme), theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.open_beside()
    page.handle(mixable(*MIXABLE))
    qtbot.mouseClick(page.mix, LEFT)
    posted[:] = [each for each in posted if each != api.ListVoices()]
    return page


def test_a_mixture_is_heard_then_kept(mixing, posted, qtbot):
    page, mixer = mixing, mixing.mixer
    assert mixer.shares.text() == "50 % Heart, 50 % Emma"
    assert not mixer.keep.isEnabled()
    mixer.other.setFocus()
    qtbot.keyClick(mixer.other, Qt.Key.Key_G)  # type-ahead
    mixer.share.setValue(mixer.share.value() - 4)
    assert mixer.shares.text() == "70 % Heart, 30 % George"
    page.text.setText("Good morning")
    qtbot.mouseClick(mixer.hear, LEFT)
    page.handle(api.PreviewChanged("", api.PreviewState.MAKING))
    assert (mixer.hear.text(), page.rows["Heart"].hear.text()) == ("Stop", "Hear")
    page.handle(api.PreviewChanged("", api.PreviewState.OVER))
    qtbot.keyClicks(mixer.name, " Luna ")
    qtbot.mouseClick(mixer.keep, LEFT)
    mix = api.Mix("Heart", "George", 0.7)
    assert posted == [api.PreviewVoice("", "Good morning", mix), api.MixVoices("Luna", mix)]
    page.handle(mixable(*MIXABLE, "Luna"))
    assert not mixer.isVisible()
    assert "Luna" in page.rows
    page.handle(api.VoicesListed((api.VoiceEntry("Alan", own=True),)))
    assert not page.mix.isVisible()  # another synthesiser cannot mix


def test_a_name_that_is_taken_leaves_all_as_it_was(mixing, qtbot):
    page = mixing
    qtbot.keyClicks(page.mixer.name, "Heart")
    qtbot.mouseClick(page.mixer.keep, LEFT)
    page.handle(mixable(*MIXABLE))
    page.handle(api.Failed("input", "There is one already.", "Choose another name."))
    page.handle(mixable(*MIXABLE, "Other"))
    assert page.mixer.isVisible()
    assert page.mixer.name.text() == "Heart"
    assert "already" in page.notice.text()
