"""Settings said again: nothing follows, but for the wake phrase, which may have been taught."""

from dataclasses import replace

import pytest

from engine.messages.commands import ChangeSetting
from engine.messages.events import SettingChanged
from engine.settings import AudioSettings, Settings, WakeSettings
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
