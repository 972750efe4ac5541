"""Compares parts of our VoXtream2 with the public reference on the same seeded random full-size
weights: alignment to the end. Writes what the reference makes of them in
prefill and steps, a few numbers of each, which tests/engine/tts/voxtream/test_reference.py compares
ours with every time. Whole utterances are compared by freeze_free_running.py.

    PYTHONPATH=. python tests/parity/voxtream_parity.py PATH_OF_THE_REFERENCE [FILE]

PATH is a checkout of herimor/voxtream (MIT), which is VoXtream2, or the unpacked package voxtream
0.2.5, which is VoXtream2.1: see reference.py. Nothing of it is copied here: it is imported and run
beside ours, fp32 on the CPU. About 6 GB. FILE is full_size.json beside this one, of VoXtream2.
Where ours differs on purpose, and why:
- Phones: the reference gives a phone its table lacks, and the "?" of "?!", the id 122, which tells
  the model to drop its guidance; ours spells or drops it. Word by word, ours keeps the neighbours
  of a word and holds one that the next word changes; the reference appends " context" to each word.
- Codes 2048 and 2049 are no sounds; the reference can draw them and feeds them back.
- The first frame's acoustic codes are the prompt's last ones, which are known; the reference
  generates them again.
- Text: the reference takes one word before every frame if there is one, wanted or not; ours takes
  all that came, as far as the masks see, and begins with three phones more than are spoken.
- A state visited more than three times before the end of the text was known holds the reference
  for 25 frames (it compares with ==); ours leaves it at once. Ours checks the state it pushes into,
  and does not take the last phone known for the end while more text may come.
- A full attention window: the reference recomputes it from the prompt and what it said last; ours
  begins a new passage.
- Audio: resampling is soxr's here, torchaudio's there; the prompt's codes are our VAD's cut.
Exit status 1 when a walk differs.
"""

import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from engine.nn.sampling import race_noise
from engine.tts.phones import BOS, EOS, MARKS, SILENCE, UNKNOWN
from engine.tts.voxtream.config import DURATION_TOKENS, EDITIONS, GENERATION, VOXTREAM2_SHAPE
from engine.tts.voxtream.files.paths import VOXTREAM2, VOXTREAM2_1
from engine.tts.voxtream.network.model import Controls, delayed
from engine.tts.voxtream.rate import DurationState, rate_target
from engine.tts.voxtream.script import AlignmentCursor
from tests.engine.tts.voxtream.random_weights import TIMELESS, RandomWeights
from tests.parity.reference import Reference, context_of

CPU = torch.device("cpu")
PROMPT_FRAMES = 63  # 5 s
RATES = (None, None, 5.0, 6.0)  # SPS, of the steps
ROW_STRIDE, LOGIT_STRIDE = 64, 1024


class Prompt:
    """A random prompt as both sides want it."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(11)
        self.codes = torch.randint(0, 2048, (16, PROMPT_FRAMES), generator=generator)
        self.speaker = torch.nn.functional.normalize(torch.randn(192, generator=generator), dim=0)
        self.columns = delayed(self.codes)  # [2, 16, T + 1]
        self.length = self.columns.shape[2]
        self.phones = [BOS] + [UNKNOWN] * PROMPT_FRAMES

    def tokens(self, text: list[int]) -> Tensor:
        """[2, P] phone ids of both rows."""
        return torch.tensor(
            [self.phones + text, self.phones + [UNKNOWN] * len(text)], dtype=torch.int64
        )


def text_of(count: int) -> list[int]:
    """`count` phone-side tokens, every seventh a punctuation mark."""
    draw = random.Random(count)
    marks = list(MARKS.values())
    return [draw.choice(marks) if n % 7 == 6 else draw.randrange(117) for n in range(count)]


def controls(seed: int, rate: float | None) -> Controls:
    generator = torch.Generator().manual_seed(seed)
    guidance, pull = GENERATION.semantic_guidance, (0.0,) * 6
    if rate is not None:
        target = rate_target(rate, TIMELESS.rates)
        scale = GENERATION.pull_scale
        guidance, pull = target.guidance, DurationState(6, 38).rate_bias(target, scale)
    return Controls(
        torch.tensor(guidance),
        torch.tensor(pull),
        race_noise(6, generator),
        race_noise(5, generator),
    )


class Hooked:
    """Catches the hidden state that enters the reference's semantic head."""

    def __init__(self, reference: Reference) -> None:
        self.hidden = torch.empty(0)
        reference.model.sem_head.register_forward_pre_hook(self._catch)

    def _catch(self, module: Any, inputs: tuple[Tensor, ...]) -> None:
        self.hidden = inputs[0].clone()


def alignment(reference: Reference) -> float:
    """How many random walks to the end of a closed text differ in spans, ends or pushes."""
    runtime, context, differing = reference.runtime, context_of(reference), 0
    for seed in range(400):
        draw = random.Random(seed)
        known = 64 + draw.randrange(3, 40)
        weights = [draw.random() ** 3 for _ in range(6)]
        cursor = AlignmentCursor(63, DURATION_TOKENS, GENERATION)
        state = SimpleNamespace(
            phone_emb_indices=torch.zeros(1), phone_emb_max_idx=63, eos_idx=750, state_counter={}
        )
        for step in range(750):
            token = draw.choices(range(6), weights)[0]
            span = cursor.advance(token, known, closed=True)
            _, state = runtime.update_indices_and_tokens(
                torch.tensor([[token]]), torch.zeros(1, 16), step, known, state, context
            )
            theirs = (state.phone_emb_indices[0, 0].tolist(), state.eos_idx == step)
            if theirs != ([span.first, span.last], span.ended):
                differing += 1
                break
            if span.ended:
                break
    return differing


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


def main() -> int:
    torch.set_grad_enabled(False)
    path, weights = Path(sys.argv[1]), RandomWeights(VOXTREAM2_SHAPE, 0)
    edition = EDITIONS[VOXTREAM2 if (path / "configs").is_dir() else VOXTREAM2_1]
    reference = Reference(path, weights, edition=edition)
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(frozen(reference)), encoding="utf-8")
    error = alignment(reference)
    sys.stdout.write(f"{error:10.2e}  alignment, 400 walks\n")
    return int(error > 0)


if __name__ == "__main__":
    raise SystemExit(main())
