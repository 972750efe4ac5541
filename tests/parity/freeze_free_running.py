"""Writes what the public VoXtream2.1 draws where nothing of ours is fed to it: free_running.json.

    PYTHONPATH=. python tests/parity/freeze_free_running.py PATH_OF_THE_REFERENCE FILE SIZE...

PATH: see reference.py. SIZE is small or full (462 million weights in fp32: about 6 GB, and ten
minutes). Compares ours with it at once: exit status 1 where a code or token differs, a logit by
more than 1e-5 of the largest, or a sample of the louder prompt by more than 1e-6.
tests/engine/tts/voxtream/test_reference.py compares ours with what is kept every time.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.audio.pcm import brought_to
from engine.codec.mimi import SAMPLE_RATE
from engine.tts.phones import BOS, MARKS, UNKNOWN
from engine.tts.voxtream.config import VOXTREAM2_SHAPE, ModelConfig
from engine.tts.voxtream.network.model import delayed
from tests.engine.tts.voxtream import small_model
from tests.engine.tts.voxtream.random_weights import random_mimi
from tests.parity.free_running import (
    EDITION,
    FRAMES,
    KEPT,
    LOGIT_STRIDE,
    OF_SIZE,
    SCENARIOS,
    SEED,
    Frame,
    Ours,
    Scenario,
    encoded,
    frame_of,
    recording,
    speaker,
    words,
)
from tests.parity.reference import Reference, SoundingWeights, context_of

TOLERANCE = 1e-5
SIZES: dict[str, ModelConfig] = {"small": small_model.SMALL, "full": VOXTREAM2_SHAPE}


class Theirs:
    """The public loop, as SpeechGenerator.generate_stream runs it, without its codec's decoder."""

    def __init__(self, reference: Reference, shape: ModelConfig, codes: Tensor) -> None:
        from voxtream.utils.generator import text

        self._reference, self._text = reference, text
        columns = delayed(codes, shape)
        self._columns = columns
        self._speaker = torch.stack(
            (speaker(shape.speaker_width), torch.zeros(shape.speaker_width))
        )
        prompt = torch.tensor([BOS, *[UNKNOWN] * (columns.shape[2] - 1)])
        self._prompt = prompt.expand(2, -1)
        self._context = SimpleNamespace(
            **vars(context_of(reference)),
            device="cpu",
            extract_phone_embeddings=reference.model.extract_phoneme_embeddings,
            phone_to_token=None,
            phonemizer=None,
        )
        text.text_to_phone_tokens = _phone_tokens

    def run(self, scenario: Scenario) -> tuple[list[Frame], list[Tensor]]:
        """Frames drawn, and the logits of every frame."""
        reference, model, runtime = self._reference, self._reference.model, self._reference.runtime
        torch.manual_seed(SEED)
        model.reset_caches()
        length = self._columns.shape[2]
        heard: list[Tensor] = []
        hook = model.sem_head.register_forward_hook(lambda _, __, out: heard.append(out[0].clone()))
        projected = model.spk_emb_proj(self._speaker)
        indices = torch.arange(length)[None, :, None].expand(2, -1, 2)
        state = SimpleNamespace(
            phone_emb_indices=indices, phone_emb_max_idx=length - 1, eos_idx=750, state_counter={}
        )
        rate = runtime.SpeakingRateRuntimeState(cfg_gamma=reference.config.cfg_gamma)
        if not scenario.rates:
            (rate.cur_spk_rate_cnt, rate.spk_rate_window_frames, rate.spk_rate_history) = (
                runtime.init_current_duration_state(config=reference.config, device="cpu")
            )
        codes, position, frames = self._columns, torch.arange(length)[None], []
        known = self._known(scenario)
        for number in range(FRAMES):
            rows, count = known(state)
            rate = runtime.update_speaking_rate_params(
                speaking_rate=iter([scenario.rate(number)]) if scenario.rates else None,
                speaking_rate_config=reference.rates,
                state=rate,
                config=reference.config,
                device="cpu",
            )
            frame, token, rate.cur_spk_rate_cnt = model.generate_frame(
                config=reference.config,
                phone_emb=model.reorder_phone_emb(rows, indices),
                audio_tokens=codes,
                input_pos=position,
                spk_embeddings=projected,
                cfg_gamma=rate.cfg_gamma,
                spk_rate_weight=rate.spk_rate_weight,
                cur_spk_rate_cnt=rate.cur_spk_rate_cnt,
                target_spk_rate_cnt=rate.target_spk_rate_cnt,
            )
            rate = runtime.update_speaking_rate_history(rate, token)
            frames.append(frame_of(token, frame))
            codes, state = runtime.update_indices_and_tokens(
                token, frame, number, count, state, self._context
            )
            indices, position = state.phone_emb_indices, position[:, -1:] + 1
        hook.remove()
        return frames, heard

    def _known(self, scenario: Scenario) -> Any:
        """What gives the phone rows and their number before every frame."""
        nothing = torch.zeros(2, 0, dtype=torch.int64)
        texts = [str(number) for number in range(len(words()))]
        length = self._prompt.shape[1]
        if not scenario.by_word:
            _, rows, count = self._text.prepare_non_streaming_text(
                " ".join(texts), self._prompt, nothing, length, self._context
            )
            return lambda state: (rows, count)
        given = iter(texts)
        tokens, gaps, rows, count = self._prompt, nothing, None, 0

        def known(state: Any) -> tuple[Tensor, int]:
            nonlocal tokens, gaps, rows, count
            while True:
                tokens, rows, count, gaps, over = self._text.prepare_streaming_text(
                    text_gen=given,
                    phone_tokens=tokens,
                    punct_del_indices=gaps,
                    empty_text_stream=False,
                    prompt_len=length,
                    ctx=self._context,
                )
                enough = self._reference.config.min_look_ahead_phones
                if over or count - state.phone_emb_max_idx >= enough:
                    return rows, count

        return known


def _phone_tokens(text: str, **_: Any) -> list[list[int]]:
    """In place of the reference's g2p: phones, where marks are put in, where they are taken out,
    and marks.
    """
    phones, inserted, marks = [], [], []
    for number in text.split():
        word = words()[int(number)]
        phones += [int(phone) for phone in word.phones]
        if word.mark:
            inserted.append(len(phones))
            marks.append(MARKS[word.mark])
    removed = list(inserted + np.arange(len(inserted)))
    return [phones, inserted, removed, marks]


def compared(path: Path, size: str) -> tuple[dict[str, Any], list[str]]:
    """What is kept of theirs, and what of ours differs from it."""
    shape = SIZES[size]
    weights = SoundingWeights(shape, 0)
    mimi = small_model.small_mimi() if size == "small" else random_mimi(shape.codebooks, 0)
    reference = Reference(path, weights, shape, EDITION)
    ours = Ours(weights, shape, mimi)
    codes = encoded(_louder(), shape.codebooks)
    off = [] if torch.equal(codes, ours.codes) else ["the prompt's codes"]
    quiet = brought_to(recording(), SAMPLE_RATE, EDITION.loudness or 0.0)
    if np.abs(quiet - _louder()).max() > 1e-6:
        off.append("the prompt's loudness")
    theirs = Theirs(reference, shape, codes)
    kept: dict[str, Any] = {"prompt": codes.tolist()}
    for name in OF_SIZE[size]:
        scenario = SCENARIOS[name]
        frames, logits = theirs.run(scenario)
        mine, my_logits = ours.run(scenario)
        worst = max(
            float((one - other).abs().max() / other.abs().max())
            for one, other in zip(my_logits, logits, strict=True)
        )
        same = sum(one == other for one, other in zip(mine, frames, strict=True))
        sys.stdout.write(f"{size}, {name}: {same} of {FRAMES} frames equal, logits {worst:.1e}\n")
        sys.stdout.flush()
        if same < FRAMES or worst > TOLERANCE:
            off.append(name)
        kept[name] = {
            "frames": [[frame.token, frame.semantic, frame.acoustic] for frame in frames],
            "logits": [
                [round(value, 6) for value in logits[at][::LOGIT_STRIDE].tolist()] for at in KEPT
            ],
        }
    return kept, off


def _louder() -> np.ndarray:
    """The recording at the edition's loudness, by the reference."""
    from voxtream.utils.generator.prompt import normalize_prompt_loudness

    pcm = torch.from_numpy(recording())[None]
    louder: np.ndarray = normalize_prompt_loudness(pcm, SAMPLE_RATE, EDITION.loudness)[0].numpy()
    return louder


def main() -> int:
    reference, file, *sizes = sys.argv[1:]
    kept = json.loads(Path(file).read_text()) if Path(file).exists() else {}
    differing: list[str] = []
    with torch.inference_mode():
        for size in sizes:
            kept[size], off = compared(Path(reference), size)
            differing += off
            Path(file).write_text(json.dumps(kept), encoding="utf-8")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
