"""`rubato say` shows how far a long text is, and nothing of a short one."""

from collections.abc import Callable

import pytest

from app.__main__ import main
from engine import api
from engine.api import Manner, Settings


@pytest.mark.parametrize(
    ("words", "voice"),
    [
        ((), None),  # the chosen one
        (("--engine", "espeak"), None),
        (("--engine", "starter"), ""),  # which has no Belinda
        (("--engine", "starter", "--voice", "Anton"), "Anton"),
    ],
)
def test_another_synthesiser_is_not_asked_for_the_voice_of_the_chosen_one(
    words, voice, tmp_path, monkeypatch
):
    asked: list[str | None] = []

    def say(text: str, settings: Settings, manner: Manner, show: Callable[[float], None]) -> None:
        asked.append(manner.voice)
        raise KeyboardInterrupt

    chosen = '[speech]\nengine = "espeak"\nvoice = "Belinda"\n'
    (tmp_path / "settings.toml").write_text(chosen, encoding="utf-8")
    monkeypatch.setattr(api, "say", say)
    assert main(["say", "hello", *words]) == 130
    assert asked == [voice]
