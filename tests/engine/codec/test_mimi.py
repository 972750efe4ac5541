"""Streams of one codec are values: they do not know of each other. Its layers as plain products
give what they gave as convolutions.
"""

import math
import threading

import pytest
import torch
from moshi.utils.compile import torch_compile_lazy
from torch import Tensor, nn

from engine.codec.mimi import FEW, FRAME_SAMPLES, Mimi, ProductConv, ProductConvTranspose, load_mimi
from engine.errors import ModelError
from tests.engine.tts.voxtream.small_model import small_mimi


@pytest.fixture(scope="module")
def mimi() -> Mimi:
    return small_mimi()


def codes(seed: int, frames: int = 6) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 2048, (1, 4, frames), generator=generator)


def test_a_clip_has_the_same_codes_after_a_call_that_failed(mimi):
    pcm = torch.randn(1, 1, 4 * FRAME_SAMPLES, generator=torch.Generator().manual_seed(0)) * 0.1
    before = mimi.encode(pcm)
    with pytest.raises(IndexError):
        mimi.decode_frame(mimi.open(), torch.full((1, 4, 1), 99_999))
    for _ in range(2):  # a state that was left would be heard the second time
        assert torch.equal(mimi.encode(pcm), before)


def test_a_clip_is_encoded_on_another_thread_while_a_stream_speaks(mimi):
    pcm = torch.randn(1, 1, 4 * FRAME_SAMPLES, generator=torch.Generator().manual_seed(0)) * 0.1
    quiet, spoken = mimi.encode(pcm), mimi.decode_frame(mimi.open(), codes(3))
    learnt = list[Tensor]()

    def learn(*given: object) -> None:
        thread = threading.Thread(target=lambda: learnt.append(mimi.encode(pcm)))
        thread.start()
        thread.join(60)

    hook = mimi._model.decoder_transformer.register_forward_pre_hook(learn)
    assert torch.equal(mimi.decode_frame(mimi.open(), codes(3)), spoken)
    hook.remove()
    assert len(learnt) == 1
    assert torch.equal(learnt[0], quiet)


def test_a_clip_encoded_meanwhile_compiles_nothing(mimi, monkeypatch):
    """moshi's switch is the whole process's: who leaves it must not turn it on for another."""

    def refuse(function: object) -> None:
        raise AssertionError("something is compiled")

    monkeypatch.setattr("torch.compile", refuse)
    other, begun, go_on = small_mimi(), threading.Event(), threading.Event()
    learn = threading.Thread(target=other.encode, args=(torch.zeros(1, 1, FRAME_SAMPLES),))

    def begin(*given: object) -> None:
        begun.set()
        go_on.wait(60)

    def outlive(*given: object) -> None:
        go_on.set()
        learn.join(60)
        torch_compile_lazy(lambda: None)()  # as moshi does for each layer, on CUDA only

    hooks = (
        other._encoder.encoder.register_forward_pre_hook(begin),
        mimi._model.decoder_transformer.register_forward_pre_hook(outlive),
    )
    learn.start()
    assert begun.wait(60)
    assert mimi.decode_frame(mimi.open(), codes(4)[:, :, :1]).shape == (1, 1, FRAME_SAMPLES)
    assert not learn.is_alive()
    for hook in hooks:
        hook.remove()


def test_another_file_is_refused_by_name(tmp_path, monkeypatch):
    file, cpu = tmp_path / "mimi.safetensors", torch.device("cpu")
    with pytest.raises(ModelError, match="not there"):
        load_mimi(file, 16, cpu)
    file.write_bytes(b"12345678 no weights")
    with pytest.raises(ModelError, match=r"mimi\.safetensors"):
        load_mimi(file, 16, cpu)
    broken = small_mimi()._model
    broken.get_parameter("decoder.model.0.conv.conv.bias")[3] = math.nan
    monkeypatch.setattr("moshi.models.loaders.get_mimi", lambda file, **options: broken)
    with pytest.raises(ModelError, match=r"'decoder\.model\.0\.conv\.conv\.bias' holds NaN"):
        load_mimi(file, 16, cpu)


# ------------------------------------------------------------------------------ layers as products


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 3), (4, 1)])
@pytest.mark.parametrize("length", [9, 4 * FEW + 20])
def test_a_convolution_as_a_product(stride, dilation, length):
    torch.manual_seed(0)
    plain = nn.Conv1d(6, 5, 3, stride=stride, dilation=dilation)
    x = torch.randn(2, 6, length)
    expected = plain(x)
    plain.__class__ = ProductConv
    assert torch.allclose(plain(x), expected, rtol=1e-4, atol=1e-5)


def test_a_tuned_codec_sounds_the_same():
    codes = torch.randint(0, 2048, (2, 1, 4, 6), generator=torch.Generator().manual_seed(0))
    plain, tuned = (small_mimi() for _ in range(2))
    tuned.tune()
    assert any(isinstance(each, ProductConvTranspose) for each in tuned._model.modules())
    wanted, found = ([codec.open(), codec.open()] for codec in (plain, tuned))
    for sizes in ([1] * 6, [6], [1, 5]):
        for columns in zip(*(each.split(sizes, dim=2) for each in codes), strict=True):
            for which, column in enumerate(columns):
                expected = plain.decode_frame(wanted[which], column)
                got = tuned.decode_frame(found[which], column)
                assert got.shape == expected.shape
                assert float((got - expected).norm() / expected.norm()) < 1e-4
        for codec, streams in ((plain, wanted), (tuned, found)):
            for stream in streams:
                codec.restart(stream)  # and has forgotten the last one
