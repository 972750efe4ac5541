"""A text is spoken and measured on a clock that only the test moves."""

import errno
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from engine.audio.base import Pcm
from engine.errors import DeviceError, InvalidInput, ModelError
from engine.runtime.factories import Factories
from engine.runtime.headless import say_command
from engine.runtime.headless.offline_synthesis import (
    MOST_CHARACTERS,
    OfflineSynthesis,
    SpeechRequest,
    constant,
    parse,
)
from engine.runtime.headless.say_command import collect, play, say, write_wav
from engine.settings import SayOptions, Settings, SpeechSettings
from engine.text.speakable import LEFT_OUT
from engine.translatable import Progress
from engine.tts.base import LANGUAGE, TtsModel, Voice
from tests.engine.runtime.by_hand import HandClock
from tests.help.fakes.parts import RATE, FakeParts, HandLoudspeaker
from tests.help.fakes.tts import SAMPLE_RATE, FakeTts


def factories(model: TtsModel) -> Factories:
    return replace(FakeParts().factories(), synthesiser=lambda settings, progress: model)


def speech(**changes: Any) -> Settings:
    return Settings(speech=SpeechSettings(engine="fake", **changes))


def test_a_text_becomes_a_wav_and_a_report_by_the_settings_unless_something_else_is_asked(tmp_path):
    model, out = FakeTts(), tmp_path / "out.wav"
    report = say(
        "Go on now to it all.", speech(rate=2.0), SayOptions(out=out), factories=factories(model)
    )
    pcm, sample_rate = soundfile.read(out)
    assert sample_rate == SAMPLE_RATE
    assert len(pcm) / sample_rate == report.audio_s == 3.0
    assert {point.target for point in report.rate} == {2.0}
    assert np.abs(pcm).max() > 0.2
    assert model.closed
    assert list(tmp_path.iterdir()) == [out]
    options = SayOptions(rate_plan="0:own", out=out)
    spoken = say("Go on now to it all.", speech(rate=2.0), options, factories=factories(FakeTts()))
    assert spoken.audio_s == 1.5


def test_an_unknown_voice_is_refused_and_the_model_released(tmp_path):
    model = FakeTts()
    with pytest.raises(InvalidInput, match="Nobody"):
        say(
            "Go.",
            speech(),
            SayOptions(voice="Nobody", out=tmp_path / "o.wav"),
            factories=factories(model),
        )
    assert model.closed


def test_what_is_cancelled_leaves_no_file_and_releases_the_model(tmp_path):
    model = FakeTts()

    def cancel(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        say("go " * 500, speech(), SayOptions(out=tmp_path / "o.wav"), cancel, factories(model))
    assert list(tmp_path.iterdir()) == []
    assert 200 < len(model.spoken) < 400
    assert model.closed


def test_a_full_disk_keeps_the_old_file_and_leaves_no_rubbish(tmp_path, monkeypatch):
    out = tmp_path / "out.wav"
    out.write_bytes(b"old")

    def full(file: soundfile.SoundFile, pcm: Pcm) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(say_command.soundfile.SoundFile, "write", full)
    with pytest.raises(InvalidInput, match="No space left"):
        write_wav(out, [np.zeros(10, np.float32)], RATE)
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]


def test_samples_beyond_full_scale_are_clipped_and_the_file_says_that_they_are_synthetic(tmp_path):
    out = tmp_path / "out.wav"
    write_wav(out, [np.array([2.0], np.float32), np.array([-2.0, 0.5], np.float32)], RATE)
    with soundfile.SoundFile(out) as file:
        assert file.read() == pytest.approx([1.0, -1.0, 0.5], abs=1e-4)
        assert file.comment == "Synthetic speech, made by Rubato"


@pytest.mark.parametrize("stands_still", [False, True])
def test_an_offline_synthesis_is_heard_whole_and_never_far_ahead_of_the_ear(*, stands_still):
    loudspeaker = HandLoudspeaker()
    hand = HandClock(None if stands_still else loudspeaker)
    clock = hand.clock
    synthesis = OfflineSynthesis(FakeTts(), SpeechRequest("go " * 12, FakeTts().voices()[0]), clock)
    match = "does not play any sound"
    told = pytest.raises(DeviceError, match=match) if stands_still else nullcontext()
    with told:
        play(synthesis, loudspeaker, sample_rate=SAMPLE_RATE, lead_ms=240, clock=clock)
    assert loudspeaker.samples_played == (0 if stands_still else 3 * RATE)
    assert loudspeaker.underruns == 0
    assert max(hand.leads) < (0.24 + 0.09) * RATE


@pytest.mark.parametrize("delay_s", [0.3, 0.8, 2.0])
def test_speech_neither_stops_nor_goes_on_with_a_step_while_words_are_missing(delay_s):
    loudspeaker = HandLoudspeaker()
    hand = HandClock(loudspeaker)
    request = SpeechRequest("Go on now to it all.", TONE, seed=0, word_delay_s=delay_s)  # 200 Hz
    one = OfflineSynthesis(FakeTts(), request, hand.clock)
    play(one, loudspeaker, sample_rate=SAMPLE_RATE, lead_ms=240, clock=hand.clock)
    own = 0.25 * 2 * np.pi * 200 / RATE  # of the tone
    assert np.abs(np.diff(loudspeaker.heard_with_gaps)).max() < own + 0.02
    assert loudspeaker.underruns == 0
    assert loudspeaker.samples_played == round(one.report().audio_s * RATE)  # each sample once


def test_aloud_the_loudspeaker_of_the_settings_is_used_and_closed():
    parts = FakeParts()
    loudspeaker = parts.loudspeakers[""]
    loudspeaker.gone = True
    model = FakeTts()
    real = replace(parts.factories(), synthesiser=lambda settings, progress: model)
    with pytest.raises(DeviceError, match="gone"):
        say("Go on now.", speech(), SayOptions(), factories=real)
    assert loudspeaker.closed
    assert model.closed


@pytest.mark.parametrize("engine", [SpeechSettings().engine, "voxtream2"])
def test_the_formant_voice_stands_in_for_the_default_alone(engine, tmp_path, caplog):
    out = tmp_path / "said.wav"

    def synthesiser(settings: SpeechSettings, progress: Progress) -> TtsModel:
        if settings.engine != "espeak":
            raise ModelError("The pack is missing.", hint="Install it.")
        return FakeTts()

    there = replace(FakeParts().factories(), synthesiser=synthesiser)
    settings = Settings(speech=SpeechSettings(engine=engine))
    if engine == "voxtream2":  # asked for by name
        with pytest.raises(ModelError, match="missing"):
            say("Go.", settings, SayOptions(out=out), factories=there)
    else:
        assert say("Go.", settings, SayOptions(out=out), factories=there).engine == "fake"
        assert "The pack is missing. Install it. Until then espeak speaks." in caplog.text


TONE = Voice("Tone", "fake")


@pytest.mark.parametrize(
    ("text", "more_s"),
    [
        ('<break time="1s"/> Go on now.', 1.0),
        ('Go <break time="1s"/> on now.', 1.0),
        ("Go on now. [pause:2s]", 0.0),
        ('Go <break time="1m"/> on <break time="99s"/> now.', 6.0),
    ],
)
def test_a_break_lasts_as_long_as_it_asks_up_to_five_seconds(text, more_s):
    plain = collect(synthesis("Go on now.", HandClock()))
    assert len(collect(synthesis(text, HandClock()))) == len(plain) + more_s * SAMPLE_RATE


def synthesis(
    text: str, hand: HandClock, *, plan: str | None = None, delay_s: float = 0.0
) -> OfflineSynthesis:
    plans = constant(None) if plan is None else parse(plan)
    request = SpeechRequest(text, TONE, plans, seed=1, word_delay_s=delay_s)
    return OfflineSynthesis(FakeTts(hand.speak), request, hand.clock)


def test_every_word_is_reported_where_it_is_and_how_long_it_took():
    hand = HandClock(word_cost_s=0.05)
    one = synthesis("Go on now.", hand, delay_s=1.0)
    pcm = collect(one)
    report = one.report()
    assert [word.text for word in report.words] == ["Go", "on", "now."]
    assert [word.start_s for word in report.words] == [0.0, 0.25, 0.5]
    assert [word.end_s for word in report.words] == [0.25, 0.5, 0.75]
    assert report.audio_s == len(pcm) / SAMPLE_RATE == 0.75
    assert report.first_packet_ms == pytest.approx(1050)  # the fake waits for a second word
    assert report.rtf == pytest.approx(3 * 0.05 / 0.75, abs=1e-4)  # of computing alone
    assert hand.leads
    np.testing.assert_array_equal(pcm, collect(synthesis("Go on now.", HandClock())))


@pytest.mark.parametrize(("pacing", "lowest"), [(True, 3.0), (False, 4.0)])
def test_figures_are_recited_slower_where_pacing_is_on(*, pacing, lowest):
    request = SpeechRequest(
        "Now dial 555-1234 and go on.", TONE, constant(4.0), seed=1, pacing=pacing
    )
    one = OfflineSynthesis(FakeTts(), request, HandClock().clock)
    collect(one)
    report = one.report()
    spans = {word.text: word.end_s - word.start_s for word in report.words}
    assert spans["four"] == pytest.approx(1 / lowest, abs=0.01)
    assert spans["Now"] == pytest.approx(1 / 4.0)
    assert min(point.target or 0.0 for point in report.rate) == pytest.approx(lowest)


def test_a_text_or_a_part_that_no_voice_can_say_is_told(caplog):
    with pytest.raises(InvalidInput) as refused:
        synthesis("Привет, как дела?", HandClock())
    assert refused.value.hint == LEFT_OUT
    collect(synthesis("The word 你好 means hello.", HandClock()))
    assert caplog.messages == [LEFT_OUT]


def test_how_much_was_spoken_is_shown_to_the_end():
    shares: list[float] = []
    request = SpeechRequest("<slow>Go on</slow> and on and on, please.", TONE)
    collect(OfflineSynthesis(FakeTts(), request, HandClock().clock, shares.append))
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert 0.7 < shares[-1] <= 1.0


def test_a_long_text_is_begun_long_before_all_of_it_was_read_and_one_without_end_refused():
    one = synthesis("go " * 5000, HandClock())
    next(one.frames())
    assert len(one._words) < 100
    with pytest.raises(InvalidInput, match="200001 characters"):
        synthesis("x" * (MOST_CHARACTERS + 1), HandClock())


def test_a_plan_changes_at_its_times():
    plan = parse(".5:2, 3:6,8.5:own")
    times = (0.4, 0.5, 2.99, 3.0, 8.4, 8.5, 100.0)
    assert [plan.at(t) for t in times] == [None, 2.0, 2.0, 6.0, 6.0, None, None]
    for rate in (4.5, None):
        assert constant(rate).at(0.0) == constant(rate).at(1e6) == rate


NO_PLANS = (
    *("", "3", "0:", ":3", "0:x", "x:3", "0:2,,", "0:2;3:6"),
    *("0:0.5", "0:14", "0:nan", "nan:3", "inf:3", "-1:3"),
    *("0:2,0:3", "3:2,1:4"),
)


@pytest.mark.parametrize("text", NO_PLANS)
def test_what_is_no_plan_is_refused_with_an_example(text):
    with pytest.raises(InvalidInput) as failure:
        parse(text)
    assert "0:2,3:6" in failure.value.hint


@pytest.mark.parametrize("rate", [-3.0, 1e-05, 14.0, 1e16])
def test_a_rate_that_no_voice_speaks_is_refused_with_the_range(rate):
    with pytest.raises(InvalidInput, match="from 1 to 13"):
        parse(f"0:{rate}")


@given(st.text(max_size=30))
def test_no_text_breaks_the_parser(text):
    try:
        plan = parse(text)
    except InvalidInput:
        return
    assert plan.steps


class Bilingual(FakeTts):
    """Its first voice speaks English, Dora Spanish."""

    def voices(self) -> tuple[Voice, ...]:
        (first, *_) = super().voices()
        return (first, replace(first, name="Dora", metadata={LANGUAGE: "es"}))

    def open(self, voice: Voice, *, seed: int):
        self.spoke = voice.name
        return super().open(voice, seed=seed)


@pytest.mark.parametrize(
    ("text", "voice", "language", "spoke"),
    [
        ("Hola, ¿qué tal estás?", None, None, "Dora"),
        ("Good morning to you all.", None, None, ""),
        ("Good morning to you all.", None, "es", "Dora"),
        ("Good morning to you all.", "Dora", None, "Dora"),
        ("Hola, ¿qué tal estás?", None, "en", ""),
    ],
)
def test_a_text_is_spoken_in_its_language_unless_one_is_chosen(
    text, voice, language, spoke, tmp_path
):
    model = Bilingual()
    options = SayOptions(voice, out=tmp_path / "said.wav", language=language)
    say(text, speech(), options, factories=factories(model))
    assert model.spoke == (spoke or model.voices()[0].name)


def test_a_language_that_no_voice_speaks_is_refused(tmp_path):
    options = SayOptions(out=tmp_path / "said.wav", language="it")
    with pytest.raises(InvalidInput, match="Italiano"):
        say("Buongiorno.", speech(), options, factories=factories(Bilingual()))
