"""The protocol of speech-dispatcher's modules, with a voice process and an espeak of the tests."""

import random
import time
from collections.abc import Iterator

import pytest

from engine.names_file import add
from engine.serve.doors.speech_dispatcher import module
from engine.serve.doors.speech_dispatcher.links import LARGEST_LINE
from engine.serve.doors.speech_dispatcher.message import Style, is_label
from engine.text.names import Name
from tests.engine.serve.doors.speech_dispatcher.daemon import (
    FORMANT_RATE,
    SENTENCE,
    VOICE_RATE,
    Heard,
    Machine,
    machine,
)


@pytest.fixture
def room() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def loaded(room: Machine) -> Machine:
    room.load()
    return room


def test_a_sentence_waits_for_no_voice_espeak_speaks_until_it_is_loaded(room):
    assert room.daemon.speak(SENTENCE).rate == FORMANT_RATE
    room.load()
    heard = room.daemon.speak(SENTENCE)
    assert (heard.rate, heard.end, heard.bad_samples) == (VOICE_RATE, "702 END", 0)
    assert heard.samples == len(SENTENCE.split()) * VOICE_RATE * 80 // 1000


@pytest.mark.parametrize(
    ("command", "text"),
    [("KEY", "a"), ("KEY", "shift_a"), ("CHAR", "é"), ("CHAR", "space"), ("SPEAK", "File menu")],
)
def test_espeak_speaks_keys_characters_and_labels(loaded, command, text):
    heard = loaded.daemon.speak(text, command)
    assert (heard.rate, heard.end, heard.bad_samples) == (FORMANT_RATE, "702 END", 0)


def test_espeak_says_names_as_the_person_taught_them(loaded, tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    add([Name("Xi", "she")])
    loaded.daemon.speak("Xi button")
    loaded.daemon.tell("SET", "spelling_mode=on")
    loaded.daemon.speak("Xi button")
    assert [message.text for message, _ in loaded.formant.spoken] == ["she button", "Xi button"]


def test_a_character_is_spelt_and_a_key_is_named(loaded):
    for command, text in (("CHAR", "a"), ("KEY", "A"), ("KEY", "shift_a"), ("CHAR", "space")):
        loaded.daemon.speak(text, command)
    spoken = [(message.text, message.spelt) for message, _ in loaded.formant.spoken]
    assert spoken == [("a", True), ("A", True), ("shift a", False), (" ", True)]


def test_espeak_speaks_what_the_voice_cannot(loaded):
    cases = {
        "rate=100": SENTENCE,  # twelve syllables a second
        "punctuation_mode=all": SENTENCE,
        "cap_let_recogn=spell": SENTENCE,
        "spelling_mode=on": SENTENCE,
        "language=de-DE": SENTENCE,
        "synthesis_voice=Deutsch": SENTENCE,
        "rate=0": f'<speak>{SENTENCE} <say-as interpret-as="characters">abc</say-as></speak>',
    }
    usual = ("rate=0", "punctuation_mode=none", "cap_let_recogn=none", "spelling_mode=off")
    usual += ("language=en-US", "synthesis_voice=NULL")
    for setting, text in cases.items():
        loaded.daemon.tell("SET", *usual)
        assert loaded.daemon.speak(SENTENCE).rate == VOICE_RATE
        loaded.daemon.tell("SET", setting)
        assert loaded.daemon.speak(text).rate == FORMANT_RATE, setting


def test_a_voice_of_the_language_and_a_named_one_speak(loaded):
    for settings in (["language=fr-FR"], ["language=de", "synthesis_voice=Sylvie"]):
        loaded.daemon.tell("SET", *settings)
        assert loaded.daemon.speak(SENTENCE).rate == FORMANT_RATE  # it is getting ready
        loaded.load()
        assert loaded.daemon.speak(SENTENCE).rate == VOICE_RATE


@pytest.mark.parametrize("trouble", ["late", "stalled", "fault", "crash"])
def test_espeak_goes_on_from_the_last_word_when_the_voice_does_not(loaded, trouble, monkeypatch):
    monkeypatch.setattr(module, "LATE_S", 0.05)
    monkeypatch.setattr(module, "STALLED_S", 0.05)
    begin = "" if trouble == "late" else "One two <mark name='x'/>three "
    instruction = trouble.replace("stalled", "late")
    heard = loaded.daemon.speak(f"{begin}{instruction} <mark name='y'/>four five six.")
    spoken = " ".join(message.text for message, _ in loaded.formant.spoken)
    assert spoken.split()[0] == ("three" if begin else "late")
    assert spoken.endswith("four five six.")
    assert (heard.end, [name for name, _ in heard.marks]) == ("702 END", ["x", "y"][not begin :])


def test_the_voice_process_is_started_again_only_after_a_while_when_it_has_ended(loaded):
    loaded.daemon.speak("This is the end of it: crash")
    assert loaded.sentences.descriptor is None
    assert loaded.daemon.speak(SENTENCE).rate == FORMANT_RATE
    assert loaded.sentences.descriptor is None


def test_the_voice_process_is_started_again_at_once_for_other_settings(loaded):
    loaded.daemon.speak("Another voice was chosen and changed")
    loaded.load()


def test_without_voices_of_its_own_there_is_no_voice_process():
    with machine({}) as room:
        room.daemon.speak(SENTENCE)
        assert room.sentences.descriptor is None


def test_marks_stand_in_front_of_the_words_they_are_before(loaded):
    text = "<mark name='0'/>A <mark name='1'/>bee sees <mark name='2'/>my tea.<mark name='3'/>"
    frame = VOICE_RATE * 80 // 1000
    marks = [("0", 0), ("1", frame), ("2", 3 * frame), ("3", 5 * frame)]
    assert loaded.daemon.speak(text).marks == marks


@pytest.mark.parametrize("kind", ["espeak", "voice"])
def test_a_pause_waits_for_the_next_mark_of_the_daemon(loaded, kind):
    if kind == "espeak":
        loaded.daemon.tell("SET", "rate=100")
    more = " and some more words" * 100
    text = f"<speak>One two <mark name='own'/>three{more}.<mark name='__spd_0'/>{more}</speak>"
    loaded.daemon.begin(text)
    heard = loaded.daemon.until_end(stop_after=1, stop="PAUSE\n")
    assert (heard.end, heard.marks[-1][0]) == ("704 PAUSE", "__spd_0")
    assert loaded.daemon.speak(SENTENCE).end == "702 END"


def test_a_pause_without_a_mark_ends_behind_the_text_with_one(loaded):
    loaded.daemon.begin("One two three four five six." * 20)
    heard = loaded.daemon.until_end(stop_after=1, stop="PAUSE\n")
    assert (heard.end, heard.marks[-1][0]) == ("704 PAUSE", "__spd_1000000")


def test_pitch_volume_and_rate_reach_the_voice(loaded, monkeypatch):
    asked = []
    ask = loaded.sentences.ask
    monkeypatch.setattr(
        loaded.sentences, "ask", lambda request: asked.append(request) or ask(request)
    )
    loaded.daemon.tell("SET", "rate=-100", "pitch=50", "volume=0")
    loaded.daemon.speak(SENTENCE)
    how = {"voice": "", "language": "en", "rate": 80 / 37, "pitch": 50, "volume": 0.5}
    assert asked[0] == {"text": SENTENCE, **how}


def test_a_cancel_ends_a_message_at_once_and_a_late_one_changes_nothing(loaded):
    long = "word " * 2_000 + "end."
    for setting in ("rate=0", "rate=100"):  # voice, espeak
        loaded.daemon.tell("SET", setting)
        loaded.daemon.begin(long)
        heard = loaded.daemon.until_end(stop_after=1)
        assert heard.end == "703 STOP"
        assert heard.samples < 3 * VOICE_RATE  # what the pipe holds, not 160 s
    loaded.daemon.send("STOP\nPAUSE\n")
    assert loaded.daemon.speak(SENTENCE).end == "702 END"


def cancel_often(room: Machine, times: int) -> None:
    """Speak and cancel at random moments; each message ends once, and none is lost."""
    chance = random.Random(58)
    ssml = "<speak>a <mark name='1'/>b. c</speak>"
    texts = (SENTENCE, SENTENCE * 20, "File menu", ssml, "x. " * 99)
    ends = {"702 END": 0, "703 STOP": 0, "704 PAUSE": 0}
    for _ in range(times):
        kind = chance.choice(("SPEAK", "SPEAK", "SPEAK", "CHAR", "KEY"))
        room.daemon.begin(chance.choice(texts) if kind == "SPEAK" else "a", kind)
        stop = chance.choice(("STOP\n", "STOP\n", "STOP\nSTOP\n", "PAUSE\nSTOP\n"))
        after = chance.choice((None, 0, 1, 3_000, 10_000))
        if after == 0:
            room.daemon.send(stop)
            after = None
        ends[room.daemon.until_end(stop_after=after, stop=stop).end] += 1
        assert ends["704 PAUSE"] == 0
    assert min(ends["702 END"], ends["703 STOP"]) > times / 10
    assert room.daemon.speak(SENTENCE) == Heard("702 END", 8 * 1920, VOICE_RATE)


def test_an_end_does_not_come_while_the_daemon_still_stops_the_message_before(loaded):
    for text, stop in ((SENTENCE, "STOP\n"), ("OK", "")):
        loaded.daemon.begin(text)
        begun = time.monotonic()
        loaded.daemon.send(stop)
        loaded.daemon.until_end()
        assert time.monotonic() - begun > module.SETTLE_S / 2


@pytest.mark.parametrize("times", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_random_cancels_lose_no_message(loaded, monkeypatch, times):
    monkeypatch.setattr(module, "SETTLE_S", 0.0)
    cancel_often(loaded, times)


def test_the_window_waits_while_it_speaks_and_not_behind_a_cancel(loaded):
    loaded.daemon.begin("word " * 200 + ".")
    loaded.daemon.until_end(stop_after=1)
    assert loaded.daemon.ask("LIST VOICES xx") == ["304 CANT LIST VOICES"]
    for _ in range(500):
        if not loaded.priority.is_held:
            break
        time.sleep(0.01)
    assert not loaded.priority.is_held
    loaded.daemon.speak("a b c")
    assert loaded.priority.is_held  # the daemon still plays it


def test_voices_are_listed_all_or_of_a_language(room):
    everything = room.daemon.ask("LIST VOICES")
    assert everything[-1] == "200 OK VOICE LIST SENT"
    assert {"200-Heart\ten\tnone", "200-English (America)\ten-us\tnone"} <= set(everything)
    assert room.daemon.ask("LIST VOICES fr") == ["200-Sylvie\tfr\tnone", "200 OK VOICE LIST SENT"]
    assert room.daemon.ask("LIST VOICES xx") == ["304 CANT LIST VOICES"]


def test_other_commands_are_answered_as_the_protocol_says(room):
    daemon = room.daemon
    assert daemon.tell("LOGLEVEL", "log_level=3") == "203 OK LOGLEVEL SET"
    assert daemon.tell("AUDIO", "audio_output_method=oss").startswith("303")
    assert daemon.tell("SET", "nonsense") == "302 ERROR BAD SYNTAX"
    assert daemon.tell("SET", "unheard_of=1", "rate=fast") == "203 OK SETTINGS RECEIVED"
    assert daemon.tell("SPEAK") == "301 ERROR CANT SPEAK"
    assert daemon.ask("DEBUG ON /tmp/x") == ["200 OK DEBUGGING ON"]
    assert daemon.ask("SING") == ["300 ERR UNKNOWN COMMAND"]
    assert daemon.speak("..").end == "702 END"
    assert [message.text for message, _ in room.formant.spoken] == ["."]  # its dot was doubled
    assert daemon.ask("QUIT") == ["210 OK QUIT"]


def test_quit_ends_a_running_message(room):
    room.daemon.begin("word " * 5_000)
    room.daemon.send("QUIT\n")
    while (lines := room.daemon.reply())[0][:3] == b"705":
        pass
    assert lines == [b"210 OK QUIT\n"]


@pytest.mark.parametrize(
    "hostile",
    [
        b"\xff\xfe\x00\x01\xc3\x28" * 5_000,
        b"<" * 200_000,
        b"<a " * 60_000,
        b"<speak>" * 40_000 + b"deep" + b"</speak>" * 40_000,
        b'<say-as interpret-as="' * 9_000,
        b"<mark name='" + b"m" * 90_000 + b"'/>a.",
        b"&amp;&#x110000;&#0;&bogus;&#55555555555555555555;" * 900,
        b"<mark name='a\r\x00b'/>" * 3_000,
        b"word " * 200_000,
        b"\n".join([b"line"] * 60_000),
        b"..\n.x\n...",
        b"<![CDATA[ ]]> <?xml <!-- never closed",
    ],
    ids=range(12),
)
def test_no_text_breaks_the_session(loaded, hostile):
    loaded.daemon.ask("SPEAK")
    loaded.daemon.send(hostile + b"\n.\n")
    answer = loaded.daemon.reply()
    if answer != [b"301 ERROR CANT SPEAK\n"]:
        assert answer == [b"200 OK SPEAKING\n"]
        assert loaded.daemon.reply() == [b"701 BEGIN\n"]
        assert loaded.daemon.until_end(stop_after=1).end in ("703 STOP", "702 END")
    assert loaded.daemon.speak(SENTENCE).end == "702 END"


def test_a_line_without_an_end_costs_no_memory(room):
    for _ in range(200):
        room.daemon.send(b"x" * 60_000)
    assert len(room.streams._buffer) < 2 * LARGEST_LINE
    assert room.daemon.ask("\n" + "LIST VOICES fr")[0] == "300 ERR UNKNOWN COMMAND"
    assert room.daemon.reply()[0] == b"200-Sylvie\tfr\tnone\n"


def test_the_module_ends_when_the_daemon_has_gone_in_the_middle_of_a_message(loaded):
    loaded.daemon.begin("word " * 5_000)
    loaded.daemon.end()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OK", True),
        ("Save as push button.", True),
        ("Yes.", True),
        ("one two three four five", False),
        ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", False),
    ],
)
def test_a_label_is_short(text, expected):
    assert is_label(text) is expected


def test_a_setting_outside_its_range_is_taken_as_the_nearest():
    style = Style().changed({"rate": "-500", "pitch": "7", "volume": "x", "language": "NULL"})
    assert style == Style(language="", rate=-100, pitch=7)
    assert [Style(rate=rate).words_per_minute for rate in (-100, 0, 100)] == [80, 175, 450]
