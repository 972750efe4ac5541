"""The rate table is tuned by trials; here the voice is a formula."""

from pathlib import Path

import pytest

from engine.training.judge.talkers import pack_hashes
from engine.training.voice import tuning
from engine.training.voice.tuning import KEPT, STRENGTHS, Trial, tune
from engine.tts.voxtream.rate import RateTarget

COUNTS = tuple((rate, (200 - 20 * int(rate), 1 + int(20 * rate), 1, 1, 1, 1)) for rate in
               (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0))  # fmt: skip
ROW = RateTarget(dict(COUNTS)[6.0], 9.0, 1.5)


def spoken_rate(target: RateTarget, slope: float) -> float:
    """A voice that is compressed: at no strength it speaks at 4 SPS, at any other nearer to what
    its histogram stands for.
    """
    asked = (target.counts[1] - 1) / 20
    return 4.0 + (asked - 4.0) * min(1.0, slope * target.weight)


@pytest.fixture
def compressed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Slope and words lost at the strongest pull; changed by tests."""
    nature = [0.03, 0.0]

    def trial(model: object, target: RateTarget, rate: float, texts: tuple[str, ...]) -> Trial:
        lost = nature[1] if target.weight == STRENGTHS[-1] else 0.0
        return Trial(target, spoken_rate(target, nature[0]), lost)

    monkeypatch.setattr(tuning, "_trial", trial)
    monkeypatch.setattr(tuning, "loaded_voxtream2", lambda folder: None)
    return nature


def test_the_weakest_strength_that_serves_is_taken(compressed: list[float]) -> None:
    compressed[0] = 1 / STRENGTHS[1]
    found = tune("pack", 6.0, ROW, COUNTS, ("text",))
    assert found["row"]["weight"] == STRENGTHS[1]
    assert len(found["trials"]) == 2


def test_a_compressed_voice_is_asked_for_more(compressed: list[float]) -> None:
    found = tune("pack", 6.0, ROW, COUNTS, ("text",))
    before = found["trials"][len(STRENGTHS) - 1]["rate"]
    after = min(found["trials"], key=lambda trial: abs(trial["rate"] - 6.0))["rate"]
    assert before < 5.6
    assert after == pytest.approx(6.0, abs=0.3)
    assert found["row"]["counts"] != list(ROW.counts)


def test_strength_that_costs_words_is_not_taken(compressed: list[float]) -> None:
    compressed[:] = [0.01, KEPT + 0.5]
    found = tune("pack", 6.0, ROW, COUNTS, ("text",))
    assert found["row"]["weight"] < STRENGTHS[-1]


def test_a_row_is_tuned_anew_when_the_pack_draws_or_sounds_otherwise(tmp_path: Path) -> None:
    for name in ("config.json", "voice.safetensors", "voices/ada.safetensors", "CARD.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("before")
    seen = {pack_hashes(tmp_path)}
    for name in ("config.json", "voices/ada.safetensors", "voice.safetensors"):
        (tmp_path / name).write_text("after")
        seen.add(pack_hashes(tmp_path))
    assert len(seen) == 4
    (tmp_path / "CARD.md").write_text("after")
    assert pack_hashes(tmp_path) in seen
