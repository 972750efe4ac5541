"""The rate table: what the corpus does at each rate, with rows it lacks lent by neighbours, then
what the voice says at each rate when it is tuned.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.codec.mimi import FRAME_SAMPLES
from engine.training.evaluation.voices import depends_on, syllables_of
from engine.training.voxtream.data import VoxtreamUtterance, token_spans, walk
from engine.training.voxtream.export import COUNTS as ROW
from engine.training.voxtream.export import invert, measured_counts, measured_rates, tuning_texts
from engine.tts.voxtream.config import DURATION_TOKENS, GENERATION
from engine.tts.voxtream.rate import RateTarget
from engine.tts.voxtream.script import AlignmentCursor

ASKED = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
COUNTS = {rate: (200 - 20 * int(rate), 1 + int(20 * rate), 1, 1, 1, 1) for rate in ASKED}
TABLE = {rate: RateTarget(COUNTS[rate], 8.0, 1.5) for rate in ASKED[1:-1]}


def spoken(token: int, syllable_every: int, frames: int = 76) -> VoxtreamUtterance:
    """An utterance of one duration token, after a first step onto its first phone."""
    tokens = np.full(frames, token, np.int8)
    tokens[0] = 2
    steps = {0: 0, 2: 1, 3: 2}[token]
    phones = 1 + steps * (frames - 1)
    nuclei = (np.arange(phones) % syllable_every == 0).astype(np.int8)
    empty = np.zeros((2, frames), np.int16)
    return VoxtreamUtterance(
        1, np.zeros(4, np.float32), 0, empty, empty, tokens, np.zeros(phones, np.int16), nuclei,
        np.zeros((0, 2), np.int16),
    )  # fmt: skip


def test_fast_speech_fills_the_fast_rows_and_slow_speech_the_slow_ones(tiny):
    slow, fast = spoken(2, 6), spoken(3, 4)  # about 2.1 and 6.2 SPS
    table = measured_rates(measured_counts([slow] * 20 + [fast] * 20), tiny)
    assert table[2.0].counts[2] > 0.9 * ROW
    assert table[6.0].counts[3] > 0.9 * ROW


def test_a_rate_nobody_spoke_borrows_from_the_nearest_and_the_recipe_weighs_every_row(tiny):
    export = replace(tiny.export, weight=3.0)
    recipe = replace(tiny, export=export, generation=replace(GENERATION, semantic_guidance=1.7))
    table = measured_rates(measured_counts([spoken(3, 4)] * 20), recipe)
    assert table[1.0].counts == table[6.0].counts
    assert all(min(row.counts) >= 1 for row in table.values())
    assert {(row.weight, row.guidance) for row in table.values()} == {(3.0, 1.7)}


def test_a_rate_gets_the_histogram_that_was_spoken_at_it_or_one_between():
    half = invert(TABLE, COUNTS, {rate: 1.5 + rate / 2 for rate in ASKED})  # compressed
    wanted = {4.0: 5.0, 3.0: 3.0, 2.0: 1.0, 7.0: 8.0}  # the last as near as it gets
    assert {rate: half[rate].counts for rate in wanted} == {
        rate: COUNTS[spoken] for rate, spoken in wanted.items()
    }
    assert {(row.weight, row.guidance) for row in half.values()} == {(8.0, 1.5)}
    shifted = invert(TABLE, COUNTS, {rate: rate + 0.5 for rate in ASKED})
    assert COUNTS[3.0][1] < shifted[4.0].counts[1] < COUNTS[4.0][1]


def test_chance_turns_no_rates_around():
    spoken = {rate: rate for rate in ASKED} | {4.0: 5.2}
    rows = invert(TABLE, COUNTS, spoken)
    tokens = [rows[rate].counts[1] for rate in sorted(rows)]
    assert tokens == sorted(tokens)


def test_there_are_texts_for_as_long_as_was_asked():
    seconds = sum(syllables_of(text) for text in tuning_texts(2.0, 60.0)) / 2.0
    assert seconds == pytest.approx(60.0, rel=0.1)
    assert len(tuning_texts(0.5, 0.1)) == 1
    assert len(tuning_texts(7.0, 9_999.0)) > 100


def test_a_row_is_tuned_anew_when_the_pack_draws_or_sounds_otherwise(tmp_path):
    for name in ("config.json", "voice.safetensors", "voices/ada.safetensors", "CARD.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("before")
    seen = {depends_on(str(tmp_path))}
    for name in ("config.json", "voices/ada.safetensors", "voice.safetensors"):
        (tmp_path / name).write_text("after")
        seen.add(depends_on(str(tmp_path)))
    assert len(seen) == 4
    (tmp_path / "CARD.md").write_text("after")
    assert depends_on(str(tmp_path)) in seen


# ----------------------------------------------------------------------------- duration tokens


def starts_of(lengths: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(lengths[:-1]))).astype(np.int64)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(900, 9000), min_size=2, max_size=40))
def test_the_cursor_walks_the_tokens_to_the_last_phone(lengths):
    frames = -(-sum(lengths) // FRAME_SAMPLES)
    found = walk(starts_of(lengths), frames, DURATION_TOKENS)
    cursor = AlignmentCursor(-1, DURATION_TOKENS, GENERATION)
    for token, first, last in zip(found, *token_spans(found).T, strict=True):
        span = cursor.advance(int(token), len(lengths), closed=False)
        assert (span.first, span.last) == (first, last)
    assert cursor.last == len(lengths) - 1


@pytest.mark.parametrize(
    ("lengths", "frames", "spoken"),
    [([1920, 3840, 1920], 4, [[0, 0], [1, 1], [1, 1], [2, 2]]), ([960] * 4, 2, [[0, 1], [2, 3]])],
)
def test_each_frame_speaks_the_phones_that_sound_in_it(lengths, frames, spoken):
    found = walk(starts_of(lengths), frames, DURATION_TOKENS)
    assert token_spans(found).tolist() == spoken


def test_more_phones_than_frames_can_speak_have_no_walk():
    assert walk(starts_of([100] * 20), 2, DURATION_TOKENS) is None
