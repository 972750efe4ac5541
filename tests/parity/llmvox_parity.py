"""Compares our published LLMVoX with the public code on the same seeded random weights, and writes
what that made of them, which tests/engine/tts/llmvox/published/test_reference.py compares ours with
every time.

    PYTHONPATH=. python tests/parity/llmvox_parity.py PATH_OF_THE_REFERENCE [FILE]

PATH is a checkout of mbzuai-oryx/LLMVoX (CC BY-NC-SA 4.0), which holds WavTokenizer (MIT); their
packages (torchaudio, transformers) must be importable, torchaudio for two functions that nothing
here calls. Nothing of them is copied here: they are imported and run beside ours, fp32 on the CPU.
FILE is llmvox.json beside this one. Theirs is driven as its server drives it: words through ByT5's
tokenizer, 385 behind a sentence, then 384; arg-max; all tokens decoded at once.
Where ours differs on purpose, and why:
- The server decodes chunks without what is around them, and the end's own token (453); ours decodes
  windows that overlap, without it.
- The end is only taken once the text is over. The server takes it in the middle of a word too.
- A word "EOS" or "[PAD]" is a special id there; here it is its bytes.
Exit status 1 when a logit differs by more than 1e-5, a sample by more than 1e-4, or any code.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from engine.tts.llmvox.published import paths
from engine.tts.llmvox.published.conversion import END
from tests.engine.tts.llmvox.published.checkpoints import FULL, SMALL, Size, pickles
from tests.engine.tts.llmvox.published.reference import (
    LOGIT_STRIDE,
    SAMPLE_STRIDE,
    STEP_STRIDE,
    STEPS,
    WORDS,
    Said,
    said,
)

LOGITS, SAMPLES = 1e-5, 1e-4
SIZES = {"small": SMALL, "full": FULL}
TEXT_END, PADDING = 385, 384


def their_units(size: Size, table: Tensor) -> Tensor:
    """[T, text] vectors of the words, the end, and padding, by their tokenizer and their table."""
    from src.utils import smart_tokenizer_and_embedding_resize
    from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration

    shape = T5Config(
        vocab_size=len(table), d_model=size.text, d_kv=8, d_ff=8, num_layers=1, num_heads=1
    )
    model, tokenizer = T5ForConditionalGeneration(shape), ByT5Tokenizer()
    model.get_input_embeddings().weight.data.copy_(table)
    for token in ("[PAD]", "EOS"):
        smart_tokenizer_and_embedding_resize({"pad_token": token}, tokenizer, model)
    ids = [number for word in WORDS for number in tokenizer(word)["input_ids"]]
    ids = [*ids, TEXT_END, *[PADDING] * STEPS][:STEPS]
    return model.encoder.embed_tokens(torch.tensor(ids))


def their_codec(size: Size, tensors: dict[str, Tensor], device: str = "cpu") -> Any:
    """Codes [T] -> samples [320 T]."""
    from decoder.heads import ISTFTHead
    from decoder.models import VocosBackbone

    backbone = VocosBackbone(
        size.entry,
        size.codec_width,
        3 * size.codec_width,
        size.codec_blocks,
        adanorm_num_embeddings=4,
    )
    head = ISTFTHead(size.codec_width, 1280, 320)
    for module, name in ((backbone.eval(), "backbone."), (head.eval(), "head.")):
        own = {key.removeprefix(name): t for key, t in tensors.items() if key.startswith(name)}
        module.load_state_dict(own)
        module.to(device)
    book = their_codebook(tensors).to(device)

    def decode(codes: Tensor) -> Tensor:
        features = functional.embedding(codes, book).t()[None]
        samples: Tensor = head(backbone(features, bandwidth_id=torch.tensor([0], device=device)))[0]
        return samples

    return decode


def their_codebook(tensors: dict[str, Tensor]) -> Tensor:
    return tensors["feature_extractor.encodec.quantizer.vq.layers.0._codebook.embed"]


def their_network(size: Size, content: dict[str, Any]) -> Any:
    from src.model import GPT, GPTConfig

    wanted = ("n_layer", "n_head", "n_embd", "block_size", "bias", "vocab_size")
    arguments = {key: content["model_args"][key] for key in wanted}
    model = GPT(GPTConfig(**arguments, is_train=False))
    model.load_state_dict({k.removeprefix("_orig_mod."): t for k, t in content["model"].items()})
    return model.eval()


def theirs(size: Size) -> Said:
    """STEPS steps as the public server makes them, and their sound."""
    content = pickles(size)
    units = their_units(size, content[paths.TEXT]["shared.weight"])
    network = their_network(size, content[paths.NETWORK])
    decode = their_codec(size, content[paths.CODEC]["state_dict"])
    book = their_codebook(content[paths.CODEC]["state_dict"])
    heard, cache, logits, codes = torch.zeros(1, 0, size.width), None, [], []
    for unit in units:
        before = book[codes[-1]] if codes else torch.zeros(size.entry)
        x = functional.normalize(torch.cat((unit, before))[None, None], p=2, dim=2, eps=1e-8)
        heard = torch.cat((heard, x), dim=1)
        out, _, cache = network(heard, kvcache=cache)
        logits.append(out[0, -1])
        codes.append(int(out[0, -1].softmax(-1).argmax()))
    best = torch.stack(logits).topk(2).values
    if END in codes or float((best[:, 0] - best[:, 1]).min()) < 10 * LOGITS:
        raise SystemExit("these weights end before the last step or have a tie: draw others")
    return Said(torch.stack(logits), codes, decode(torch.tensor(codes)))


def frozen(they: Said) -> dict[str, Any]:
    """A few numbers of every kind."""
    return {
        "codes": they.codes,
        "logits": they.logits[::STEP_STRIDE, ::LOGIT_STRIDE].tolist(),
        "samples": they.samples[::SAMPLE_STRIDE].tolist(),
    }


def main() -> int:
    root = Path(sys.argv[1])
    sys.path[:0] = [str(root), str(root / "WavTokenizer")]
    torch.set_grad_enabled(False)
    kept, worst = {}, 0.0
    for name, size in SIZES.items():
        they, ours = theirs(size), said(size)
        logits = float((they.logits - ours.logits).abs().max())
        samples = float((they.samples - ours.samples).abs().max())
        other = sum(one != two for one, two in zip(they.codes, ours.codes, strict=True))
        sys.stdout.write(
            f"{name}: logits {logits:.1e}, samples {samples:.1e} of {they.samples.abs().max():.2f},"
            f" {other} of {len(they.codes)} codes differ, {len(set(they.codes))} are different\n"
        )
        worst = max(worst, logits / LOGITS, samples / SAMPLES, float(other) * 2)
        kept[name] = frozen(they)
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(kept), encoding="utf-8")
    return int(worst > 1)


if __name__ == "__main__":
    sys.exit(main())
