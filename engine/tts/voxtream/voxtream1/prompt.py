"""A prepared voice of VoXtream. Unlike VoXtream2's masked prompt, it contains its text: Q phones
for P frames, and the phones of each frame. Its last phones see the text that follows, so the last
columns are computed again with the first words of every utterance.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.tts.phones import BOS
from engine.tts.voxtream.network.model import VoxtreamModel, delayed
from engine.tts.voxtream.prompt import PreparedPrompt, Tables


@dataclass(frozen=True)
class AlignedPrompt:
    """The contents of a voice: codes [K, P], phone ids [Q], the first and last phone of each frame
    [P, 2], and the speaker's vector [W].
    """

    codes: Tensor
    phones: Tensor
    spans: Tensor
    speaker: Tensor


def prepare(model: VoxtreamModel, tables: Tables, prompt: AlignedPrompt) -> PreparedPrompt:
    """Prepare a prompt. Position 0 of its sequence is `bos`."""
    device = model.device
    text = torch.cat((torch.tensor([BOS]), prompt.phones)).to(device)
    codes = prompt.codes.to(device)
    prepared = PreparedPrompt(
        model,
        tables,
        tokens=text[None],
        places=torch.cat((torch.zeros(1, 2, dtype=torch.int64), prompt.spans + 1)).to(device),
        columns=delayed(codes, model.config)[:1],
        speaker=model.speaker_projection(prompt.speaker.to(device, model.dtype))[None],
        last_acoustic=codes[None, 1:, -1],
        heard=codes[None, :, :0],
    )
    prepared.cache(model.config.max_look_ahead)
    return prepared
