"""An utterance of a client: what it is fed, when it gives, and when it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InvalidInput, ModelError
from engine.serve.limits import Clock
from engine.serve.service import SAMPLE_RATE, Service, Speech, SpeechFrame
from engine.serve.voices import Copies, copies, keep
from engine.settings import Settings, SpeechSettings
from engine.tts import voices
from engine.tts.base import Voice
from tests.engine.serve.served import started
from tests.help.fakes.tts import OWN_RATE, FakeTts

TEXT = "Mary had a little lamb, its fleece was white as snow."


class HandClock:
    """Moves when somebody waits."""

    def __init__(self) -> None:
        self.at = 0.0
        self.waits: list[float] = []

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.at += seconds

    def clock(self) -> Clock:
        return Clock(now=lambda: self.at, wait=self.wait)


@asynccontextmanager
async def speaking(text: str = "", clock: Clock | None = None) -> AsyncIterator[Speech]:
    """An utterance of this text; of none, it can still be written."""
    settings = Settings(speech=SpeechSettings(pacing=False))
    async with started(clock=clock, settings=settings) as (service, _):
        speech = service.speech()
        if text:
            speech.write(text)
            speech.end()
        yield speech
        assert service.stop()


async def heard(frames: AsyncIterator[SpeechFrame]) -> np.ndarray:
    return np.concatenate([frame.pcm async for frame in frames])


@asynccontextmanager
async def with_ann(
    folder: Path, monkeypatch: pytest.MonkeyPatch, own: str = ""
) -> AsyncIterator[tuple[Service, Path]]:
    """A service that knows a voice Ann, made of ones, and the file of that."""
    monkeypatch.setenv("RUBATO_DATA", str(folder))
    path = make_ann(1).path
    settings = Settings(speech=SpeechSettings(voice=own))
    async with started(settings=settings) as (service, _):
        yield service, path


def make_ann(value: int) -> voices.SavedVoice:
    model = FakeTts().info.voice_model
    return voices.save(Voice("Ann", model, {"x": np.full(3, value, np.float32)}), voices.folder())


async def voice_of(service: Service, name: str) -> Voice:
    return await service.thread.call(lambda model: service._voices.find(model, name))


async def test_a_voice_is_gone_when_it_is_removed_and_sounds_as_it_was_made_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_ann(tmp_path, monkeypatch) as (service, path):
        await service.check_voice("ann")
        assert (await voice_of(service, "Ann")).tensors["x"][0] == 1
        path.unlink()
        with pytest.raises(InvalidInput, match="Ann"):
            await service.check_voice("Ann")
        await service.check_voice("Tone")
        for value in (2, 3):
            make_ann(value)
            assert (await voice_of(service, "Ann")).tensors["x"][0] == value


async def test_where_the_chosen_voice_is_removed_the_synthesisers_own_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_ann(tmp_path, monkeypatch, own="Ann") as (service, path):
        assert (await voice_of(service, "")).name == "Ann"
        path.unlink()
        assert (await voice_of(service, "")).name == "Tone"
        make_ann(2)
        assert (await voice_of(service, "")).name == "Ann"


async def test_text_that_comes_piece_by_piece_sounds_as_the_whole() -> None:
    async with speaking(TEXT) as speech:
        whole = await heard(speech.frames())
    async with speaking() as speech:
        sounding = asyncio.ensure_future(heard(speech.frames()))
        for at in range(0, len(TEXT), 3):
            speech.write(TEXT[at : at + 3])
            await asyncio.sleep(0)
        speech.end()
        assert np.array_equal(whole, await sounding)
    assert len(whole) > SAMPLE_RATE


async def test_a_break_is_silent_for_as_long_as_it_asks() -> None:
    lengths = []
    for text in ("Go on now.", 'Go <break time="1500ms"/> on now.'):
        async with speaking(text) as speech:
            lengths.append(len(await heard(speech.frames())))
    assert lengths[1] - lengths[0] == pytest.approx(1.5 * SAMPLE_RATE, abs=20)  # a zero is quiet


async def test_a_rate_set_while_it_speaks_holds_from_the_next_step() -> None:
    async with speaking("go " * 40) as speech:
        async for frame in speech.frames():
            if frame.at_ms > 1000:
                speech.rate = 8.0
        starts = [word.at_ms for word in speech.words]
        gaps = [later - earlier for earlier, later in pairwise(starts)]
        assert gaps[0] == 1000 / OWN_RATE
        assert gaps[-1] == 1000 / 8
        assert gaps[7] == 1000 / 8  # 1,750 ms: at most one word was under way


async def test_speech_stays_no_further_ahead_than_its_lead() -> None:
    hand = HandClock()
    async with speaking("go " * 40, hand.clock()) as speech:
        async for frame in speech.frames(lead_ms=200):
            assert frame.at_ms / 1000 <= hand.at + 0.2 + 0.001
        assert speech.given_ms / 1000 - hand.at < 0.3


async def test_a_listener_who_ran_dry_is_not_made_up_for() -> None:
    hand = HandClock()
    async with speaking("go " * 40, hand.clock()) as speech:
        frames = speech.frames(lead_ms=200)
        await anext(frames)
        hand.at += 10.0  # nobody asked for more
        before = hand.at
        async for frame in frames:
            if frame.at_ms > 1000:
                break
        assert hand.at - before > 0.5


@pytest.mark.parametrize("reads", [True, False])
async def test_of_two_that_begin_at_once_one_has_some_sound_before_the_other_does(
    reads: bool,
) -> None:
    hand = HandClock()

    async def wait(seconds: float) -> None:
        await hand.wait(0 if reads else seconds)
        await asyncio.sleep(0)

    async with started(clock=Clock(now=lambda: hand.at, wait=wait)) as (service, _):
        one, other = service.speech(), service.speech()
        for speech in (one, other):
            speech.write(TEXT)
            speech.end()
        sound, its = one.frames(), other.frames()
        await anext(sound)
        waiting = asyncio.ensure_future(anext(its))
        while reads and one.given_ms < 160:
            for _ in range(5):
                await service.voices()  # what the voice was asked for before is done
            assert not other.given_ms
            await anext(sound)
        await waiting
        assert (hand.at == 0) is reads  # who reads nothing holds others up for a moment only
        for frames in (sound, its):
            await frames.aclose()


# ------------------------------------------------- copies of voices for other machines


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copies:
    """The voices of this machine; from then on the program is on another one."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "here"))
    voices.save(Voice("Ada", "fake", {"codes": np.arange(6, dtype=np.int16)}), voices.folder())
    found = copies()
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "there"))
    return found


def test_a_machine_without_the_voice_gets_it_and_one_with_it_keeps_it(here: Copies) -> None:
    for _ in range(2):
        keep(here)
    assert copies() == here
    (found,) = voices.saved_voices(voices.folder())
    assert found.name == "Ada"


def test_another_voice_of_that_name_is_left_alone_and_told(here: Copies) -> None:
    voices.save(Voice("Ada", "fake", {"codes": np.arange(7, dtype=np.int16)}), voices.folder())
    before = copies()
    with pytest.raises(ModelError, match="different voice"):
        keep(here)
    assert copies() == before


def test_a_copy_stays_in_the_folder_of_the_voices(here: Copies) -> None:
    ((name, content),) = here.items()
    keep({f"../{name}": content})
    assert (voices.folder() / name).exists()
    assert not (voices.folder().parent / name).exists()
