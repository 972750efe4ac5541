"""The small codec keeps Mimi's law: frame by frame equals all at once."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engine.codec.mimi import ENCODING, FRAME_SAMPLES, NOTHING, Mimi, MimiStream
from engine.codec.small import SmallCodecConfig, TextAwareMimi, build, load_small
from engine.codec.small_parts import HOP, SAMPLE_RATE
from engine.codec.source import BINS, FFT, Source, SourceDecoder, minimum_phase
from engine.errors import ModelError
from engine.nn.weights_file import SHAPE_KEY, shape_metadata
from tests.engine.nn.stacks import with_codebooks

TINY = SmallCodecConfig(codebooks=3, codes=16, width=32, blocks=1, layers=1)
# A source adds up its pitch: what columns differ by in rounding moves the pulses in time.
TOLERANCE = 2e-3


@pytest.fixture
def codec() -> Mimi:
    torch.manual_seed(1)
    return Mimi(with_codebooks(build(TINY)).eval().requires_grad_(False), 3)


def speech(frames: int) -> torch.Tensor:
    return 0.1 * torch.randn(
        1, 1, frames * FRAME_SAMPLES, generator=torch.Generator().manual_seed(2)
    )


def test_decoding_frame_by_frame_equals_decoding_at_once(codec):
    """Whatever another stream decodes in between."""
    codes = torch.randint(0, 16, (1, 3, 6), generator=torch.Generator().manual_seed(3))
    whole, parts = codec.decode_frame(codec.open(), codes), []
    stream, other = codec.open(), codec.open()
    for n in range(6):
        parts.append(codec.decode_frame(stream, codes[:, :, n : n + 1]))
        codec.decode_frame(other, codes[:, :, 5 - n : 6 - n])
    assert whole.shape == (1, 1, 6 * FRAME_SAMPLES)
    assert torch.allclose(torch.cat(parts, dim=-1), whole, atol=TOLERANCE)
    assert float(whole.abs().max()) > 1e-4


def test_a_stream_stays_in_its_memory_and_begins_anew_there(codec):
    """A captured CUDA graph reads and writes the same addresses every time."""
    codes = torch.randint(0, 16, (1, 3, 3), generator=torch.Generator().manual_seed(5))
    stream = codec.open()
    places = addresses(stream)
    first = [codec.decode_frame(stream, codes[:, :, n : n + 1]) for n in range(3)]
    codec.restart(stream)
    again = [codec.decode_frame(stream, codes[:, :, n : n + 1]) for n in range(3)]
    assert len(places) > 4
    assert addresses(stream) == places
    assert torch.allclose(torch.cat(again, -1), torch.cat(first, -1), atol=TOLERANCE)


def addresses(stream: MimiStream) -> dict[str, int]:
    return {
        f"{module}.{name}": value.data_ptr()
        for module, state in stream.items()
        for name, value in vars(state).items()
        if isinstance(value, torch.Tensor)
    }


def saved(folder: Path) -> Path:
    file, model = folder / "codec.safetensors", with_codebooks(build(TINY))
    save_file({k: v.half() for k, v in model.state_dict().items()}, file, shape_metadata(TINY))
    return file


def test_a_tuned_codec_still_encodes_and_holds_its_decoding_half_alone(tmp_path):
    torch.manual_seed(1)
    file, pcm = saved(tmp_path), speech(4)
    tuned = load_small(file, torch.device("cpu"))
    whole = tuned.encode(pcm)
    assert (tuned.codebooks, whole.shape) == (3, (1, 3, 4))
    tuned.tune()
    names = [name for name, _ in tuned._model.named_parameters()]
    assert not any(name.startswith(ENCODING) for name in names)
    assert torch.equal(tuned.encode(pcm), whole)
    assert len(whole.unique()) > 1


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({}, "no codec of this program"),
        ({SHAPE_KEY: "[" * 100_000}, "no codec of this program"),
        (shape_metadata(TINY), "cannot be used"),  # the weights do not fit it
        (shape_metadata(replace(TINY, phones=10**9)), "'phones' is 1000000000"),
    ],
    ids=range(4),
)
def test_what_is_no_codec_is_refused(tmp_path, about, message):
    file = tmp_path / "codec.safetensors"
    save_file({"a": torch.zeros(1)}, file, about)
    with pytest.raises(ModelError, match=message):
        load_small(file, torch.device("cpu"))


# --------------------------------------------------------------- decoders that are told the phones


SHAPE = SmallCodecConfig(codebooks=3, codes=16, width=32, blocks=1, layers=1, phones=9)
CODES = torch.randint(0, 16, (1, 3, 6), generator=torch.Generator().manual_seed(3))
PHONES = torch.tensor([[[NOTHING, 0, 3, 3, 8, 8], [NOTHING, 3, 3, 4, 8, 8]]])


@pytest.fixture
def model() -> TextAwareMimi:
    """One that has learnt what the phones are."""
    torch.manual_seed(1)
    fresh: TextAwareMimi = with_codebooks(build(SHAPE))
    fresh.phones.weight.data[1:].normal_()
    return fresh.eval().requires_grad_(False)


def decoded(codec: Mimi, phones: torch.Tensor | None) -> torch.Tensor:
    return codec.decode_frame(codec.open(), CODES, phones)


def test_what_it_is_told_is_heard_from_that_frame_on(model):
    codec = Mimi(model, 3)
    other = PHONES.clone()
    other[0, 1, 3] = 5
    one, two = decoded(codec, PHONES), decoded(codec, other)
    assert torch.equal(one[..., : 3 * 1920], two[..., : 3 * 1920])
    assert not torch.allclose(one[..., 3 * 1920 :], two[..., 3 * 1920 :])
    stream = codec.open()
    parts = [codec.decode_frame(stream, CODES[:, :, [n]], PHONES[:, :, [n]]) for n in range(6)]
    assert torch.allclose(torch.cat(parts, dim=-1), one, atol=TOLERANCE)


def test_told_nothing_it_hears_the_codes_alone_as_others_do(model):
    codec = Mimi(model, 3)
    untold = decoded(codec, torch.full_like(PHONES, NOTHING))
    assert torch.equal(decoded(codec, None), untold)
    model.phones.weight.data.zero_()
    assert torch.equal(decoded(codec, PHONES), untold)
    for shape in (SHAPE, replace(SHAPE, phones=0)):
        deaf = Mimi(build(shape).eval(), 3)
        assert torch.equal(decoded(deaf, PHONES), decoded(deaf, None))


# ----------------------------------------------------------------------- the source of the decoder


SECOND = SAMPLE_RATE // HOP  # columns


def source() -> Source:
    return Source().eval()


@pytest.mark.parametrize("hz", [60.0, 131.7, 310.0])
def test_there_is_one_pulse_a_period(hz):
    pulses, _ = source()(torch.full((1, 2 * SECOND), hz))
    spectrum = torch.fft.rfft(pulses[0, 0]).abs()
    spectrum[: int(hz)] = 0.0  # bins are half a hertz: everything below half the pitch
    assert int(spectrum[: int(3 * hz)].argmax()) / 2 == pytest.approx(hz, abs=0.5)


def test_pulses_and_noise_are_equally_strong_and_the_noise_is_the_same_every_time():
    pitch = torch.full((1, 4 * SECOND), 123.4)
    (pulses, noise), (_, again) = source()(pitch), source()(pitch)
    # A pulse shared by two samples loses up to half its power, two thirds remain on average.
    assert float(pulses.square().mean()) == pytest.approx(2 / 3, rel=0.1)
    assert float(noise.square().mean()) == pytest.approx(1.0, rel=0.05)
    assert torch.equal(noise, again)
    first, second = noise.chunk(2, dim=-1)
    assert not torch.allclose(first, second)


def test_a_minimum_phase_filter_has_the_gains_asked_for_and_rings_forward():
    bins = torch.linspace(0, 3.0, BINS)
    gains = torch.cos(bins) - 1.0
    spectrum = minimum_phase(gains)
    assert torch.allclose(spectrum.abs().log(), gains, atol=1e-4)
    ringing = torch.fft.irfft(spectrum, FFT).square()
    assert float(ringing[: FFT // 4].sum() / ringing.sum()) > 0.999


def test_the_pitch_of_a_column_is_heard_from_the_next_column_on():
    torch.manual_seed(0)
    decoder = SourceDecoder(32, 1).eval()
    latents = torch.randn(1, 32, 10)
    shape = decoder.shape(latents)
    changed = shape.pitch.clone()
    changed[:, 20:] += 0.5
    before, after = (decoder.samples(shape, pitch)[0, 0] for pitch in (shape.pitch, changed))
    # What a filter rings beyond its length comes back at the piece's beginning, very quietly.
    moved = ((before - after).abs() > 0.01 * before.abs().max()).nonzero()[0]
    assert 21 * HOP <= int(moved) <= 24 * HOP
