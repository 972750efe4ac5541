"""Kokoro's speech of complete sentences, as it was published: a sentence is planned when all of its
words are known.

Invariant: a phone begins where its first symbol begins, so nothing has to be aligned.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import numpy as np

from engine.settings import SpeechSettings
from engine.training.fetching import fetch
from engine.training.teachers.sounds import phoned
from engine.tts import registry
from engine.tts.base import Pcm
from engine.tts.kokoro.durations import Frames
from engine.tts.kokoro.plan import Plan, PlanRequest, make_plan
from engine.tts.kokoro.sentences import next_words
from engine.tts.kokoro.session import VoiceParts
from engine.tts.kokoro.source import FRAME
from engine.tts.kokoro.symbols import symbols
from engine.tts.kokoro.synthesiser import KokoroSynthesiser
from engine.tts.kokoro.voices import NAME, blend
from engine.tts.kokoro.windows import faded_out, render, with_silences
from engine.tts.rate import PLAIN


@cache
def model() -> KokoroSynthesiser:
    """Return Kokoro, fetched and with its graph cut. AssetError, ModelError."""
    fetch(NAME)
    loaded = registry.load(SpeechSettings(engine=NAME), lambda text, share: None)
    assert isinstance(loaded, KokoroSynthesiser)
    return loaded


@lru_cache(maxsize=256)  # half a megabyte each
def blended_voice(voice: str, mixed: tuple[tuple[str, float], ...]) -> VoiceParts:
    """Return a voice blended with others, each with its share. The rest of 1 is its own share."""
    named = {each.name: each for each in model().voices()}
    own = 1 - sum(share for _, share in mixed)
    parts = ((named[voice], own), *((named[name], share) for name, share in mixed))
    return model().voice_parts(blend(voice, parts))


def say(
    speaking: VoiceParts, text: str, rates: Sequence[float] = ()
) -> tuple[Pcm, list[tuple[str, int]]] | None:
    """Speak a text at exactly the given rates (SPS), one for each of equal parts of its words; () =
    the voice's own pace. Return samples at 24 kHz, and espeak-ng's phones, each with its first
    sample; the phone "" is silence. None for a text without a sound.
    """
    words, texts = phoned(text, speaking.espeak), text.casefold().split()
    asked = [rates[n * len(rates) // len(words)] if rates else None for n in range(len(words))]
    pieces: list[Pcm] = []
    phones = [("", 0)]
    first, length = 0, 0
    late: float | None = None
    while more := next_words(words[first:], len(words), all_known=True, texts=texts[first:]):
        last = first + len(more[0])
        begin = asked[first]
        paces = tuple(each / begin if each and begin else PLAIN for each in asked[first:last])
        request = PlanRequest(more[0], paces, begin, closed=True)
        plan = make_plan(speaking.parts, speaking.speaker, request, None, 0, late)
        pcm, places = _rendered(speaking, plan)
        phones += _timed(plan, (length + places).tolist(), accent=speaking.speaker.accent)
        pieces.append(pcm)
        first, length, late = last, length + len(pcm), plan.late_at_end
    return (np.concatenate(pieces), phones) if pieces else None


def _rendered(speaking: VoiceParts, plan: Plan) -> tuple[Pcm, Frames]:
    """Return a plan's samples, and the edges of its symbols in samples."""
    pcm = render(speaking.parts, speaking.voice_inputs, plan, plan.first, plan.limit).clip(-1, 1)
    pcm, places = with_silences(plan, pcm, plan.first, plan.limit)
    faded_out(pcm)
    rest = np.zeros(FRAME * (len(plan.features) - plan.limit), np.float32)
    return np.concatenate([pcm, rest]), places[(plan.edges - plan.first).clip(0, len(places) - 1)]


def _timed(plan: Plan, places: Sequence[int], *, accent: str) -> Iterator[tuple[str, int]]:
    """Yield a plan's phones with their first samples, and "" for the silence at each punctuation
    mark. `places`: the first sample of each symbol.
    """
    script = plan.script
    for word, first, end in zip(plan.request.words, script.firsts, script.ends, strict=True):
        at = first
        for phone in word.phones:
            yield phone, places[at]
            at += len(symbols(phone, accent))
        if word.phones and script.text[end : end + 1].strip():
            yield "", places[end]
