"""The synthesiser in use and its voice: loading, choosing, preparing and making voices.

Invariant: belongs to the speaker's thread, except adopt(); a model that is replaced during adopt()
stays open until it ends. If the chosen model or voice cannot be loaded, that is reported, and the
voice in use, or one without weights, speaks instead.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from engine.errors import EngineError, SynthesisError
from engine.languages import ENGLISH
from engine.messages.events import Loading, Notice, Ready, VoicesChanged
from engine.messages.voices import Mix
from engine.messages.words import Part
from engine.runtime.factories import Factories
from engine.runtime.turn.breaks import Breaks
from engine.runtime.turn.facts import VoiceAdopted
from engine.runtime.workers.loaded_part import LoadedPart
from engine.runtime.workers.worker import Tell
from engine.settings import SpeechSettings
from engine.translatable import Progress, Translatable
from engine.tts import pick, voice_lookup, voices
from engine.tts.base import TtsModel, Voice
from engine.tts.registry import BUILT_IN, VoiceCatalogue, of_model


class LoadedVoice:
    """Empty at first; load() fills it."""

    def __init__(self, factories: Factories, tell: Tell) -> None:
        self._factories = factories
        self._tell = tell
        self._model: LoadedPart[SpeechSettings, TtsModel] = LoadedPart(
            Part.SYNTHESISER,
            tell,
            load=self._load,
            use=self._use,
            size_bytes=factories.size_bytes,
            stand_in=SpeechSettings(engine=BUILT_IN),
        )
        self._model.release = self._release
        self._lock = Lock()
        self._learner: TtsModel | None = None  # makes a voice on another thread (adopt)
        self._replaced: TtsModel | None = None  # during adopt(), closed after it
        self._voice: Voice | None = None  # None = no model
        self._chosen: str | None = None  # name of the requested voice; None = for another model
        self._settings = SpeechSettings()
        self._elsewhere: dict[str, Voice] = {}  # by the language it speaks
        self._language = ENGLISH  # of the conversation
        self._warm: dict[str, Voice] = {}  # the prepared ones, by name
        self._note = ""  # the last one reported

    @property
    def sample_rate(self) -> int:
        """Sample rate of the sessions in Hz; there must be a model."""
        return self._loaded().info.sample_rate

    @property
    def lead_ms(self) -> int:
        """How far the model must run ahead of playback; 0 without a model."""
        return self._model.now.info.lead_ms if self._model.now else 0

    def load(self, settings: SpeechSettings) -> None:
        """Apply these settings from the next session on. A failure is reported, and another voice
        speaks. Loads only if necessary.
        """
        self._model.load_or_adjust(pick.resolve(settings), pick.why(settings))

    def _load(self, settings: SpeechSettings, progress: Progress) -> TtsModel:
        model = self._factories.synthesiser(settings, progress)
        progress(Translatable("Preparing the voice"), None)
        self._chosen = None
        return model

    def _use(self, model: TtsModel, settings: SpeechSettings) -> str:
        self._settings = settings
        self._elsewhere.clear()
        if settings.voice != self._chosen:
            self.select(settings)
        return self._voice_name

    def select(self, settings: SpeechSettings, *, warm: bool = True) -> None:
        """Choose other voices from the next session on; empty = the model's default. Without
        `warm`, warm() prepares the voice later.
        """
        model, name = self._model.now, settings.voice
        self._settings = settings
        self._elsewhere.clear()
        if model is None:
            return
        self._chosen = name
        try:
            self._voice = voice_lookup.choose(model, name)
            if warm:
                self.warm()
        except EngineError as error:
            self._voice = model.voices()[0]
            self._elsewhere.clear()
            self._tell(
                Notice.of("{error} Until then {name} speaks.", error=error, name=self._voice.name)
            )
        self._tell_voices(model)

    def _tell_voices(self, model: TtsModel) -> None:
        names, info = voice_lookup.voice_names(model), model.info
        has_rate = info.rate_range is not None
        about, known = of_model(model).about, voice_lookup.languages_of(model)
        languages = tuple(known.get(name, ENGLISH) for name in names)
        chosen = (self._speaking(model, language) for language in dict.fromkeys(languages))
        changed = VoicesChanged(
            names,
            self._speaking(model, self._language).name,
            info.can_clone,
            has_rate,
            info.resembles,
            tuple(about.get(name, "") for name in names),
            languages,
            tuple(voice.name for voice in chosen),
        )
        self._tell(changed)

    def warm(self) -> None:
        """Prepare the voice of the conversation's language for the next reply; slow for a new
        one.
        """
        model = self._model.now
        if model is None:
            return
        voice = self._speaking(model, self._language)
        if self._warm.get(voice.name) is not voice:
            model.warm(voice)
            self._warm[voice.name] = voice
            self._tell_note()

    def catalogue(self) -> VoiceCatalogue | None:
        """Return the voices of the synthesiser in use; None without one. From any thread."""
        model = self._model.now
        return None if model is None else of_model(model)

    def audition(self, wanted: str | Mix) -> Breaks:
        """Open a session in another voice or a mixture; slow for a new one. InvalidInput and
        ModelError if that is impossible, SynthesisError if no synthesiser has loaded.
        """
        model = self._loaded()
        if isinstance(wanted, Mix):
            voice = voice_lookup.mixed(wanted, of_model(model), voices.folder())
        else:
            voice = voice_lookup.choose(model, wanted)
        model.warm(voice)
        return Breaks(model.open(voice, seed=self._settings.seed), model.info.sample_rate)

    def remake(self, name: str) -> None:
        """Make a voice again from its recording; as adopt()."""
        self._learn(
            Translatable("Making {name} again", name=name),
            lambda model: voice_lookup.remake(model, name),
        )

    def adopt(self, clip: Path, name: str, stretch: voice_lookup.Stretch | None = None) -> None:
        """Make a recording, or a stretch of it, a voice called `name` and keep it, or keep it for
        the synthesiser that can; slow. The model's weights never change, so this may be done on
        another thread while speech goes on.

        Raises UnreadableClip, InvalidInput, ModelError and SynthesisError.
        """
        learnt = self._learn(
            f"Learning the voice in {clip.name}",
            lambda model: voice_lookup.adopt(model, clip.absolute(), name, stretch),
        )
        catalogue = self.catalogue()
        waits = catalogue is not None and learnt.model != catalogue.voice_model
        self._tell(VoiceAdopted(learnt.name, waits))

    def _learn(self, doing: str, learn: Callable[[TtsModel], Voice]) -> Voice:
        with self._lock:
            model = self._learner = self._loaded()
        self._tell(Loading(Part.SYNTHESISER, doing))
        try:
            return learn(model)
        finally:
            with self._lock:
                replaced, self._replaced, self._learner = self._replaced, None, None
            if replaced is not None:
                replaced.close()
            now = self._model.now or model
            self._tell(
                Ready(Part.SYNTHESISER, now.info.name, self._voice_name, why=self._model.why)
            )

    def _release(self, model: TtsModel) -> None:
        """Close the model, or leave that to the thread that makes a voice with it."""
        with self._lock:
            if model is self._learner:
                self._replaced = model
                return
        model.close()

    def get_ready(self, language: str) -> None:
        """Prepare the voice that speaks the language of the conversation, once; slow for a new
        one. Report it if it is another than before.
        """
        before, self._language = self._language, language
        model = self._model.now
        if model is None:
            return
        self.warm()
        if self._speaking(model, before) is not self._speaking(model, language):
            self._tell_voices(model)

    def open(self, language: str) -> Breaks:
        """Open a session in the voice, or the one for that language. SynthesisError if none has
        loaded.
        """
        model = self._loaded()
        voice = self._speaking(model, language)
        session = Breaks(model.open(voice, seed=self._settings.seed), model.info.sample_rate)
        self._tell_note()
        return session

    def close(self) -> None:
        """Release the model."""
        self._model.close()

    def _loaded(self) -> TtsModel:
        """Return the model in use. SynthesisError if none has loaded. From any thread."""
        model = self._model.now  # read once: the speaker may release it meanwhile
        if model is None:
            raise SynthesisError("No voice has loaded yet.", hint="Try again in a moment.")
        return model

    def _tell_note(self) -> None:
        """Report the model's note about its execution, once."""
        model = self._model.now
        note = model.info.note if model else ""
        if note and note != self._note:
            self._tell(Notice(note))
        self._note = note

    def _speaking(self, model: TtsModel, language: str) -> Voice:
        """The voice that speaks a language; the chosen one if none does."""
        assert self._voice is not None, "a model has loaded"
        if language not in self._elsewhere:
            preferred = voice_lookup.preferred_voice(self._settings, language)
            found = voice_lookup.voice_for(model, self._voice, language, preferred)
            self._elsewhere[language] = found or self._voice
        return self._elsewhere[language]

    @property
    def _voice_name(self) -> str:
        return self._voice.name if self._voice else ""
