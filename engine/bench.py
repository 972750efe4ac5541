"""Measure all installed synthesisers and recognisers on this machine in the same way.

Invariant: a number is measured here and now or it is None. A part that cannot be measured has a
note with the reason. A recogniser is driven as in a conversation: the steps of the transcriber's
thread run in its order, each as soon as its audio would have arrived and the previous step is over.
Nothing waits for real audio, so this is faster than speech.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from engine.asr import pick as ears
from engine.asr.base import SAMPLE_RATE, Recogniser
from engine.asr.pick import NAMES as RECOGNISERS
from engine.audio.pcm import Resampler
from engine.errors import EngineError
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.offline_synthesis import (
    Clock,
    OfflineSynthesis,
    SpeechRequest,
    SynthesisReport,
)
from engine.runtime.headless.say_command import collect
from engine.runtime.turn.waiting import PAUSE_MS
from engine.settings import RecogniserSettings, Settings, SpeechSettings
from engine.settings.systems import KOKORO
from engine.settings_file import data_folder
from engine.translatable import Translatable, joined
from engine.tts import pick as speech
from engine.tts.base import Pcm, TtsModel
from engine.tts.registry import NAMES as SYNTHESISERS
from engine.tts.voxtream.files import pick as precision
from engine.tts.voxtream.files.paths import PUBLISHED

SHORT_TEXT: Final = "Good morning to you."
TEXT: Final = (
    "It is a quarter past seven, and the sun will rise in ten minutes. Ten miles are about sixteen "
    "kilometres. I have set a timer for the tea, and will tell you when it is ready."
)
REQUEST: Final = "What is the difference between a crow and a raven?"  # of no skill: for Whisper
LONGER_TEXT: Final = "I have set a timer for the tea, and will tell you when it is ready."
NEURAL: Final = "voxtream2"  # both editions are as fast; measured in every precision
MEASURED_WHOLE: Final = tuple(name for name in SYNTHESISERS if name not in PUBLISHED)
WHEN_IDLE: Final = Translatable(
    "Other programs kept the machine busy meanwhile: measure again when it is idle."
)
BUSY: Final = 0.2  # share of the machine that others took, from which on it is worth a word
_REPEATS: Final = 5
_HEARINGS: Final = 3  # other programs disturb the quickest run least
_PIECE: Final = SAMPLE_RATE // 10  # samples that a recogniser gets at once
_SILENT: Final = 0.01  # of the largest sample: quieter samples at the end are not speech


@dataclass(frozen=True)
class Row:
    """One part as measured. `load_s`: until ready; `first_packet_ms`: first word pushed to first
    samples out (median of 5); `rtf`: time of computing over length of audio; `memory_mb`: growth of
    resident memory by loading and using it once. None = not measured, see `note`. `profile`: the
    precision of VoXtream2, else empty. `final_ms`: of a recogniser, from the end of a request to
    its transcript in a conversation (the least of 3).
    `name`: of a Whisper that was fetched, its asset.
    """

    part: str
    name: str
    device: str = ""
    load_s: float | None = None
    first_packet_ms: float | None = None
    rtf: float | None = None
    memory_mb: float | None = None
    note: str = ""
    profile: str = ""
    others: float | None = None  # share of the machine that other programs took
    final_ms: float | None = None


@dataclass(frozen=True)
class Instruments:
    """The measured parts, and the meters. `others_s`: processor seconds per core that other
    programs have taken.
    """

    factories: Factories
    clock: Clock
    memory_mb: Callable[[], float]
    others_s: Callable[[], float]


def instruments() -> Instruments:
    """Return the instruments of this process."""
    import psutil  # compiled, and only needed here

    this = psutil.Process()

    def memory_mb() -> float:
        return float(this.memory_info().rss) / 2**20

    def others_s() -> float:
        spent, own = psutil.cpu_times(), this.cpu_times()
        busy = spent.user + spent.system + getattr(spent, "nice", 0.0)  # Windows has no 'nice'
        return float(busy - own.user - own.system) / (psutil.cpu_count() or 1)

    return Instruments(standard_factories(), Clock(), memory_mb, others_s)


def load_published(device: str, precision: str) -> TtsModel:
    """The best edition of VoXtream2 that was fetched. ModelError when there is none."""
    from engine.tts.voxtream.files.pack import load_to_measure  # imports torch

    return load_to_measure(device, precision)


# -------------------------------------------------------------------------- measuring


def bench(
    settings: Settings,
    *,
    gauges: Instruments | None = None,
    quick: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    published: Callable[[str, str], TtsModel] = load_published,
) -> tuple[Row, ...]:
    """Measure on the calling thread, which must not share it with a running engine; about half a
    minute, and minutes for VoXtream2 on a processor, which `quick` leaves out. `published` loads it
    for a device in a precision. `tell` gets the progress. Raises nothing but KeyboardInterrupt: a
    part that fails is a row with a note.
    """
    gauges = gauges or instruments()
    voices = bench_synthesisers(settings, gauges=gauges, tell=tell)
    if not quick:
        tell("Measuring VoXtream2 ...")
        voices += tuple(_published_rows(settings.speech.device, published, gauges))
    return (*voices, *bench_recognisers(settings, gauges=gauges, tell=tell))


def bench_synthesisers(
    settings: Settings,
    names: Sequence[str] = MEASURED_WHOLE,
    *,
    gauges: Instruments | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Row, ...]:
    """Measure only these synthesisers, as bench() does, each with its first voice."""
    gauges = gauges or instruments()
    tell("Measuring the voices ...")
    loaders = [(name, partial(_load_voice, settings.speech, name, gauges)) for name in names]
    return tuple(_voice_row(Row("synthesiser", name), load, gauges, TEXT) for name, load in loaders)


def bench_recognisers(
    settings: Settings,
    names: Sequence[str] = RECOGNISERS,
    *,
    gauges: Instruments | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Row, ...]:
    """Measure only the recognisers, as bench() does; each takes ten seconds or so."""
    gauges = gauges or instruments()
    tell(f"Measuring how quickly this machine hears ({', '.join(names)}) ...")
    heard = _spoken_request(settings.speech, gauges)
    if heard is None:
        note = "not measured: no synthesiser to speak to it"
        return tuple(Row("recogniser", name, note=note) for name in names)
    return tuple(
        _recogniser_row(name, own, gauges, heard)
        for name, own in _recognisers(settings.recogniser, names)
    )


def _load_voice(settings: SpeechSettings, name: str, gauges: Instruments) -> TtsModel:
    own = replace(settings, engine=name, voice="", rate=None)
    return gauges.factories.synthesiser(own, lambda phrase, share: None)


def _published_rows(
    device: str, load: Callable[[str, str], TtsModel], gauges: Instruments
) -> Iterator[Row]:
    """VoXtream2 in every precision, best sound first; a graphics card has only the full one."""
    for name in precision.NAMES:
        row = Row("synthesiser", NEURAL, profile=name)
        row = _voice_row(row, partial(load, device, name), gauges, LONGER_TEXT)
        yield replace(row, name=f"{NEURAL} {name}")
        if row.device != "cpu":
            return


def _voice_row(row: Row, load: Callable[[], TtsModel], gauges: Instruments, text: str) -> Row:
    """The row of a voice with its numbers; `text` is for its RTF."""

    def use(model: TtsModel) -> dict[str, Any]:
        model.warm(model.voices()[0])
        ready = gauges.clock.now()
        first = [_recited(model, SHORT_TEXT, gauges.clock)[1] for _ in range(_REPEATS)]
        return {
            "name": model.info.name,
            "device": model.info.device,
            "load_s": ready,
            "first_packet_ms": statistics.median(one.first_packet_ms for one in first),
            "rtf": _recited(model, text, gauges.clock)[1].rtf,
        }

    return _measured(row, load, use, gauges)


def _recogniser_row(name: str, settings: RecogniserSettings, gauges: Instruments, pcm: Pcm) -> Row:
    def use(recogniser: Recogniser) -> dict[str, Any]:
        ready = gauges.clock.now()
        heard = [hear(recogniser, pcm, gauges.clock.now) for _ in range(_HEARINGS)]
        return {
            "load_s": ready,
            "rtf": min(one.busy_s for one in heard) * SAMPLE_RATE / len(pcm),
            "final_ms": min(one.final_s for one in heard) * 1000,
            "note": recogniser.info.detail,
        }

    def load() -> Recogniser:
        return gauges.factories.recogniser(settings, gauges.factories.phrases())

    return _measured(Row("recogniser", name), load, use, gauges)


P = TypeVar("P", TtsModel, Recogniser)


def _measured(
    row: Row, load: Callable[[], P], use: Callable[[P], dict[str, Any]], gauges: Instruments
) -> Row:
    """Return the row with the figures of `use`, whose `load_s` is when the part was ready."""
    memory, others, began = gauges.memory_mb(), gauges.others_s(), gauges.clock.now()
    try:
        with closing(load()) as part:
            figures = use(part)
            figures["load_s"] -= began
            took_s = max(gauges.clock.now() - began, 1e-9)
            figures["others"] = (gauges.others_s() - others) / took_s
            return replace(row, memory_mb=gauges.memory_mb() - memory, **figures)
    except EngineError as error:
        return replace(row, note=f"not measured: {error.message}")


def _recited(model: TtsModel, text: str, clock: Clock) -> tuple[Pcm, SynthesisReport]:
    synthesis = OfflineSynthesis(model, SpeechRequest(text, model.voices()[0]), clock)
    return collect(synthesis), synthesis.report()


def _recognisers(
    settings: RecogniserSettings, names: Sequence[str]
) -> Iterator[tuple[str, RecogniserSettings]]:
    """Yield these recognisers' row names and settings: Whisper once per fetched model, and once for
    the user's own model.
    """
    for name in names:
        own = replace(settings, engine=name)
        here = ears.fetched() if name == ears.WHISPER else {}
        yield from ((asset, replace(own, model=str(folder))) for asset, folder in here.items())
        if not here or own.model.strip():
            yield name, own


def _spoken_request(settings: SpeechSettings, gauges: Instruments) -> Pcm | None:
    """Return a spoken request of the first working synthesiser, at the recognisers' rate; None if
    there is none.
    """
    for name in MEASURED_WHOLE:
        try:
            model = _load_voice(settings, name, gauges)
        except EngineError:
            continue  # its own row says why
        with closing(model):
            pcm, _ = _recited(model, REQUEST, gauges.clock)
            resampler = Resampler(model.info.sample_rate, SAMPLE_RATE)
            return np.concatenate([resampler.push(pcm), resampler.end()])
    return None


@dataclass(frozen=True)
class Hearing:
    """One utterance: seconds of computing in all, and from the last sound to the interim transcript
    that becomes its transcript.
    """

    busy_s: float
    final_s: float


def hear(recogniser: Recogniser, speech: Pcm, now: Callable[[], float]) -> Hearing:
    """Decode samples [S] at 16 kHz, then the silence after which a pause is noticed. `now` is a
    clock in seconds. RecogniserError as in the recogniser.
    """
    loud = np.flatnonzero(np.abs(speech) > _SILENT * np.abs(speech).max(initial=0.0))
    speech = speech[: int(loud[-1]) + 1] if len(loud) else speech
    busy_s = free_at = 0.0  # free_at: when the thread has finished its work
    with closing(recogniser.open()) as recognition:
        heard = np.concatenate([speech, np.zeros(PAUSE_MS * SAMPLE_RATE // 1000, np.float32)])
        for first in range(0, len(heard), _PIECE):
            piece = heard[first : first + _PIECE]
            began = now()
            recognition.push(piece)
            recognition.peek()
            recognition.partial()
            took_s = now() - began
            busy_s += took_s
            free_at = max(free_at, (first + len(piece)) / SAMPLE_RATE) + took_s
        began = now()
        recognition.interim(lambda: True)
        took_s = now() - began
        return Hearing(busy_s + took_s, free_at + took_s - len(speech) / SAMPLE_RATE)


# --------------------------------------------------------------------------- choosing


def pick_recogniser(rows: Sequence[Row]) -> ears.Pick | None:
    """Choose among the measured Whisper models and store the choice for 'auto', used from the next
    start. None = none was measured. SettingsError if it cannot be stored.
    """
    measured = {row.name: row for row in rows if row.name in ears.TITLES}
    times = {name: row.final_ms for name, row in measured.items() if row.final_ms is not None}
    if not times:
        return None
    pick = ears.judge(times.get(ears.ASSET), times.get(ears.TINY))
    pick = _with_advice(pick, [measured[name] for name in pick.slow])
    ears.keep(pick, data_folder())
    return pick


def pick_synthesiser(rows: Sequence[Row]) -> speech.Pick | None:
    """Decide whether 'auto' may be Kokoro and store that, used from the next start; None = Kokoro
    was not measured. Also store the speed of each voice, for users who serve several listeners at
    once. SettingsError if it cannot be stored.
    """
    whole = (row for row in rows if row.part == "synthesiser" and not row.profile)
    rtfs = {row.name: row.rtf for row in whole if row.rtf is not None}
    if rtfs:
        speech.keep_speeds(rtfs, data_folder())
    if KOKORO not in rtfs:
        return None
    pick = speech.judge(rtfs[KOKORO])
    if pick.synthesiser != KOKORO:
        pick = _with_advice(pick, [row for row in rows if row.name == KOKORO])
    speech.keep(pick, data_folder())
    return pick


def pick_profile(rows: Sequence[Row]) -> precision.Pick | None:
    """Judge the measured precisions of VoXtream2 and keep the pick for the next start; None = none
    was measured. SettingsError when it cannot be kept.
    """
    measured = [row for row in rows if row.profile]
    rtfs = {row.profile: row.rtf for row in measured if row.rtf is not None}
    if not rtfs:
        return None
    device = next(row.device for row in measured if row.profile in rtfs)
    pick = _with_advice(precision.judge(device, rtfs), measured)
    precision.keep(pick, data_folder())
    if pick.profile:
        speech.keep_speeds(dict.fromkeys(PUBLISHED, rtfs[pick.profile]), data_folder())
    return pick


_Pick = TypeVar("_Pick", ears.Pick, speech.Pick, precision.Pick)


def _with_advice(pick: _Pick, rows: Sequence[Row]) -> _Pick:
    """Advise to measure again if other programs used enough of the machine to affect the rows."""
    if all((row.others or 0.0) <= BUSY for row in rows):
        return pick
    return replace(pick, reason=joined((pick.reason, WHEN_IDLE)))


def bench_table(rows: Sequence[Row]) -> str:
    """Return the rows as a text table."""

    def number(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    titles = ("part", "name", "device", "load s", "first packet ms", "RTF", "memory MB")
    lines = [(*titles, "transcript ms", "")]
    for row in rows:
        figures = (
            *(number(row.load_s, ".2f"), number(row.first_packet_ms, ".1f")),
            *(number(row.rtf, ".3f"), number(row.memory_mb, ".0f"), number(row.final_ms, ".0f")),
        )
        lines.append((row.part, row.name, row.device, *figures, row.note))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (map(str.ljust, line, widths) for line in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)
