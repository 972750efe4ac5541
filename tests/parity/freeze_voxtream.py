"""Writes what the public VoXtream2 makes of seeded full-size weights, a few numbers of each step,
which tests/engine/tts/voxtream/test_reference.py compares ours with every time.

    PYTHONPATH=. python tests/parity/freeze_voxtream.py PATH_OF_THE_REFERENCE FILE

PATH and its packages as for voxtream_parity.py; FILE is full_size.json beside this one.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from engine.tts.phones import EOS, SILENCE
from engine.tts.voxtream.config import VOXTREAM2_SHAPE
from engine.tts.voxtream.files.checkpoint import RandomWeights
from tests.parity.reference import Reference
from tests.parity.voxtream_parity import Hooked, Prompt, text_of

RATES = (None, None, 5.0, 6.0)  # SPS, of the steps
ROW_STRIDE, LOGIT_STRIDE = 64, 1024


def frozen(reference: Reference) -> dict[str, Any]:
    """The last phone row, and of every step logits, the duration token drawn and the codes."""
    prompt, hook, model = Prompt(), Hooked(reference), reference.model
    tokens = prompt.tokens([*text_of(12), SILENCE, EOS])
    rows = model.extract_phoneme_embeddings(tokens, prompt_len=prompt.length)
    speaker = model.spk_emb_proj(torch.stack((prompt.speaker, torch.zeros(192))))
    model.reset_caches()
    indices = torch.arange(prompt.length)[None, :, None].expand(2, -1, 2)
    codes, position = prompt.columns, torch.arange(prompt.length)[None]
    steps = []
    for step, rate in enumerate(RATES):
        torch.manual_seed(step)
        params: tuple[Any, ...] = (None, None, reference.config.cfg_gamma)
        if rate is not None:
            params = reference.helpers.interpolate_speaking_rate_params(reference.rates, rate)
        frame, token, _ = model.generate_frame(
            config=reference.config,
            phone_emb=model.reorder_phone_emb(rows, indices),
            audio_tokens=codes,
            input_pos=position,
            spk_embeddings=speaker,
            cfg_gamma=params[2],
            spk_rate_weight=params[1],
            cur_spk_rate_cnt=torch.ones(6, dtype=torch.int64),
            target_spk_rate_cnt=None if params[0] is None else torch.tensor(params[0]),
        )
        logits = model.sem_head(hook.hidden)[0].flatten()[::LOGIT_STRIDE].tolist()
        steps.append({"logits": logits, "token": int(token), "codes": frame[0].flatten().tolist()})
        codes, position = frame[:, :, None].repeat(2, 1, 1), position[:, -1:] + 1
        at = prompt.length - 1 + step
        indices = torch.tensor([[[at, min(at + 1, tokens.shape[1] - 1)]]]).expand(2, -1, -1)
    return {"rows": rows[0, -1, ::ROW_STRIDE].tolist(), "steps": steps}


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    made = frozen(Reference(Path(sys.argv[1]), RandomWeights(VOXTREAM2_SHAPE, 0)))
    Path(sys.argv[2]).write_text(json.dumps(made), encoding="utf-8")
