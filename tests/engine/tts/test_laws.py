"""Every synthesiser obeys the laws of a session (laws.py): those that speak, and small models of
random weights, where a constant of generation could break a law with that constant too.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.nn.packed.product_graph import Precision
from engine.settings import SpeechSettings
from engine.tts import registry
from engine.tts.base import AudioFrame, Finished, Pcm, Starved, Step, TtsModel
from engine.tts.voxtream.config import EDITIONS
from engine.tts.voxtream.files.paths import PUBLISHED, VOXTREAM2_1
from tests.engine.tts import laws
from tests.engine.tts.kokoro import small as kokoro
from tests.engine.tts.llmvox import small_model as llmvox
from tests.engine.tts.llmvox.published import small_model as llmvox_published
from tests.engine.tts.smlle import small as smlle
from tests.engine.tts.speakstream import small_model as speakstream
from tests.engine.tts.utterances import longest_silence
from tests.engine.tts.voxtream import small_model as voxtream2
from tests.engine.tts.voxtream.voxtream1 import small_voxtream1 as voxtream1
from tests.help.fakes.tts import FakeTts

Make = Callable[[], TtsModel]
Law = Callable[[TtsModel], None]
ALL, SYSTEM = laws.LAWS, laws.LAWS_OF_A_SYSTEM  # VoXtream2, Kokoro and espeak hold all of them
WITH_A_RATE = (*SYSTEM, laws.a_new_rate_changes_later_words_only)
TWO = (laws.word_by_word_equals_all_at_once, laws.every_word_has_one_onset_in_order)
# What a graph could break most easily: what it keeps between calls. Its other cases are long.
OF_A_GRAPH = (
    laws.word_by_word_equals_all_at_once,
    laws.sessions_do_not_disturb_each_other,
    laws.closing_at_any_moment_leaves_the_model_whole,
)
GRAPH = "voxtream2, one graph"


def warmed(make: Make) -> TtsModel:
    """As the program makes it ready."""
    model = make()
    model.warm(model.voices()[0])
    return model


def but(*laws_left_out: Law) -> tuple[Law, ...]:
    """All laws but these, in an order that is the same in every process."""
    return tuple(law for law in (*ALL, *laws.LAWS_OF_SPEECH) if law not in laws_left_out)


def windowed(window: int, hop: int) -> Make:
    drawn = replace(speakstream.GENERATION, window=window, hop=hop, temperature=0.8)
    return partial(speakstream.small, drawn, seed=2)


def switched(**changes: object) -> Make:
    return partial(smlle.small, replace(smlle.GENERATION, **changes))  # type: ignore[arg-type]


def shipped(name: str) -> TtsModel:
    return registry.load(SpeechSettings(engine=name), lambda text, fraction: None)


DRAWN = replace(llmvox.GENERATION, dropout=0.5, temperature=0.7)
MODELS: dict[str, tuple[Make, tuple[Law, ...]]] = {
    "fake": (FakeTts, but(*laws.OF_REAL_SPEAKERS)),
    "espeak": (
        partial(shipped, "espeak"),
        but(laws.text_without_a_sound_is_silent),
    ),  # it pauses also for marks alone
    "kokoro": (kokoro.small, ALL),
    "kokoro, learnt": (kokoro.small_learnt, ALL),
    "voxtream2": (partial(warmed, voxtream2.small), ALL),
    "voxtream2, passages": (partial(voxtream2.small, passage_frames=5), TWO),
    "voxtream2, reading ahead": (
        partial(voxtream2.small, edition=EDITIONS[VOXTREAM2_1], passage_frames=20),
        tuple(law for law in ALL if law not in laws.LAWS_WITHOUT_TIME),
    ),
    "voxtream2, stretched": (
        partial(voxtream2.small, lowest_rate=2.5, highest_rate=3.0),
        (laws.paces_are_the_same_word_by_word, laws.every_word_has_one_onset_in_order),
    ),
    "voxtream2, 8 bits": (partial(voxtream2.small, Precision.INT8), OF_A_GRAPH),
    GRAPH: (partial(warmed, partial(voxtream2.small, graphs=True)), ALL),
    "voxtream": (partial(warmed, voxtream1.small), SYSTEM),
    "llmvox": (llmvox.small, SYSTEM),
    "llmvox, drawn": (partial(llmvox.small, DRAWN), TWO),
    "llmvox-published": (llmvox_published.small, SYSTEM),
    "speakstream": (speakstream.small, WITH_A_RATE),
    "speakstream, one word": (windowed(1, 1), TWO),
    "speakstream, four words": (windowed(4, 1), TWO),
    "speakstream, two at once": (windowed(4, 2), TWO),
    "smlle": (smlle.small, WITH_A_RATE),
    "smlle, passages": (switched(passage_steps=20), TWO),
}
# Their sessions are those of the same code on another shape.
THE_SAME_CODE = {"starter", *PUBLISHED}


CASES = [
    pytest.param(
        name,
        law,
        id=f"{name}-{law.__name__}",
        marks=pytest.mark.long if name == GRAPH and law not in OF_A_GRAPH else (),
    )
    for name, (_, held) in MODELS.items()
    for law in held
]


@pytest.fixture(scope="module")
def loaded() -> Iterator[dict[str, TtsModel]]:
    """Those that a law has asked for."""
    models: dict[str, TtsModel] = {}
    yield models
    for model in models.values():
        model.close()


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize(("name", "law"), CASES)
def test_a_session_obeys(loaded, name, law) -> None:
    if name not in loaded:
        loaded[name] = MODELS[name][0]()
    law(loaded[name])


def test_no_registered_synthesiser_escapes_the_laws():
    assert set(registry.NAMES) <= set(MODELS) | THE_SAME_CODE


# ------------------------------------------------------------------ what comes with the program


SHIPPED = ["starter", "llmvox", "smlle", "speakstream", "voxtream"]
LONG_TEXT = (
    "counterrevolutionaries misunderstood telecommunications infrastructure unfortunately "
    "antidisestablishmentarianism internationalization electroencephalography of the dogs asked "
    "strength twelfths said: “perhaps” (well), — disproportionately"
)
LONG_WORDS = LONG_TEXT.split()


def spoken(
    model: TtsModel, words: list[str], moves: list[tuple[float, float]], every: int, seed: int
) -> Pcm:
    """Samples of words of which one comes with every so many steps (0 = all before the first). The
    rate is that of the last move: (seconds of speech, SPS).
    """
    voices, pcm, waiting = model.voices(), np.zeros(0, np.float32), list(words)
    with model.open(voices[seed % len(voices)], seed=seed) as session:
        step: Step = Starved()
        for number in count():
            passed = [sps for at, sps in sorted(moves) if at * model.info.sample_rate <= len(pcm)]
            session.rate = passed[-1] if passed else None
            if not every:
                laws.push(session, waiting)
            elif waiting and (isinstance(step, Starved) or number % every == 0):
                laws.push(session, [waiting.pop(0)], ended=not waiting)
            waiting = waiting if every else []
            step = session.step()
            if isinstance(step, Finished):
                return pcm
            pcm = np.concatenate([pcm, step.pcm]) if isinstance(step, AudioFrame) else pcm
    raise AssertionError("the session gives frames for ever")


@pytest.mark.parametrize(
    "name", ["espeak", *(pytest.param(name, marks=pytest.mark.long) for name in SHIPPED)]
)
@settings(max_examples=10)
@example(LONG_WORDS[:4], [(0.0, 7.0), (0.6, 1.0)], 0, 10)
@example([*LONG_WORDS[:1], *LONG_WORDS[-6:]], [(0.0, 1.0)], 0, 0)
@given(
    st.lists(st.sampled_from(LONG_WORDS), min_size=3, max_size=8),
    st.lists(st.tuples(st.floats(0.0, 6.0), st.floats(1.0, 7.0)), min_size=1, max_size=3),
    st.integers(0, 15),
    st.integers(0, 99),
)
def test_no_silence_inside_a_sentence_is_long(loaded, name, words, moves, every, seed):
    """At any rate and any move, however words come. Kokoro has such tests of its own."""
    if name not in loaded:
        loaded[name] = shipped(name)
    model = loaded[name]
    pcm = spoken(model, words, moves, every, seed)
    assert longest_silence(pcm, model.info.sample_rate) <= 1.2
