"""A voice prepared for one model, and frames that continue it: from phone vectors to the codes and
samples of frames, by plain calls or as one CUDA graph.

Everything that depends on the voice alone is computed once. The look-ahead of the phone transformer
depends on the first words, so the state exists once for each look-ahead, computed when first
needed. Opening an utterance then costs a copy, and computing the few prompt columns that see the
text. Plain calls and the graph call the same model functions in the same order; the graph only
keeps every tensor in place, so that a frame is one launch and one transfer back. Invariant: both
make the same frames of the same prompt, phones and controls; the state of a prompt is never written
to after it was computed, and sessions copy what they change.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.codec.mimi import FRAME_SAMPLES, NOTHING, PHONE_ROWS, Mimi, MimiStream
from engine.nn.graphs import FixedKvCache, Graphed
from engine.nn.transformer import KvCache
from engine.tts.phones import SPECIAL, SpecialPhones
from engine.tts.voxtream.config import ROWS
from engine.tts.voxtream.network.model import Choice, Controls, VoxtreamModel, delayed
from engine.tts.voxtream.network.phones import PhoneRows, extend


@dataclass(frozen=True)
class PromptState:
    """The state of an utterance after the prompt: its own temporal cache, and the last column's
    output.
    """

    cache: KvCache
    hidden: Tensor  # [B, D]


@dataclass
class PreparedPrompt:
    """A voice prepared for one model; all sessions share it."""

    model: VoxtreamModel
    tokens: Tensor  # [B, Q] ids of the prompt's phones
    places: Tensor  # [P, 2] the first and last of those that each column speaks
    columns: Tensor  # [B, K, P] codes with the acoustic delay
    speaker: Tensor  # [B, D] added to the depth transformer's first input
    last_acoustic: Tensor  # [1, K - 1] acoustic codes of the prompt's last frame
    heard: Tensor  # [1, K, N] codes of the prompt's last frames, decoded before an utterance
    _rows: dict[int, PhoneRows] = field(default_factory=dict)
    _caches: dict[int, KvCache] = field(default_factory=dict)
    _stream: MimiStream | None = None  # the codec's state behind them

    @property
    def length(self) -> int:
        """P, the number of prompt columns."""
        return self.columns.shape[2]

    @property
    def phones(self) -> int:
        """Q, the number of prompt phones."""
        return self.tokens.shape[1]

    @property
    def last_phone(self) -> int:
        """The index of the last phone of the last column."""
        return int(self.places[-1, 1])

    @property
    def room(self) -> int:
        """The number of frames that the temporal transformer's window holds after the prompt."""
        return self.model.config.audio_window - self.length

    def rows(self, look_ahead: int) -> PhoneRows:
        """Return the phone rows of the prompt for one look-ahead."""
        if look_ahead not in self._rows:
            model = self.model
            none = PhoneRows(look_ahead, model.config.phone_window)
            embedded = model.phone_embeddings(self.tokens)
            self._rows[look_ahead] = extend(none, embedded, model.phone)
        return self._rows[look_ahead]

    def cache(self, look_ahead: int) -> KvCache:
        """Return the temporal cache of the prompt columns that do not depend on the text."""
        if look_ahead not in self._caches:
            model, rows = self.model, self.rows(look_ahead)
            batch = len(self.columns)
            cache = KvCache(model.config.temporal, batch, model.device, model.dtype)
            final = rows.final(model.config.phone.layers)
            settled = int((self.places[:-1, 1] < final).sum())
            if settled:
                self._prefill(cache, rows, settled)
            self._caches[look_ahead] = cache
        return self._caches[look_ahead]

    def open(self, rows: PhoneRows) -> PromptState:
        """Return the temporal state after the prompt, given the phone rows of prompt and first
        text.
        """
        settled = self.cache(rows.look_ahead)
        cache = settled.copy(settled.length)
        return PromptState(cache, self._prefill(cache, rows, self.length))

    def sound_on(self, mimi: Mimi) -> MimiStream:
        """Return a stream of the codec that continues after the prompt's last frames, or after
        silence if there are none.
        """
        if not self.heard.shape[-1]:
            return mimi.open()
        if self._stream is None:
            self._stream = mimi.open()
            mimi.decode_frame(self._stream, self.heard)
        return mimi.copied(self._stream)

    def _prefill(self, cache: KvCache, rows: PhoneRows, end: int) -> Tensor:
        """Run the prompt columns from cache.length up to `end`. Return the output of
        the last one.
        """
        start = cache.length
        phones = rows.rows[:, self.places[start:end] - rows.first]  # [B, T, 2, D]
        columns = self.model.columns(phones.sum(dim=2), self.columns[:, :, start:end])
        return self.model.temporal.append(columns, cache)[:, -1]


def prepare(
    model: VoxtreamModel,
    codes: Tensor,
    speaker: Tensor,
    special: SpecialPhones = SPECIAL,
) -> PreparedPrompt:
    """Prepare a prompt from codes [K, T] and a speaker vector [192]. Its phones are masked."""
    codes = codes.to(model.device, torch.int64)
    last = codes[None, 1 : model.codebooks, -1]
    first = max(0, codes.shape[1] - model.generation.frames_heard)
    heard = codes[None, : model.codebooks, first:]
    columns = delayed(codes, model.config)
    length = columns.shape[2]
    tokens = torch.full((ROWS, length), special.unknown, device=model.device)
    tokens[:, 0], tokens[:, -1] = special.bos, special.prompt_end
    places = torch.arange(length, device=model.device)[:, None].expand(-1, 2)
    rows = model.speaker_rows(speaker)
    return PreparedPrompt(model, tokens, places, columns, rows, last, heard)


# ------------------------------------------------------------------------------ frames


@dataclass(frozen=True)
class DrawnFrame:
    """The duration token of a frame, and the samples [S] of the frame before it, both
    on the host.
    """

    token: int
    pcm: Tensor


def pack_controls(
    guidance: float, rate_bias: tuple[float, ...], token_noise: Tensor, code_noise: Tensor
) -> Tensor:
    """Concatenate one frame's controls to one tensor on the host, for a single copy to
    the device.
    """
    return torch.cat((torch.tensor((guidance, *rate_bias)), token_noise[0], code_noise[0]))


def _spread(packed: Tensor, model: VoxtreamModel) -> Controls:
    """Return the controls of pack_controls() on the model's device."""
    packed, tokens = packed.to(model.device), model.config.duration_tokens
    rest = packed[1 + tokens :]
    return Controls(packed[0], packed[1 : 1 + tokens], rest[None, :tokens], rest[None, tokens:])


class EagerFrames:
    """Makes frames by plain calls, for the CPU. Caches grow with their content.

    The frames of one passage are made in order: first() once, then next() for each, at most as many
    as the temporal transformer's window holds after the prompt.
    """

    def __init__(self, prompt: PreparedPrompt, mimi: Mimi) -> None:
        self.prompt = prompt
        self._mimi = mimi
        self._stream = prompt.sound_on(mimi)
        self._depth = prompt.model.acoustic_memory(len(prompt.columns))
        self._cache: KvCache | None = None
        self._codes = prompt.last_acoustic  # [1, K] once the first frame is drawn

    def first(self, opened: PromptState, controls: Tensor) -> int:
        """Draw the first frame after the prompt. Return its duration token. Its samples come with
        the next frame, which computes its acoustic codes.
        """
        self._cache = opened.cache
        choice = self._choose(opened.hidden, controls)
        # The acoustic codes of the prompt's last frame are known; the released loop computes them
        # again, which costs a third of the first packet.
        self._codes = torch.cat((choice.code, self.prompt.last_acoustic), dim=1)
        return int(choice.token)

    def next(self, phones: Tensor, said: tuple[int, int], controls: Tensor) -> DrawnFrame:
        """Draw a frame. `phones`: the phone vector [B, D] of the frame before; `said`: the ids of
        that frame's first and last phone.
        """
        prompt, model = self.prompt, self.prompt.model
        assert self._cache is not None, "first() comes first"
        codes = self._codes[:, :, None].expand(len(phones), -1, -1)
        columns = model.columns(phones[:, None], codes)
        hidden = model.temporal.append(columns, self._cache)[:, -1]
        choice = self._choose(hidden, controls)
        acoustic = self._acoustic(hidden + prompt.speaker, choice.code, controls)
        spoken = torch.cat((self._codes[:, :1], acoustic), dim=1)
        self._codes = torch.cat((choice.code, acoustic), dim=1)
        phone_ids = spoken.new_tensor(said).view(1, -1, 1)
        pcm = self._mimi.decode_frame(self._stream, spoken[:, :, None], phone_ids)
        return DrawnFrame(int(choice.token), pcm[0, 0].float().cpu())

    def close(self) -> None:
        """End the passage, whether it is complete or not."""
        self._cache = None

    def _choose(self, hidden: Tensor, controls: Tensor) -> Choice:
        model = self.prompt.model
        return model.choose(hidden, _spread(controls, model))

    def _acoustic(self, hidden: Tensor, semantic: Tensor, controls: Tensor) -> Tensor:
        return self.prompt.model.acoustic_codes(hidden, semantic, self._depth)


class GraphFrames:
    """Makes the same frames by replaying one graph over buffers that stay in place, for CUDA.

    Capturing takes seconds, so one object serves many utterances in turn: serve() begins one,
    close() returns the object through `hand_back`.
    """

    def __init__(
        self, model: VoxtreamModel, mimi: Mimi, hand_back: Callable[["GraphFrames"], None]
    ) -> None:
        config, device, dtype = model.config, model.device, model.dtype
        self._model, self._mimi, self._hand_back = model, mimi, hand_back
        self._stream = mimi.open()
        self._cache = FixedKvCache(config.temporal, ROWS, config.audio_window, device, dtype)
        self._depth = model.acoustic_memory()
        self._phones = torch.zeros(ROWS, config.width, device=device, dtype=dtype)
        self._speaker = torch.zeros_like(self._phones)
        self._codes = torch.zeros(1, model.codebooks, device=device, dtype=torch.int64)
        self._said = torch.full((1, PHONE_ROWS, 1), NOTHING, device=device)
        count = 1 + 2 * config.duration_tokens + model.generation.top_codes
        self._steering = torch.ones(count, device=device)
        # Pinned, or the copy to the device would wait for the work queued there.
        self._controls = torch.ones(count, pin_memory=device.type == "cuda")
        self._prompt: PreparedPrompt | None = None
        with torch.inference_mode():
            self._graph = Graphed(self._frame, device)

    def serve(self, prompt: PreparedPrompt) -> None:
        """Begin a new utterance."""
        self._prompt = prompt
        self._speaker.copy_(prompt.speaker)
        self._mimi.restart(self._stream)
        if prompt.heard.shape[-1]:
            self._mimi.decode_frame(self._stream, prompt.heard)

    def first(self, opened: PromptState, controls: Tensor) -> int:
        assert self._prompt is not None, "serve() comes first"
        model = self._model
        self._cache.load(opened.cache)
        choice = model.choose(opened.hidden, _spread(controls, model))
        self._codes.copy_(torch.cat((choice.code, self._prompt.last_acoustic), dim=1))
        return int(choice.token)

    def next(self, phones: Tensor, said: tuple[int, int], controls: Tensor) -> DrawnFrame:
        self._phones.copy_(phones)
        self._said.copy_(torch.tensor(said).view(1, -1, 1))
        self._controls.copy_(controls)  # free: the frame before was waited for
        self._steering.copy_(self._controls, non_blocking=True)
        host = self._graph().cpu()  # the frame's only sync
        return DrawnFrame(int(host[FRAME_SAMPLES]), host[:FRAME_SAMPLES].clone())

    def close(self) -> None:
        self._prompt = None
        self._hand_back(self)

    def _frame(self) -> Tensor:
        """Return samples and token, [S + 1]. This function is captured; it reads and writes only
        the buffers above.
        """
        model, codes = self._model, self._codes
        columns = model.columns(self._phones[:, None], codes[:, :, None].expand(ROWS, -1, -1))
        rotation = model.temporal.rotary.pick(self._cache.position)
        hidden = model.temporal(columns, rotation, self._cache, self._cache.mask())[:, -1]
        choice = model.choose(hidden, _spread(self._steering, model))
        acoustic = model.acoustic_codes(hidden + self._speaker, choice.code, self._depth)
        codebooks = torch.cat((codes[:, :1], acoustic), dim=1)
        pcm = self._mimi.decode_frame(self._stream, codebooks[:, :, None], self._said)
        codes.copy_(torch.cat((choice.code, acoustic), dim=1))
        # Clamped for the warm-up; first() sets the real position.
        self._cache.position.add_(1).clamp_(max=self._cache.capacity)
        return torch.cat((pcm[0, 0].float(), choice.token[0].float()))


FrameMaker = EagerFrames | GraphFrames
