"""Load the recogniser that the settings name, and import only that one.

Invariant: load() returns a working recogniser or raises ModelError with a remedy.
"""

from collections.abc import Sequence

from engine.asr.base import Recogniser
from engine.asr.pick import check_language, resolve
from engine.errors import InvalidInput
from engine.settings import RecogniserSettings

NAMES = ("sphinx", "whisper")  # and 'auto', which resolves to one of them


def load(settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
    """Load the recogniser of `settings.engine`. Whisper takes seconds, so never call this on the
    window's thread.

    `phrases` are sentences of the built-in skills as spoken (lower case, numbers in words); sphinx
    gives them priority. InvalidInput for an unknown name, ModelError if the model is missing or
    broken.
    """
    settings = resolve(settings)
    match settings.engine:
        case "sphinx":
            # pocketsphinx imports its model, so import it only when it is used.
            from engine.asr.sphinx.recogniser import SphinxRecogniser

            check_language(settings.language)
            return SphinxRecogniser(phrases)
        case "whisper":
            # faster-whisper imports ctranslate2, onnxruntime and PyAV: 1.2 s and 54 MB.
            from engine.asr.pair import PairedRecogniser
            from engine.asr.sphinx.recogniser import SphinxRecogniser
            from engine.asr.whisper.recogniser import load_whisper

            whisper, sphinx = load_whisper(settings), SphinxRecogniser(phrases, any_english=False)
            return PairedRecogniser(whisper, sphinx, settings.language)
    raise InvalidInput(
        "There is no recogniser called '{name}'.",
        hint="Choose one of: {names}.",
        name=settings.engine,
        names=f"auto, {', '.join(NAMES)}",
    )
