"""`rubato say` from the command line to the WAV, with the real voice."""

import numpy as np
import pytest

from app.__main__ import main
from engine.text.syllables import count
from tests.end_to_end.ear import Ear, as_spoken, between, recording, syllables_per_second
from tests.end_to_end.program import own_environment, rubato
from tests.help.fakes.parts import FORMANT

# Open syllables: each is one hill of loudness, so they can be counted in the recording.
PLAIN = "the banana potato tomato and the buttered pecan cookie they did bake today " * 4
SENTENCES = (
    "It's 3:45 PM.",
    "It's 3:35 PM.",
    "10 miles is about 16.09 kilometres.",
    "10 miles is about 60.09 kilometres.",
    "Timer set for 2 minutes.",
    "Timer set for 10 minutes.",
    "Speaking slower.",
    "Speaking faster.",
    "I didn't catch that.",
)


def test_a_rate_plan_is_heard_in_the_recording(tmp_path):
    out = tmp_path / "said.wav"
    said = rubato(tmp_path, "say", PLAIN, "--rate-plan", "0:2.5,8:5", "--out", out, "--json").json
    pcm, rate = recording(out)
    for start_s, end_s, target in ((1.0, 7.5, 2.5), (9.0, 14.0, 5.0)):
        words = [w for w in said["words"] if start_s <= w["start_s"] and w["end_s"] <= end_s]
        printed_s = words[-1]["end_s"] - words[0]["start_s"]
        syllables = sum(count(word["text"]) for word in words)
        assert syllables / printed_s == pytest.approx(target, rel=0.12)
        heard = syllables_per_second(between(pcm, rate, start_s, end_s), rate)
        assert heard == pytest.approx(target, rel=0.12)
    shown = {point["target"]: point["measured"] for point in said["rate"]}  # the last of each
    assert shown == pytest.approx({2.5: 2.5, 5.0: 5.0}, rel=0.15)


def test_the_measurements_have_the_promised_keys(tmp_path):
    out = tmp_path / "said.wav"
    said = rubato(tmp_path, "say", "Hello there.", "--out", out, "--json").json
    assert " ".join(said) == "engine device first_packet_ms rtf audio_s underruns words rate"
    assert [list(word) for word in said["words"]] == [["text", "start_s", "end_s"]] * 2
    assert all(list(point) == ["t", "target", "measured"] for point in said["rate"])
    assert (said["engine"], said["underruns"]) == ("espeak", 0)
    pcm, rate = recording(out)
    assert len(pcm) / rate == pytest.approx(said["audio_s"], abs=0.002)


def test_the_same_seed_gives_the_same_file(tmp_path):
    plan = ("--rate-plan", "0:3,1:own,2:6", "--seed", "11")
    text = "It is 25 past 10; the parcel weighs 3.5 kg, I think."
    first, second = tmp_path / "first.wav", tmp_path / "second.wav"
    rubato(tmp_path, "say", text, *plan, "--out", first)
    rubato(tmp_path, "say", "-", *plan, "--out", second, "--word-delay", "20", stdin=text)
    assert first.read_bytes() == second.read_bytes()


def test_what_is_said_can_be_understood(tmp_path):
    """Also the proof that the tests' ear hears the difference between replies."""
    from engine.api import SayOptions, say

    ear = Ear(map(as_spoken, SENTENCES))
    heard = {}
    for sentence in SENTENCES:
        said = tmp_path / "said.wav"
        say(sentence, FORMANT, SayOptions(out=said))
        heard[sentence] = ear.hear(*recording(said))
    assert heard == {sentence: as_spoken(sentence) for sentence in SENTENCES}


def test_the_ear_hears_nothing_in_noise():
    noise = np.random.default_rng(1).normal(0, 0.05, 32_000).astype(np.float32)
    assert Ear(map(as_spoken, SENTENCES)).hear(noise, 16_000) == ""


BAD = {
    "nothing to say": (["say", "", "--out", "{out}"], "nothing to say"),
    "rate of 99": (
        ["say", "hi", "--rate", "99", "--out", "{out}"],
        "from 1 to 13 syllables per second, not 99",
    ),
    "plan without times": (["say", "hi", "--rate-plan", "5", "--out", "{out}"], "rate plan"),
    "endless pauses": (["say", "hi", "--word-delay", "1e9", "--out", "{out}"], "delay"),
    "seed below zero": (["say", "hi", "--seed", "-1", "--out", "{out}"], "speech.seed"),
    "another format": (["say", "hi", "--out", "{folder}/said.mp3"], "not as '.mp3'"),
    "no such folder": (["say", "hi", "--out", "{folder}/none/said.wav"], "cannot be written"),
    "a folder for a file": (["say", "hi", "--out", "{folder}"], "it is a folder"),
    "no such voice": (["say", "hi", "--voice", "Nobody", "--out", "{out}"], "called 'Nobody'"),
    "voice from a text": (["say", "hi", "--voice", "{text}", "--out", "{out}"], "not sound"),
    "no such engine": (["say", "hi", "--engine", "theremin", "--out", "{out}"], "'theremin'"),
    "question from a text": (["converse", "--mic", "{text}", "--speaker", "{out}"], "not sound"),
    "demo to nowhere": (["demo", "--out", "{text}/folder"], "cannot be made"),
    "no such model": (["models", "get", "everything"], "no model called"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input_gives_a_sentence_and_no_file(bad, tmp_path, monkeypatch, capsys):
    for name, value in own_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    text = tmp_path / "letter.txt"
    text.write_text("Dear all,\n")
    out = tmp_path / "out.wav"
    given, sentence = BAD[bad]
    status = main([each.format(out=out, folder=tmp_path, text=text) for each in given])
    printed = capsys.readouterr()
    assert status == 1
    assert printed.err.startswith("rubato: ")
    assert sentence in printed.err
    assert printed.out == ""
    assert not out.exists()
