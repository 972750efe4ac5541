"""From the setting's name to a loaded recogniser; the engine that was not chosen is not imported.

Invariant: load() either returns a recogniser that works or raises ModelError with what to do.
"""

from collections.abc import Sequence

from engine.asr.base import Recogniser
from engine.asr.pick import check_language, resolve
from engine.errors import InvalidInput
from engine.settings import RecogniserSettings

NAMES = ("sphinx", "whisper")  # and 'auto', which is one of them


def load(settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
    """Load the recogniser `settings.engine` names, or what 'auto' is on this machine; seconds for
    Whisper, so never on the window's thread.

    `phrases` are sentences the built-in skills understand, as spoken (lower case, numbers in
    words): the sphinx recogniser expects them first. InvalidInput for an unknown name, ModelError
    when the model is missing or broken.
    """
    settings = resolve(settings)
    match settings.engine:
        case "sphinx":
            # pocketsphinx brings its model along: only when it is the one in use.
            from engine.asr.sphinx.recogniser import SphinxRecogniser

            check_language(settings.language)
            return SphinxRecogniser(phrases)
        case "whisper":
            # faster-whisper brings ctranslate2, onnxruntime and PyAV: 1.2 s and 54 MB.
            from engine.asr.pair import PairedRecogniser
            from engine.asr.sphinx.recogniser import SphinxRecogniser
            from engine.asr.whisper.recogniser import load_whisper

            whisper, quick = load_whisper(settings), SphinxRecogniser(phrases, any_english=False)
            return PairedRecogniser(whisper, quick, settings.language)
    raise InvalidInput(
        "There is no recogniser called '{name}'.",
        hint="Choose one of: {names}.",
        name=settings.engine,
        names=f"auto, {', '.join(NAMES)}",
    )
