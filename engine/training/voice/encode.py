"""The stage `encode`: every utterance as codes, duration tokens, phone ids and a speaker vector.

Invariant: the encoder gets what it will get in use: clean speech to say, and prompts as a person
would record them (with noise and rooms in the share that the recipe gives).
"""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soxr
import torch
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small import load_small
from engine.text.phonemes import Espeak, PhonedWord, is_nucleus
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.shards import Entry, Shard, read_shards
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.encoded import encode_shards
from engine.training.run import Run, read_json, write_json
from engine.training.teachers.sounds import phoned
from engine.training.voice import fine_tuning, frames
from engine.training.voice.model import tokens_of
from engine.training.voice.utterances import Encoded
from engine.tts.pack_files import PHONES_FILE
from engine.tts.phones import MARKS, PhoneTable, own_ids
from engine.tts.speaker.small import SAMPLE_RATE as SPEAKER_RATE
from engine.tts.speaker.small import SmallSpeaker, load_small_speaker


def encode_corpus(run: Run) -> None:
    """Encode all shards that are not encoded yet; rare phones are removed from the table here."""
    inputs, recipe = run.require("corpus", "codec", "speaker"), run.recipe
    taken = fine_tuning.phones(recipe) if recipe.begin_with else None
    codec, speaker = (run.stage(name) / f"{name}.safetensors" for name in ("codec", "speaker"))
    files = (codec, speaker, write_phones(run, "encode", taken))
    how = ((recipe.seed, recipe.voice.noisy_prompts), run.device, recipe.system)
    encode_shards(run, "encode", _Work, files, *how)
    run.finish("encode", inputs)


def write_phones(run: Run, stage: str, ids: dict[str, int] | None = None) -> Path:
    """Write the phones' ids beside what a stage encodes; the file. None = our own numbering,
    without phones that the corpus has rarely: the table then spells them with similar ones.
    """
    if ids is None:
        counts: Counter[str] = Counter()
        for shard in read_shards(run.stage("corpus")):
            for entry in shard.entries:
                counts.update(entry.phones)
        fewest = run.recipe.corpus.rare_phone
        ids = {phone: number for phone, number in own_ids().items() if counts[phone] >= fewest}
    file = run.stage(stage) / PHONES_FILE
    write_json(file, ids)
    return file


def phoned_words(entry: Entry, espeak: Espeak) -> list[PhonedWord]:
    """The words of an utterance's text; none where their phones are not those that were spoken."""
    words = phoned(entry.text, espeak)
    same = tuple(phone for word in words for phone in word.phones) == entry.phones
    return words if same else []


class _Work:
    """Encodes shards with one codec, one speaker encoder and one table."""

    def __init__(
        self,
        codec: str,
        speaker: str,
        table: str,
        noise: tuple[int, float],
        device: str,
        system: str,
    ) -> None:
        """`noise`: a seed, and the share of the prompts with noise and a room."""
        place = torch.device(device)
        self._codec = load_small(Path(codec), place)
        self._speaker = load_small_speaker(Path(speaker)).to(place)
        self._table = PhoneTable(read_json(Path(table)))
        (self._seed, self._noisy), self._tokens = noise, tokens_of(system)

    def encoded(self, shard: Shard) -> list[Encoded]:
        """Every utterance that can be aligned."""
        draw = random.Random(f"{self._seed} prompts {shard.index.stem}")
        utterances = (
            self._utterance(place, entry, pcm, draw)
            for place, (entry, pcm) in enumerate(shard.spoken())
        )
        return [each for each in utterances if each is not None]

    def _utterance(
        self, place: int, entry: Entry, pcm: npt.NDArray[np.float32], draw: random.Random
    ) -> Encoded | None:
        phones = aligned_phones(entry, self._table)
        speech_frames = -(-entry.end // FRAME_SAMPLES)
        walk = frames.walk(phones["starts"], speech_frames, self._tokens)
        total = -(-len(pcm) // FRAME_SAMPLES)
        if walk is None or total < speech_frames + frames.CLOSING_FRAMES:
            return None
        codes = prompt_codes = self._codes(pcm)
        prompt = pcm
        if draw.random() < self._noisy:
            prompt = in_a_room(pcm, SAMPLE_RATE, draw)
            prompt_codes = self._codes(prompt)
        return Encoded(
            place,
            entry.speaker,
            codes,
            prompt_codes,
            speaker_vector(self._speaker, prompt),
            walk.astype(np.int8),
            phones["ids"].astype(np.int16),
            phones["nuclei"].astype(np.int8),
            phones["marks"].astype(np.int16),
        )

    def _codes(self, pcm: npt.NDArray[np.float32]) -> npt.NDArray[np.int16]:
        """[K, T]"""
        codes = self._codec.encode(torch.from_numpy(pcm)[None, None])
        return codes[0].cpu().numpy().astype(np.int16)


@torch.inference_mode()
def speaker_vector(speaker: SmallSpeaker, pcm: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Who speaks in samples [S] at 24 kHz, of length 1."""
    samples = torch.from_numpy(soxr.resample(pcm, SAMPLE_RATE, SPEAKER_RATE))
    device = next(speaker.parameters()).device
    vector = functional.normalize(speaker.embed(samples.to(device)), dim=0)
    values: npt.NDArray[np.float32] = vector.cpu().numpy()
    return values


def aligned_phones(entry: Entry, table: PhoneTable) -> dict[str, npt.NDArray[np.int64]]:
    """Ids of an utterance's phones with their starts (samples) and whether they carry a syllable,
    and marks as pairs (ids before it, its id) [M, 2].
    """
    ids: list[int] = []
    starts: list[int] = []
    nuclei: list[bool] = []
    before = [0]  # ids before each phone
    ends = [*entry.starts[1:], entry.end]
    for phone, start, end in zip(entry.phones, entry.starts, ends, strict=True):
        numbers = table.ids(phone)
        for place, number in enumerate(numbers):
            ids.append(number)
            starts.append(start + (end - start) * place // len(numbers))
            nuclei.append(place == 0 and is_nucleus(phone))
        before.append(len(ids))
    marks = [(before[count], MARKS[mark]) for count, mark in entry.marks]
    return {
        "ids": np.asarray(ids, np.int64),
        "starts": np.asarray(starts, np.int64),
        "nuclei": np.asarray(nuclei, np.int64),
        "marks": np.asarray(marks, np.int64).reshape(-1, 2),
    }
