"""The engine process: sentences in the chosen voice, until the module closes the socket."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np
import pytest

from engine.names_file import add
from engine.serve.doors.speech_dispatcher.voice_process import AHEAD_S, QUIET, VoiceProcess
from engine.settings import Settings
from engine.text.names import Name
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import OWN_RATE, SAMPLE_RATE, FakeTts

REQUEST = {"voice": "", "language": "en", "rate": 4.0, "pitch": 0, "volume": 1.0}


class Waits:
    """The process's end of the socket: its waits only move a clock. `waited_s`: by each wait."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        self.now = 0.0
        self.waited_s: list[float] = []

    def poll(self, seconds: float = 0.0) -> bool:
        if found := self.inner.poll():
            return found
        self.waited_s.append(seconds)
        self.now += seconds
        return False

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


class Link:
    """The module's end of the socket, and a process on a thread."""

    def __init__(self) -> None:
        self.tts = FakeTts()
        self.settings = Settings()
        ends = socket.socketpair()
        self.end, self.inner = (Connection(each.detach()) for each in ends)
        factories = replace(FakeParts().factories(), synthesiser=lambda speech, tell: self.tts)
        self.waits = Waits(self.inner)
        process = VoiceProcess(
            self.waits,  # type: ignore[arg-type]
            lambda: self.settings,
            factories,
            lambda: self.waits.now,
        )
        self.thread = threading.Thread(target=process.run, name="voice process")
        self.thread.start()
        self.number = 0

    def ask(self, text: str, **changes: object) -> None:
        self.number += 1
        request = {**REQUEST, **changes, "text": text, "number": self.number}
        self.end.send_bytes(json.dumps(request).encode())

    def event(self) -> tuple[dict[str, object], bytes]:
        head, _, samples = self.end.recv_bytes().partition(b"\n")
        return json.loads(head), samples

    def say(
        self, text: str, **changes: object
    ) -> tuple[dict[str, object], list[dict[str, object]], bytes]:
        """Ask for a sentence; see until_end()."""
        self.ask(text, **changes)
        return self.until_end()

    def until_end(self) -> tuple[dict[str, object], list[dict[str, object]], bytes]:
        """Return the last event of the sentence, the others, and all samples."""
        events, samples = [], b""
        while True:
            fields, more = self.event()
            if fields["number"] == self.number:
                if "words" not in fields:
                    return fields, events, samples
                events.append(fields)
                samples += more

    def close(self) -> None:
        self.end.close()
        self.thread.join()
        self.inner.close()


@pytest.fixture
def link() -> Iterator[Link]:
    made = Link()
    assert made.event() == ({"highest": 8.0, "language": "en"}, b"")
    yield made
    made.close()
    assert made.tts.closed


def test_a_sentence_is_spoken_with_the_places_of_its_words(link):
    text = "Hello there (my friend), *all* is well."
    end, events, samples = link.say(text)
    assert end == {"number": 1, "ended": True}
    assert link.tts.spoken[:2] == ["Hello", "there"]
    places = [place for each in events for place, _ in each["words"]]
    assert [text[place:].split()[0] for place in places[:3]] == ["Hello", "there", "my"]
    assert {each["hertz"] for each in events} == {SAMPLE_RATE}
    assert np.abs(np.frombuffer(samples, "<i2")).max() > 5_000


def test_signs_of_markdown_and_stage_directions_are_read_as_text(link):
    link.say("# One `two` [laughs] (in a deep voice) <name> ~~three~~ | four")
    words = " ".join(link.tts.spoken).replace(",", "").replace(".", "").lower()
    assert words == "one two laughs in a deep voice name three four"


def test_speech_is_made_only_a_little_before_it_sounds(link):
    seconds = len(link.say("word " * 20)[2]) / 2 / SAMPLE_RATE
    assert seconds > 2 * AHEAD_S
    assert sum(link.waits.waited_s) == pytest.approx(seconds - AHEAD_S, abs=0.2)
    assert max(link.waits.waited_s) < 0.2  # in steps, not at the end


def test_the_silence_before_the_first_word_is_not_sent(link):
    samples = link.say("Hello there.")[2]
    link.tts.silence = SAMPLE_RATE // 3  # four frames and a part of one
    _, later, more = link.say("Hello there.")
    assert np.abs(np.frombuffer(more[:8], "<i2")).max() > QUIET * 32_767
    assert len(more) == pytest.approx(len(samples), abs=8)
    assert [place for each in later for place, _ in each["words"]] == [0, 6]


def test_names_are_said_as_the_person_taught_them(link, tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    add([Name("Xi", "she"), Name("Xi Jinping", "shee jin ping")])
    _, events, _ = link.say("Xi, Xi Jinping and Xi")
    assert link.tts.spoken == ["she,", "shee", "jin", "ping", "and", "she"]
    assert [place for event in events for place, _ in event["words"]] == [0, 4, 4, 4, 15, 19]


def test_rate_pitch_and_volume(link):
    lengths = {}
    for name, changes in {
        "usual": {}, "fast": {"rate": 8.0}, "high": {"pitch": 100}, "quiet": {"volume": 0.25},
    }.items():  # fmt: skip
        _, events, samples = link.say("Mary had a little lamb.", **changes)
        loudest = int(np.abs(np.frombuffer(samples, "<i2").astype(int)).max())
        lengths[name] = (len(samples) / 2 / events[0]["hertz"], events[0]["hertz"], loudest)
    assert lengths["fast"][0] == pytest.approx(lengths["usual"][0] / 2, rel=0.1)
    assert lengths["high"][1] == round(SAMPLE_RATE * 2**0.5)
    assert lengths["high"][0] == pytest.approx(lengths["usual"][0], rel=0.1)
    assert lengths["quiet"][2] == pytest.approx(lengths["usual"][2] / 4, rel=0.05)
    assert REQUEST["rate"] == OWN_RATE


def test_another_line_ends_the_sentence(link):
    link.ask("word " * 3_000)
    assert link.event()[0]["number"] == 1
    link.end.send_bytes(b"{}")
    assert link.say("Next one.")[0] == {"number": 2, "ended": True}
    assert len(link.tts.spoken) < 2_900


@pytest.mark.parametrize(
    ("text", "changes"), [("Hello.", {"voice": "Nobody"}), ("Привет, мир.", {})]
)
def test_what_it_cannot_speak_is_left_to_espeak(link, text, changes):
    assert link.say(text, **changes)[0] == {"number": 1, "fault": "InvalidInput"}
    assert "ended" in link.say("Hello.")[0]


def test_it_ends_when_another_voice_was_chosen_and_not_for_another_rate(link):
    link.settings = replace(link.settings, speech=replace(link.settings.speech, rate=6.0))
    link.say("Hello.")
    link.settings = replace(link.settings, speech=replace(link.settings.speech, voice="Other"))
    link.ask("Hello.")
    link.thread.join(10)
    assert not link.thread.is_alive()
