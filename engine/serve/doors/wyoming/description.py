"""What this server says it can do, when a client asks."""

from typing import Any, Final

from wyoming.info import (
    AsrModel,
    AsrProgram,
    Attribution,
    HandleModel,
    HandleProgram,
    Info,
    TtsProgram,
    TtsVoice,
    WakeModel,
    WakeProgram,
)

from engine.serve.service import Service

_OURS: Final = Attribution(name="Rubato", url="")
_ENGLISH: Final = ["en"]  # of the voices, the phrase and the skills


async def described(service: Service) -> Info:
    """Voices, ears, wake phrase and answers."""
    phrase = service.settings.wake.phrase
    language = service.settings.recogniser.language
    heard = _ENGLISH if language in ("", "auto") else [language]
    voices = [
        TtsVoice(**_about(name, "A voice of this computer"), languages=_ENGLISH)
        for name in await service.voices()
    ]
    ears = AsrModel(**_about("rubato", "The recogniser of this computer"), languages=heard)
    mind = HandleModel(**_about("rubato", "Skills and language model"), languages=heard)
    wake = WakeModel(**_about(phrase, "The wake phrase"), languages=_ENGLISH, phrase=phrase)
    return Info(
        tts=[
            TtsProgram(
                **_about("rubato", "Speaks as it is written"),
                voices=voices,
                supports_synthesize_streaming=True,
            )
        ],
        asr=[
            AsrProgram(
                **_about("rubato", "Speech to text"),
                models=[ears],
                supports_transcript_streaming=True,
            )
        ],
        wake=[WakeProgram(**_about("rubato", "Listens for a phrase"), models=[wake])],
        handle=[
            HandleProgram(
                **_about("rubato", "Answers"), models=[mind], supports_handled_streaming=True
            )
        ],
    )


def _about(name: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "attribution": _OURS,
        "installed": True,
        "version": None,
    }
