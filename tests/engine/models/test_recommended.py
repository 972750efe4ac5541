"""What is recommended fits the machine, and what was measured goes first."""

from dataclasses import replace

from engine.asr import pick as ears
from engine.messages.models import Recommendation
from engine.models import storage
from engine.models.listing import Machine, entries
from engine.models.recommended import recommendation
from engine.settings import Settings
from engine.tts.voxtream.files import pick as voices


def recommended(memory_mb: int, cores: int) -> Recommendation:
    machine = Machine(memory_mb, cores)
    found = [
        replace(each, fits=machine.has_memory_for(each.memory_mb)) for each in entries(Settings())
    ]
    return recommendation(found, machine)


MINDS = {
    "qwen3-1-7b": ((4_000, 2), (16_000, 2), (64_000, 1)),
    "qwen3-4b": ((8_000, 4), (8_000, 16)),
    "qwen3-8b": ((16_000, 8), (64_000, 32)),
}


def test_three_sizes_of_machine_have_a_language_model_each_and_a_tiny_one_what_is_built_in(hub):
    for mind, machines in MINDS.items():
        for machine in machines:
            assert recommended(*machine).names == ("whisper-base", mind, "kokoro")
    tiny = recommended(1_000, 1)
    assert tiny.names == ()
    assert tiny.text.count("stays") == 3


def test_sizes_are_said_and_add_up_but_for_what_is_here(hub):
    fitting = recommended(8_000, 4)
    assert "Whisper base listens (148 MB)" in fitting.text
    assert "Qwen 3 4B Instruct 2507 thinks (2,497 MB)" in fitting.text
    assert "Kokoro speaks (107 MB)" in fitting.text
    assert fitting.megabytes == 148 + 2497 + 107
    storage.fetch_all("whisper-base", lambda done, total: None, lambda: False)
    fitting = recommended(8_000, 4)
    assert fitting.megabytes == 2497 + 107
    assert "already here" in fitting.text
    assert not fitting.in_use


def test_what_was_measured_too_slow_is_not_recommended_and_a_quick_full_voice_is(hub, data):
    ears.keep(ears.judge(3000.0), data)
    assert recommended(8_000, 4).names == ("qwen3-4b", "kokoro")
    voices.keep(voices.judge("cpu", {"int8": 2.5}), data)
    assert recommended(64_000, 32).names[-1] == "kokoro"
    voices.keep(voices.judge("cpu", {"int8": 0.5}), data)
    fitting = recommended(64_000, 32)
    assert fitting.names[-1] == "voxtream2-1"
    assert "VoXtream2.1: Its authors name two licences" in fitting.warning
    assert recommended(4_000, 2).names[-1] == "kokoro"  # too little memory for the other
