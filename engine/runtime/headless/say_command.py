"""Write an offline synthesis to a file or play it through the loudspeaker.

Invariant: a sound file is complete or missing (written under a temporary name, then renamed), and
at most one frame of it is in memory, however long the text.
"""

import logging
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import soundfile

from engine.atomic_write import replacement
from engine.audio.base import Loudspeaker, Pcm
from engine.audio.pcm import SYNTHETIC
from engine.errors import DeviceError, InvalidInput, ModelError
from engine.export import check_sound, write_error
from engine.languages import SPOKEN
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.offline_synthesis import (
    Clock,
    OfflineSynthesis,
    RatePlan,
    SpeechRequest,
    SynthesisReport,
    constant,
    parse,
)
from engine.runtime.turn.playback import Playback
from engine.settings import SayOptions, Settings, SpeechSettings
from engine.text.language_choice import language_of
from engine.text.word import Word
from engine.tts import pick
from engine.tts.base import AudioFrame, Onset, TtsModel, Voice
from engine.tts.registry import BUILT_IN
from engine.tts.voice_lookup import choose, preferred_voice, voice_for

log = logging.getLogger(__name__)

FLITE_S: Final = 60.0  # flite speaks a sentence in well under a second
_TICK_S: Final = 0.01
_LOOKED_AT: Final = 1000  # characters of a text, for its language
_STALLED_S: Final = 5.0  # a loudspeaker that plays nothing for this long is gone


def say(
    text: str,
    settings: Settings,
    options: SayOptions,
    show: Callable[[float], None] = lambda share: None,
    factories: Factories | None = None,
) -> SynthesisReport:
    """Load the synthesiser of the settings, speak `text` with it, release it. `show` gets the
    spoken share of the text, 0..1. `factories` None: the real parts. Raises only EngineErrors, and
    errors of `show`, which end it without a file.
    """
    factories = factories or standard_factories()
    speech = settings.speech
    plan = constant(speech.rate) if options.rate_plan is None else parse(options.rate_plan)
    if options.out is not None:  # before the first word: a long text takes a while
        check_writable(options.out)
        check_sound(options.out)
    with loaded_voice(text, speech, options, factories, plan) as (model, request):
        synthesis = OfflineSynthesis(model, request, show=show)
        if options.out is None:
            with opened_loudspeaker(settings, factories) as loudspeaker:
                lead_ms = max(settings.audio.lead_ms, model.info.lead_ms, 1)
                play(synthesis, loudspeaker, sample_rate=model.info.sample_rate, lead_ms=lead_ms)
        else:
            write_wav(options.out, synthesis.pcm(), model.info.sample_rate)
        return synthesis.report()


@contextmanager
def loaded_voice(
    text: str,
    speech: SpeechSettings,
    options: SayOptions,
    factories: Factories,
    plan: RatePlan,
    stated: str | None = None,
) -> Iterator[tuple[TtsModel, SpeechRequest]]:
    """Load the synthesiser of the settings and a voice for the text, and release them afterwards.
    `stated`: its language, if a voice speaks it and none is chosen. See voice_of_text().
    """
    model = load_synthesiser(speech, factories)
    try:
        if not options.voice and any(each.language == stated for each in model.voices()):
            options = replace(options, language=stated)
        voice = voice_of_text(model, text, speech, options)
        model.warm(voice)
        delay_s = options.word_delay_ms / 1000
        yield model, SpeechRequest(text, voice, plan, speech.seed, delay_s, speech.pacing)
    finally:
        model.close()


@contextmanager
def opened_loudspeaker(settings: Settings, factories: Factories) -> Iterator[Loudspeaker]:
    """Open the loudspeaker of the settings with their volume, and close it afterwards."""
    with closing(factories.loudspeaker(settings.audio.loudspeaker)) as loudspeaker:
        loudspeaker.gain = settings.audio.volume
        yield loudspeaker


def voice_of_text(model: TtsModel, text: str, speech: SpeechSettings, options: SayOptions) -> Voice:
    """The voice of the options, or the one that speaks their language or that of the text.
    InvalidInput if no voice speaks the language.
    """
    voice = choose(model, speech.voice if options.voice is None else options.voice)
    if options.voice and not options.language:
        return voice
    spoken = [each.language for each in (voice, *model.voices())]
    language = options.language or language_of(text[:_LOOKED_AT], voice.language, spoken)
    found = voice_for(model, voice, language, preferred_voice(speech, language))
    if found is None:
        raise InvalidInput(
            "No voice of {model} speaks {language}.",
            hint="Fetch Kokoro and its voices, and choose it.",
            model=model.info.name,
            language=SPOKEN[language].title,
        )
    return found


def collect(synthesis: OfflineSynthesis) -> Pcm:
    """Return all samples of a synthesis [S]."""
    return np.concatenate([np.zeros(0, np.float32), *synthesis.pcm()])


class Spoken(Protocol):
    """An utterance that is spoken once."""

    def frames(self, wait: Callable[[float], None]) -> Iterator[AudioFrame]:
        """Yield every frame as soon as it is made; call `wait` with the seconds until the next word
        while words are missing.
        """
        ...

    def word(self, onset: Onset) -> Word:
        """Return the word of an onset."""
        ...


def play(
    spoken: Spoken,
    loudspeaker: Loudspeaker,
    *,
    sample_rate: int,
    lead_ms: int,
    clock: Clock | None = None,
    heard: Callable[[Word], None] = lambda word: None,
) -> None:
    """Play an utterance at `sample_rate` (Hz), computed `lead_ms` ahead of the loudspeaker. `heard`
    gets each word when it becomes audible. DeviceError if the loudspeaker is lost or stops.
    """
    clock = clock or Clock()
    playback = Playback(loudspeaker, sample_rate, clock=clock.now)

    def starve(seconds: float) -> None:
        """Wait while words are missing; the sound fades where it stops."""
        playback.starved()
        end = clock.now() + seconds
        while (left := end - clock.now()) > 0:
            playback.pump()
            clock.wait(min(_TICK_S, left))

    def wait_until(lead_ms: int) -> None:
        """Wait until at most this much speech is ahead of the ear (0 = until the end)."""
        played, moved_at = loudspeaker.samples_played, clock.now()
        while not playback.over if lead_ms == 0 else playback.lead_ms > lead_ms:
            playback.pump()
            for begun in playback.begun_words():
                heard(begun.word)
            clock.wait(_TICK_S)
            if loudspeaker.samples_played != played:
                played, moved_at = loudspeaker.samples_played, clock.now()
            elif clock.now() - moved_at > _STALLED_S:
                raise DeviceError(
                    "The loudspeaker '{name}' does not play any sound.",
                    hint="Check that it is connected, or choose another one in the settings.",
                    name=loudspeaker.name,
                )

    for frame in spoken.frames(starve):
        playback.feeding()
        playback.add(frame, tuple(spoken.word(onset) for onset in frame.onsets), None)
        wait_until(lead_ms)
    playback.complete()
    wait_until(0)


def write_wav(path: Path, blocks: Iterable[Pcm], sample_rate: int) -> None:
    """Write mono samples [S] (clipped to -1..1) as 16-bit WAV, block by block. InvalidInput if it
    cannot be written.
    """
    try:
        with (
            replacement(path) as temporary,
            soundfile.SoundFile(
                temporary, "w", sample_rate, channels=1, format="WAV", subtype="PCM_16"
            ) as file,
        ):
            file.comment = SYNTHETIC
            for pcm in blocks:
                file.write(np.clip(pcm, -1, 1))
    except (OSError, soundfile.SoundFileError) as error:
        raise write_error(path, error) from error


def check_writable(path: Path) -> None:
    """InvalidInput if no file can be created at `path`."""
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise write_error(path, error) from error


def load_synthesiser(speech: SpeechSettings, factories: Factories) -> TtsModel:
    """Load the synthesiser of the settings. The formant voice replaces 'auto' and the built-in
    neural one if they fail; for any other named synthesiser ModelError.
    """

    def load(speech: SpeechSettings) -> TtsModel:
        return factories.synthesiser(speech, lambda phrase, fraction: None)

    try:
        return load(speech)
    except ModelError as error:
        if speech.engine not in (pick.AUTO, pick.BUILT_IN):
            raise
        log.warning("%s Until then %s speaks.", error, BUILT_IN)
        return load(replace(speech, engine=BUILT_IN, voice=""))


def speak_question(text: str, path: Path) -> str:
    """Write a spoken question for the demonstration to `path` (WAV), as no recording is shipped.
    Return the name of the speaker, so that it is not mistaken for a person.

    Flite's voice is preferred: recognisers trained on people understand it far better than a
    formant voice.
    """
    if flite := shutil.which("flite"):
        check_writable(path)
        command = [flite, "-voice", "slt", "-t", text, "-o", str(path)]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(command, check=True, timeout=FLITE_S, stdin=subprocess.DEVNULL)
            return "flite"
    say(text, Settings(speech=SpeechSettings(engine=BUILT_IN, rate=3.0)), SayOptions(out=path))
    return "eSpeak NG (install flite for a voice that is easier to understand)"
