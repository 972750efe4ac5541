"""An independent client that measures servers of this protocol finds nothing wrong with ours."""

import pytest

from tests.engine.serve.doors.wyoming.conftest import TEXT, House

pytest.importorskip("wyoming_bench", reason="wyoming-bench is not installed")

from wyoming_bench.const import MODE_NON_STREAMING, MODE_STREAMING
from wyoming_bench.tts.client import measure_once


@pytest.mark.parametrize("mode", [MODE_STREAMING, MODE_NON_STREAMING])
async def test_it_measures_speech_both_ways(house: House, mode: str) -> None:
    found = await measure_once("127.0.0.1", house.port, mode, TEXT, None, "text", 9.0, 9.0)
    assert found.ok, found.error
    assert found.n_audio_cycles == 1
    assert found.audio_duration_s > 1
