"""What the engine says of itself, in the person's language: its notices and its faults.

Invariant: the engine speaks English and knows no language. A sentence is known by its English
words, whatever stands at its places; one that is not known is shown as it is.
"""

import re
from dataclasses import replace
from functools import lru_cache

from app.language.faults import FAULTS
from app.language.model_faults import MODEL_FAULTS
from app.language.words import is_english, mark, tr
from engine.api import Event, Failed, Notice, Ready, VoiceEntry, VoicesListed

REASONS = (  # why the automatic recogniser or synthesiser is what it is
    mark("Whisper is not fetched (rubato models get whisper-base)."),
    mark("Whisper was fetched and `rubato bench` has not measured it yet."),
    mark("The built-in recogniser understands English only."),
    mark("{name} has a sentence written {seconds} s after its end."),
    mark("{name} has a sentence written {seconds} s after its end, more than {limit} s."),
    mark("VoXtream2: a graphics card runs it."),
    mark("Kokoro: it speaks in {share} of the time it sounds on this machine."),
    mark("Kokoro: it was fetched and `rubato bench` has not measured it yet."),
    mark("The built-in voice: Kokoro is not fetched (rubato models get kokoro)."),
    mark("The built-in voice: Kokoro needs {share} of the time it sounds, more than {limit}."),
    mark("Other programs kept the machine busy meanwhile: measure again when it is idle."),
)
ABOUT_VOICES = (  # each is a part of a description
    *(mark("American woman"), mark("American man"), mark("British woman"), mark("British man")),
    *(mark("deep American man"), mark("bright American girl"), mark("publisher's grade {grade}")),
    *(mark("warm"), mark("even"), mark("clear"), mark("deep"), mark("lively"), mark("firm")),
    *(mark("sober"), mark("bright"), mark("young"), mark("calm"), mark("whispering")),
    *(mark("plain"), mark("soft"), mark("friendly"), mark("airy"), mark("low"), mark("brisk")),
    *(mark("cheerful"), mark("old"), mark("formal"), mark("gentle")),
    *(mark("storytelling"), mark("mixed of {parts}")),
)
SENTENCES = (
    # conversations
    mark("A private conversation."),
    mark("A new conversation."),
    mark("It can be heard again once nobody speaks: Esc stops the reply."),
    mark("{count} conversations are in {path}."),
    mark("1 conversation was deleted."),
    mark("{count} conversations were deleted."),
    mark("Conversations are kept again; nothing was lost."),
    mark("They are set aside as {file}; what is said from now on is in a new file."),
    mark("The conversation is in {path}."),
    # recordings
    mark("The sound is in {path}."),
    mark("Recorded {minutes}:{seconds} in {path}"),
    mark("The disk is too slow for the recording."),
    mark("What was recorded until now is kept."),
    mark("Recording failed: {error}"),
    mark("Switch it on again."),
    mark("The recording '{name}' could not be created ({error})."),
    mark("Choose a folder that exists and can be written to."),
    mark("The recording '{name}' could not be written ({error})."),
    mark("Free some space, or choose another folder."),
    # voices and models
    mark("{name} speaks from the next sentence on."),
    mark(
        "What is written in another script, such as Chinese or Cyrillic, is shown and not spoken: "
        "the voices speak English."
    ),
    mark("{name} was removed; the default voice speaks now."),
    mark("The voice and its recording are in {path}."),
    mark("{error} Until then {name} speaks."),
    mark("The voice speaks in plain steps, slower than this graphics card could: {error}"),
    mark("The language model from before was loaded again."),
    mark("The recogniser from before was loaded again."),
    mark("The synthesiser from before was loaded again."),
    mark("{names} is in the list of models."),
    mark("{name} is used from now on."),
    mark("{name} was fetched."),
    # settings
    mark(
        "{file} was changed by hand meanwhile ({keys}): that is kept, and in force from the next "
        "start."
    ),
    mark("What {file} said before is kept in {copy}."),
    mark("{file}: '{section}' must be a table [{same}]; it is not used."),
    mark("{file}: this version has no setting '{key}'; it is kept, unused."),
    mark("{file}: {error} Until then {value} is in force."),
    # hearing
    mark("You began before I was listening. Please say that again."),
    mark(
        "Without echo cancellation I do not listen while I speak. Install the package 'livekit', "
        "or wear a headset and say so in the settings."
    ),
    mark("The microphone is muted."),
    mark("Unmute it at the top of the window, or type."),
    mark("Listening failed: {error}"),
    mark("Choose another microphone."),
    mark("The words of what you said did not come."),
    mark("Say it again, or type it."),
    # devices
    mark("There is no microphone."),
    mark("Connect one, or choose another in the settings. You can also type."),
    mark("Connect one, or drop a recording instead."),
    mark("There is no loudspeaker."),
    mark("Connect one, and try again."),
    mark("No microphone was found."),
    mark("No loudspeaker was found."),
    mark(
        "Connect one, and check that PipeWire or PulseAudio is running: 'pactl info' should name a "
        "default sink and a default source. Without a sound server, 'aplay -l' and 'arecord -l' "
        "should list a card."
    ),
    mark("Connect one and switch it on in the system's sound settings."),
    mark("The microphone '{name}' has gone."),
    mark("The loudspeaker '{name}' has gone."),
    mark("Connect it again or choose another one."),
    mark("Choose another one. To use one that you connect from now on, start Rubato again."),
    mark("The microphone '{name}' is not connected."),
    mark("The loudspeaker '{name}' is not connected."),
    mark("Connect it, or choose another: {names}."),
    mark("The microphone '{name}' could not be opened ({error})."),
    mark("The loudspeaker '{name}' could not be opened ({error})."),
    mark(
        "Another program may be using it, or the system may forbid access to it. Close that "
        "program, allow access in the system's privacy settings, or choose another."
    ),
    mark("The loudspeaker '{name}' stands still."),
    mark("Check that it is connected, or choose another one in the settings."),
    mark("The sound library PortAudio is not installed."),
    mark(
        "Install it: 'sudo apt install libportaudio2' on Debian and Ubuntu, 'sudo dnf install "
        "portaudio' on Fedora, 'sudo pacman -S portaudio' on Arch."
    ),
    mark("The sound system does not answer ({error})."),
    mark("The sound system cannot be asked for new devices any more."),
    mark("Start Rubato again."),
    # the program itself
    mark("The voice has stood still for too long."),
    mark("The language model has stood still for too long."),
    mark("Ask again, or choose another one in the settings."),
    mark("Still busy when stopping: {threads}."),
    mark("Something went wrong: {error}"),
    mark("Please report this."),
    *REASONS,
    *ABOUT_VOICES,
    *FAULTS,
    *MODEL_FAULTS,
)
_KNOWN = frozenset(SENTENCES)
LONGEST = 1000  # characters; what a server wrote may be longer, and would take a second to compare
_PLACE = re.compile(r"\\{(\w+)\\}")  # as re.escape() writes it
_QUOTED = re.compile(r"'(\\{\w+\\})'")  # Python takes the other marks round a name with one in it
_PART_OF_A_VOICE = re.compile("(, )")
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


def told(event: Event) -> Event:
    """The event with what it says in the person's language."""
    match event:
        case Notice(text):
            return Notice(said(text))
        case Ready(why=str() as why) if why:
            return replace(event, why=said(why))
        case Failed(message=message, hint=hint):
            return replace(event, message=said(message), hint=said(hint))
        case VoicesListed(voices=voices):
            return replace(event, voices=tuple(map(_described, voices)))
        case _:
            return event


def _described(entry: VoiceEntry) -> VoiceEntry:
    about = entry.description
    parts = (_translated(each) or each for each in _PART_OF_A_VOICE.split(about))
    about = _translated(about) or "".join(parts)
    return replace(entry, description=about, why_not=said(entry.why_not))


def said(text: str) -> str:
    """English sentences of the engine in the person's language; one that is not known stays."""
    if is_english() or len(text) > LONGEST:
        return text
    return _translated(text) or " ".join(
        _translated(each) or each for each in _SENTENCE_END.split(text)
    )


def _translated(text: str) -> str:
    """All of the text as one of the sentences; empty = it is none."""
    if text in _KNOWN:
        return tr(text)
    for sentence, pattern in _patterns():
        if match := pattern.fullmatch(text):
            places = match.groupdict()
            if "error" in places:
                places["error"] = said(places["error"])
            return tr(sentence, **places)
    return ""


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Those with places, the most fixed words first, since a place takes anything."""
    with_places = [sentence for sentence in SENTENCES if "{" in sentence]
    by_words = sorted(with_places, key=lambda sentence: len(re.sub(r"\{\w+\}", "", sentence)))
    return tuple((each, _pattern(each)) for each in reversed(by_words))


def _pattern(sentence: str) -> re.Pattern[str]:
    fixed = _QUOTED.sub(r"""['"]\1['"]""", re.escape(sentence))
    return re.compile(_PLACE.sub(r"(?P<\1>.+?)", fixed), re.DOTALL)
