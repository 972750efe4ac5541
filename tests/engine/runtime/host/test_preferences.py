"""Settings said again: nothing follows, but for the wake phrase, which may have been taught."""

from dataclasses import replace

import pytest

from engine.messages.commands import ChangeSetting
from engine.messages.events import SettingChanged
from engine.settings import AudioSettings, Settings, SpeechSettings, WakeSettings
from tests.engine.runtime.test_conductor import hosting
from tests.fakes import FakeParts, FakeSpotter

PHRASE = "hey rubato"


@pytest.mark.parametrize("phrase", [PHRASE, "good evening zaphod"])
def test_a_phrase_is_listened_for_anew_also_when_it_is_the_same(phrase: str) -> None:
    made: list[str] = []

    class Parts(FakeParts):
        def factories(self):
            return replace(super().factories(), spotter=self._spotter)

        def _spotter(self, settings: WakeSettings) -> FakeSpotter:
            made.append(settings.phrase)
            return self.spotter

    settings = Settings(audio=AudioSettings(hands_free=False), wake=WakeSettings(True, PHRASE))
    with hosting(Parts(), settings) as host:
        host.wait(lambda: len(made) == 1)
        host.engine.post(ChangeSetting("wake.phrase", phrase))
        host.wait(lambda: len(made) == 2)
        told = [event.value for event in host.of(SettingChanged)]
        assert told == ([] if phrase == PHRASE else [phrase])
    assert made == [PHRASE, phrase]


@pytest.mark.parametrize("rate", [5.0, 3.0, 99.0])  # another one, the same, and none at all
def test_a_change_that_says_its_origin_is_answered_with_it_whatever_came_of_it(rate: float) -> None:
    with hosting(FakeParts(), Settings(speech=SpeechSettings(rate=3.0))) as host:
        host.engine.post(ChangeSetting("speech.rate", rate, origin=7))
        host.wait(lambda: bool(host.of(SettingChanged)))
        in_force = 5.0 if rate == 5.0 else 3.0
        assert host.of(SettingChanged) == [SettingChanged("speech.rate", in_force, origin=7)]
