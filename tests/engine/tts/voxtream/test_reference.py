"""What the references' own code made of weights and inputs that ours is given here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.nn.packed.product_graph import Precision
from engine.nn.transformer import KvCache
from engine.tts.phones import EOS, SILENCE
from engine.tts.speaker.redimnet import ReDimNet
from engine.tts.voxtream.config import GENERATION, VOXTREAM2_SHAPE
from engine.tts.voxtream.files.checkpoint import Target, load_weights
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.network.phones import PhoneRows, extend
from tests.engine.nn.stacks import seeded
from tests.engine.tts.voxtream.random_weights import RandomWeights, random_mimi
from tests.engine.tts.voxtream.small_model import SMALL, small_mimi
from tests.parity import free_running
from tests.parity.free_running import KEPT, OF_SIZE, SCENARIOS, Ours
from tests.parity.reference import SoundingWeights
from tests.parity.voxtream_parity import LOGIT_STRIDE, RATES, ROW_STRIDE, Prompt, controls, text_of

CPU = torch.device("cpu")
FULL_SIZE = Path(__file__).parents[3] / "parity" / "full_size.json"
# By tests/parity/redimnet_parity.py: every eighth element.
REDIMNET = (
    0.37942, -0.39735, -0.11940, -1.03551, 0.13244, 0.37885, -0.29220, 0.19608,
    -0.80412, -0.13337, -0.44663, 0.35943, 0.30295, -0.31155, 0.07625, 0.79079,
    1.02938, -0.04887, 0.48629, -0.52213, -1.36236, 0.24785, -0.00899, -1.35970,
)  # fmt: skip


def test_the_speaker_encoder_says_what_its_authors_code_says():
    found = random_redimnet().embed(some_sound())[::8].tolist()
    assert found == pytest.approx(REDIMNET, abs=2e-4)


@pytest.mark.long
def test_the_full_size_voice_says_what_its_authors_code_says():
    """Prefill and three frames of 462 million seeded weights in fp32, at its own pace and two
    rates.
    """
    kept = json.loads(FULL_SIZE.read_text(encoding="utf-8"))
    with torch.inference_mode():
        found = _said()
        assert next(found) == pytest.approx(kept["rows"], abs=1e-3)
        for step, wanted in zip(found, kept["steps"], strict=True):
            assert step["logits"] == pytest.approx(wanted["logits"], abs=1e-3)
            assert (step["token"], step["codes"]) == (wanted["token"], wanted["codes"])


def _said() -> Iterator[Any]:
    """As `frozen` of tests/parity/voxtream_parity.py, by our model: the row, then every step."""
    target = Target(CPU, torch.float32, threads=1)
    weights = RandomWeights(VOXTREAM2_SHAPE, 0)
    model = load_weights(weights, VOXTREAM2_SHAPE, GENERATION, Precision.FLOAT, target)
    prompt = Prompt()
    rows = _phone_rows(model, prompt.tokens([*text_of(12), SILENCE, EOS]))
    yield rows[0, -1, ::ROW_STRIDE].tolist()
    cache, depth = KvCache(model.config.temporal, 2), model.acoustic_memory()
    speaker = model.speaker_rows(prompt.speaker)
    phones, codes = 2 * rows[:, : prompt.length], prompt.columns
    for step, rate in enumerate(RATES):
        hidden = model.temporal.append(model.columns(phones, codes), cache)[:, -1]
        choice = model.choose(hidden, controls(step, rate))
        acoustic = model.acoustic_codes(hidden + speaker, choice.code, depth)
        frame = torch.cat((choice.code, acoustic), dim=1)
        logits = model.joint_logits(hidden)[0].flatten()[::LOGIT_STRIDE]
        yield {
            "logits": logits.tolist(),
            "token": int(choice.token),
            "codes": frame[0].flatten().tolist(),
        }
        codes, at = frame[:, :, None].repeat(2, 1, 1), prompt.length - 1 + step
        phones = (rows[:, at] + rows[:, min(at + 1, rows.shape[1] - 1)])[:, None]


def _phone_rows(model: VoxtreamModel, tokens: torch.Tensor) -> torch.Tensor:
    """[2, P, D] of 12 phones' text, with the look-ahead the reference has there."""
    rows = PhoneRows(3, model.config.phone_window)
    return extend(rows, model.phone_embeddings(tokens), model.phone).rows


# -------------------------------------------------------------------- weights and a sound for both

# Functions of seeds alone, of torch\'s random numbers on the processor.


def random_redimnet() -> ReDimNet:
    """Size M; also what begins as 0 or 1 has values, so that it shows where it is used."""
    with seeded(0):
        model = ReDimNet().eval().requires_grad_(False)
        for key, tensor in model.state_dict().items():
            if tensor.is_floating_point() and not key.startswith("spec."):
                tensor += 0.05 * torch.randn(tensor.shape)
                if key.endswith("running_var"):
                    tensor.abs_()
    return model


def some_sound() -> Tensor:
    """A second and a half of noise that grows, [S] at 16 kHz."""
    noise = torch.randn(24_000, generator=torch.Generator().manual_seed(0))
    return noise * 0.1 * torch.linspace(0, 1, 24_000)


# -------------------------------------------------------------------------------- whole utterances


THEIRS = json.loads(
    (Path(__file__).parents[3] / "parity" / "free_running.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def small() -> Iterator[Ours]:
    with torch.inference_mode():
        yield Ours(SoundingWeights(SMALL, 0), SMALL, small_mimi())


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_small_voice_says_what_its_authors_code_says(small, name):
    assert small.codes.tolist() == THEIRS["small"]["prompt"]
    assert_same(small, name, THEIRS["small"])


@pytest.fixture(scope="module")
def full() -> Iterator[Ours]:
    """Needs 4 GB of memory."""
    with torch.inference_mode():
        weights, mimi = SoundingWeights(VOXTREAM2_SHAPE, 0), random_mimi(16, 0)
        yield Ours(weights, VOXTREAM2_SHAPE, mimi)


@pytest.mark.long
@pytest.mark.timeout(1200)  # a frame takes a second and more
@pytest.mark.parametrize("name", OF_SIZE["full"])
def test_the_full_size_voice_running_freely_says_what_its_authors_code_says(full, name):
    assert full.codes.tolist() == THEIRS["full"]["prompt"]
    assert_same(full, name, THEIRS["full"])


def assert_same(ours: Ours, name: str, theirs: dict[str, Any]) -> None:
    frames, logits = ours.run(SCENARIOS[name])
    found = [[frame.token, frame.semantic, frame.acoustic] for frame in frames]
    assert found == theirs[name]["frames"]
    for at, wanted in zip(KEPT, theirs[name]["logits"], strict=True):
        assert logits[at][:: free_running.LOGIT_STRIDE].tolist() == pytest.approx(wanted, abs=1e-5)
