"""Measure all installed synthesisers and recognisers on this machine in the same way.

Invariant: a number is measured here and now or it is None. A part that cannot be measured has a
note with the reason.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from engine.asr import pick as ears
from engine.asr.base import SAMPLE_RATE
from engine.asr.registry import NAMES as RECOGNISERS
from engine.audio.pcm import Resampler
from engine.bench.hearing import hear
from engine.errors import EngineError
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.offline_synthesis import (
    Clock,
    OfflineSynthesis,
    SpeechRequest,
    SynthesisReport,
)
from engine.runtime.headless.say_command import collect
from engine.settings import RecogniserSettings, Settings, SpeechSettings
from engine.settings_file import data_folder
from engine.systems import KOKORO
from engine.translatable import Translatable, joined
from engine.tts import pick as speech
from engine.tts.base import Pcm, TtsModel
from engine.tts.registry import NAMES as SYNTHESISERS
from engine.tts.voxtream.files import pick as picks
from engine.tts.voxtream.files.paths import PUBLISHED
from engine.tts.voxtream.files.pick import Pick

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
    """Clock and meters. `others_s`: processor seconds per core that other programs have taken."""

    clock: Clock
    memory_mb: Callable[[], float]
    others_s: Callable[[], float]


def instruments() -> Instruments:
    """Return the instruments of this process."""
    import psutil  # compiled, and only needed here

    this = psutil.Process()

    def others_s() -> float:
        spent, own = psutil.cpu_times(), this.cpu_times()
        busy = spent.user + spent.system + getattr(spent, "nice", 0.0)  # Windows has no 'nice'
        return float(busy - own.user - own.system) / (psutil.cpu_count() or 1)

    return Instruments(Clock(), lambda: this.memory_info().rss / 2**20, others_s)


def load_published(device: str, precision: str) -> TtsModel:
    """The best edition of VoXtream2 that was fetched. ModelError when there is none."""
    from engine.tts.voxtream.files.loading import load_to_measure  # imports torch

    return load_to_measure(device, precision)


def bench(
    settings: Settings,
    *,
    factories: Factories | None = None,
    gauges: Instruments | None = None,
    quick: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    published: Callable[[str, str], TtsModel] = load_published,
) -> tuple[Row, ...]:
    """Measure on the calling thread, which must not share it with a running engine; about half a
    minute, and minutes for VoXtream2 on a processor, which `quick` leaves out. `published` loads it
    for a device in a precision. `tell` hears how far it is. Raises nothing but KeyboardInterrupt: a
    part that fails is a row with a note.
    """
    factories = factories or standard_factories()
    gauges = gauges or instruments()
    voices = bench_synthesisers(settings, factories=factories, gauges=gauges, tell=tell)
    if not quick:
        tell("Measuring VoXtream2 ...")
        voices += tuple(_published_rows(settings.speech.device, published, gauges))
    return (*voices, *bench_recognisers(settings, factories=factories, gauges=gauges, tell=tell))


def bench_synthesisers(
    settings: Settings,
    names: Sequence[str] = MEASURED_WHOLE,
    *,
    factories: Factories | None = None,
    gauges: Instruments | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Row, ...]:
    """Measure only these synthesisers, as bench() does."""
    factories = factories or standard_factories()
    gauges = gauges or instruments()
    tell("Measuring the voices ...")
    wanted = _synthesisers(settings.speech, names)
    return tuple(_synthesiser_row(one, factories, gauges) for one in wanted)


def bench_recognisers(
    settings: Settings,
    names: Sequence[str] = RECOGNISERS,
    *,
    factories: Factories | None = None,
    gauges: Instruments | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Row, ...]:
    """Measure only the recognisers, as bench() does; each takes ten seconds or so."""
    factories = factories or standard_factories()
    gauges = gauges or instruments()
    tell(f"Measuring how quickly this machine hears ({', '.join(names)}) ...")
    heard = _spoken_request(settings.speech, factories)
    return tuple(
        replace(_recogniser_row(one, factories, gauges, heard), name=name)
        for name, one in _recognisers(settings.recogniser, names)
    )


def pick_recogniser(rows: Sequence[Row]) -> ears.Pick | None:
    """Choose among the measured Whisper models and store the choice for 'auto', used from the next
    start. None = none was measured. SettingsError if it cannot be stored.
    """
    measured = {row.name: row for row in rows if row.name in ears.TITLES}
    times = {name: row.final_ms for name, row in measured.items() if row.final_ms is not None}
    if not times:
        return None
    pick = ears.judge(times.get(ears.ASSET), times.get(ears.TINY))
    if any(_was_busy(measured[name]) for name in pick.slow):
        pick = replace(pick, reason=joined((pick.reason, WHEN_IDLE)))
    ears.keep(pick, data_folder())
    return pick


def pick_synthesiser(rows: Sequence[Row]) -> speech.Pick | None:
    """Decide whether 'auto' may be Kokoro and store that, used from the next start; None = Kokoro
    was not measured. Also store the speed of each voice, for users who serve several listeners at
    once. SettingsError if it cannot be stored.
    """
    whole = (row for row in rows if row.part == "synthesiser" and not row.profile)
    if rtfs := {row.name: row.rtf for row in whole if row.rtf is not None}:
        speech.keep_speeds(rtfs, data_folder())
    row = next((row for row in rows if row.name == KOKORO), None)
    if row is None or row.rtf is None:
        return None
    pick = speech.judge(row.rtf)
    if pick.synthesiser != KOKORO and _was_busy(row):
        pick = replace(pick, reason=joined((pick.reason, WHEN_IDLE)))
    speech.keep(pick, data_folder())
    return pick


def pick_profile(rows: Sequence[Row]) -> Pick | None:
    """Judge the measured precisions of VoXtream2 and keep the pick for the next start; None = none
    was measured. SettingsError when it cannot be kept.
    """
    rtfs = {row.profile: row.rtf for row in rows if row.profile and row.rtf is not None}
    if not rtfs:
        return None
    device = next(row.device for row in rows if row.profile in rtfs)
    pick = picks.judge(device, rtfs)
    if any(_was_busy(row) for row in rows if row.profile):
        pick = replace(pick, reason=joined((pick.reason, WHEN_IDLE)))
    picks.keep(pick, data_folder())
    if pick.profile:
        speech.keep_speeds(dict.fromkeys(PUBLISHED, rtfs[pick.profile]), data_folder())
    return pick


def bench_table(rows: Sequence[Row]) -> str:
    """Return the rows as a text table."""
    titles = (
        *("part", "name", "device", "load s", "first packet ms", "RTF", "memory MB"),
        *("transcript ms", ""),
    )
    cells = [
        (
            row.part,
            row.name,
            row.device,
            _format(row.load_s, ".2f"),
            _format(row.first_packet_ms, ".1f"),
            _format(row.rtf, ".3f"),
            _format(row.memory_mb, ".0f"),
            _format(row.final_ms, ".0f"),
            row.note,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (titles, *cells)) for column in range(len(titles))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (titles, *cells)
    ]
    return "\n".join(lines)


def _was_busy(row: Row) -> bool:
    """Return whether other programs used enough of the machine to affect the measurement."""
    return (row.others or 0.0) > BUSY


def _synthesisers(settings: SpeechSettings, names: Sequence[str]) -> list[SpeechSettings]:
    """Return the settings of these synthesisers, each with its first voice."""
    return [replace(settings, engine=name, voice="", rate=None) for name in names]


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


def _synthesiser_row(settings: SpeechSettings, factories: Factories, gauges: Instruments) -> Row:
    def load() -> TtsModel:
        return factories.synthesiser(settings, lambda phrase, fraction: None)

    return _measured(Row("synthesiser", settings.engine), load, gauges, TEXT)


def _published_rows(
    device: str, load: Callable[[str, str], TtsModel], gauges: Instruments
) -> Iterator[Row]:
    """VoXtream2 in every precision, best sound first; a graphics card has only the full one."""
    for name in picks.NAMES:
        row = Row("synthesiser", NEURAL, profile=name)
        row = _measured(row, partial(load, device, name), gauges, LONGER_TEXT)
        yield replace(row, name=f"{NEURAL} {name}")
        if row.device != "cpu":
            return


def _measured(row: Row, load: Callable[[], TtsModel], gauges: Instruments, text: str) -> Row:
    """The row of a voice with its numbers; `text` is for its RTF."""
    memory, others, began = gauges.memory_mb(), gauges.others_s(), gauges.clock.now()
    try:
        model = load()
        try:
            model.warm(model.voices()[0])
            load_s = gauges.clock.now() - began
            first = [_recited(model, SHORT_TEXT, gauges.clock) for _ in range(_REPEATS)]
            whole = _recited(model, text, gauges.clock)
            return replace(
                row,
                name=model.info.name,
                device=model.info.device,
                load_s=load_s,
                first_packet_ms=statistics.median(one.first_packet_ms for one in first),
                rtf=whole.rtf,
                memory_mb=gauges.memory_mb() - memory,
                others=(gauges.others_s() - others) / max(gauges.clock.now() - began, 1e-9),
            )
        finally:
            model.close()
    except EngineError as error:
        return replace(row, note=f"not measured: {error.message}")


def _recited(model: TtsModel, text: str, clock: Clock) -> SynthesisReport:
    synthesis = OfflineSynthesis(model, SpeechRequest(text, model.voices()[0]), clock)
    collect(synthesis)
    return synthesis.report()


def _spoken_request(settings: SpeechSettings, factories: Factories) -> Pcm | None:
    """Return a spoken request of the first working synthesiser, at the recognisers' rate; None if
    there is none.
    """
    for candidate in _synthesisers(settings, MEASURED_WHOLE):
        try:
            model = factories.synthesiser(candidate, lambda phrase, fraction: None)
        except EngineError:
            continue  # its own row says why
        try:
            pcm = collect(OfflineSynthesis(model, SpeechRequest(REQUEST, model.voices()[0])))
            resampler = Resampler(model.info.sample_rate, SAMPLE_RATE)
            return np.concatenate([resampler.push(pcm), resampler.end()])
        finally:
            model.close()
    return None


def _recogniser_row(
    settings: RecogniserSettings, factories: Factories, gauges: Instruments, speech: Pcm | None
) -> Row:
    row = Row("recogniser", settings.engine)
    if speech is None:
        return replace(row, note="not measured: no synthesiser to speak to it")
    memory, others, began = gauges.memory_mb(), gauges.others_s(), gauges.clock.now()
    try:
        recogniser = factories.recogniser(settings, factories.phrases())
        try:
            load_s = gauges.clock.now() - began
            heard = [hear(recogniser, speech, gauges.clock.now) for _ in range(_HEARINGS)]
            return replace(
                row,
                load_s=load_s,
                rtf=min(one.busy_s for one in heard) * SAMPLE_RATE / len(speech),
                final_ms=min(one.final_s for one in heard) * 1000,
                memory_mb=gauges.memory_mb() - memory,
                note=recogniser.info.detail,
                others=(gauges.others_s() - others) / max(gauges.clock.now() - began, 1e-9),
            )
        finally:
            recogniser.close()
    except EngineError as error:
        return replace(row, note=f"not measured: {error.message}")


def _format(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
