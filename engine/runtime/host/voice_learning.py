"""Learn voices from a recording: Kokoro's fit, with Whisper for the transcript and the check.

It takes two to four minutes of one thread, so it runs in a separate process: the commands `rubato
voices add` and `rubato voices learn`, which the window starts as background jobs. With --json they
write lines {"part": 0.42, "doing": "..."} to standard error, and the fields of Learnt (or message,
hint and texts of a fault) to standard output; `learn` does not choose the result.

A learnt voice is a separate file until it is chosen: a session can use it by its path. Until then
the blend speaks. The process can be ended at any moment: the next one continues from the last
checkpoint. Invariant: only complete voices are chosen, and a voice that fails the checks is not
kept.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from engine.asr import pick as recognisers
from engine.asr.base import SAMPLE_RATE as HEARING_RATE
from engine.asr.base import Recogniser
from engine.audio.clips.clip import Clip, printable, read_clip
from engine.audio.pcm import Pcm
from engine.errors import InvalidInput, ModelError
from engine.machine import return_freed_memory
from engine.runtime.headless.offline_synthesis import OfflineSynthesis, SpeechRequest
from engine.runtime.headless.say_command import collect
from engine.settings import RecogniserSettings, SpeechSettings
from engine.text.paced import PacedText
from engine.translatable import Translatable
from engine.tts import pick, registry, voices
from engine.tts.base import Voice
from engine.tts.kokoro.fit import checks, learning
from engine.tts.kokoro.learnt import choose, is_current, learnt_path, refusal, refuse
from engine.tts.kokoro.synthesiser import KokoroSynthesiser
from engine.tts.kokoro.voices import MAKING, NAME
from engine.tts.speaker.recording import resampled
from engine.tts.voice_lookup import LONGEST_PROMPT_S, adopt, is_recording

Show = Callable[[str, float], None]  # current activity, and the finished share of all work

_CHECKPOINT: Final = ".checkpoint"
_LONGEST_S: Final = 20.0  # of the excerpt for the fit, if no text is given
_CUT_FROM: Final = 0.7  # of that: behind it the quietest place is the end
_MOST: Final = 20  # files: of recordings that spoke once, and of voices that are gone
_FIT_SHARE: Final = 0.9  # of the time
# Of the way from the blend to the fit: less is offered where the words suffer from all of it.
_SHARES: Final = (1.0, 0.75, 0.5)
_TRANSCRIPT: Final = "transcript"  # of a voice's metadata


@dataclass(frozen=True)
class Learnt:
    """Result of a fit. `file`: the learnt voice, to be heard (its path works as a name) and chosen;
    None = refused, for the `reason`. `transcript`: the words used. `advice`: how to record better;
    can be empty.
    """

    voice: str
    file: Path | None
    reason: str = ""
    transcript: str = ""
    advice: str = ""


def add(
    recording: Path, name: str, text: str = "", show: Show = lambda *_: None, *, again: bool = False
) -> Learnt:
    """Make a recording a voice called `name` (empty: as the file is called), at once as a blend,
    then learn it and choose the result. As learn().
    """
    with _kokoro() as model:
        name = adopt(model, recording, name or printable(recording.stem)).name
        learnt = _learn_saved(model, name, text, show, again)
    if learnt.file is None:
        return learnt
    choose(name, learnt=True)
    return replace(learnt, file=voices.with_recording(name, model=NAME).path)


def learn(
    name: str, text: str = "", show: Show = lambda *_: None, *, again: bool = False
) -> Learnt:
    """Learn a voice the person made, from the recording kept with it. `text`: what is said in it;
    empty: Whisper writes it down. The voice itself does not change; see choose(). The result of a
    fit that is done already is returned at once, a refusal only without `again`.

    InvalidInput for an unknown voice, one without its recording, or a text that does not match;
    UnreadableClip for an unsuitable recording; ModelError if Kokoro is missing, or Whisper and no
    text is given.
    """
    voices.with_recording(name, model=NAME)  # before the model is loaded
    with _kokoro() as model:
        return _learn_saved(model, name, text, show, again)


def learn_recording(
    voice: str, speech: SpeechSettings, show: Show, *, again: bool = False
) -> tuple[str, str]:
    """As learn(), where the `voice` of a command is a recording and Kokoro speaks. Returns the file
    of the learnt voice; else, or where it cannot be learnt, the voice as it is, and why.
    """
    if pick.resolve(speech).engine != NAME or not is_recording(voice):
        return voice, ""
    try:
        # As long as choose() reads it: a blend of another length would need its own statistics.
        clip = read_clip(Path(voice), max_seconds=LONGEST_PROMPT_S)
        learnt = _result("", clip.digest, "", again) or _learn_clip(clip, show)
    except (InvalidInput, ModelError) as error:
        return voice, str(error)
    return (voice if learnt.file is None else str(learnt.file)), learnt.reason


def _learn_clip(clip: Clip, show: Show) -> Learnt:
    """Learn a recording that is not a saved voice. A recording that does not fit its transcript is
    noted as a refusal too, so the next use does not transcribe it again.
    """
    with _kokoro() as model:
        blend = model.encode_voice(clip.pcm, clip.sample_rate)
        try:
            return _learn(model, blend, clip, "", show)
        except InvalidInput as error:
            with suppress(OSError):
                refuse(clip.digest, "", error.message)
            raise


def _learn_saved(model: KokoroSynthesiser, name: str, text: str, show: Show, again: bool) -> Learnt:
    voice = voices.with_recording(name, model=NAME)
    if done := _result(voice.name, voice.recording, text.strip(), again):
        return done
    clip, blend = voices.load_clip(voice.path), voices.load(voice.path)
    if blend.metadata.get("making") != MAKING:  # it learnt before, or was only kept
        blend = model.encode_voice(clip.pcm, clip.sample_rate)
    # The hash of the recording itself: the clip that is kept is rounded.
    about = {**blend.metadata, voices.RECORDING: voice.recording}
    learnt = _learn(model, replace(blend, name=voice.name, metadata=about), clip, text, show)
    if all(each.recording != voice.recording for each in voices.saved_voices(voices.folder())):
        learnt_path(voice.recording).unlink(missing_ok=True)  # it was removed meanwhile
        voices.with_recording(name, model=NAME)  # which says so
    return learnt


def _result(name: str, recording: str, text: str, again: bool) -> Learnt | None:
    """The result of an earlier fit by the same recipe and text; None = there is none."""
    file = learnt_path(recording)
    if file.is_file() and is_current(file):
        transcript = voices.load(file).metadata.get(_TRANSCRIPT, "")
        if text in ("", transcript):
            return Learnt(name, file, "", transcript)
    reason = "" if again else refusal(recording, text)
    return Learnt(name, None, reason) if reason else None


def _learn(model: KokoroSynthesiser, blend: Voice, clip: Clip, text: str, show: Show) -> Learnt:
    given, recording = text.strip(), blend.metadata[voices.RECORDING]
    file = learnt_path(recording)
    show(Translatable("Listening to the recording"), 0.0)
    advice = checks.check_recording(clip.pcm, clip.sample_rate)
    if not given:
        clip = _excerpt(clip)
    text = _transcript(clip, given)
    lesson = learning.Lesson(blend, clip.pcm, clip.sample_rate, _spoken(text))
    checkpoint = file.with_name(lesson.digest + _CHECKPOINT)
    with suppress(OSError):  # it is said when the result is written
        checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def show_fit(share: float) -> None:
        show(Translatable("Learning the voice"), _FIT_SHARE * share)

    def say(voice: Voice, text: str) -> Pcm:
        return collect(OfflineSynthesis(model, SpeechRequest(text, voice)))

    learnt = model.learn(lesson, checkpoint, show_fit)
    show(Translatable("Checking the voice"), _FIT_SHARE)
    with _ear() as hear:
        for share in _SHARES:
            voice = learning.part_way(blend, learnt, share)
            reason = checks.fault(blend, voice, say, hear)
            if not reason:
                break
    checkpoint.unlink(missing_ok=True)
    if reason:
        with suppress(OSError):  # then it is fitted once more another time
            refuse(recording, given, reason)
    else:
        about = {**voice.metadata, _TRANSCRIPT: text}
        voices.save_as(replace(voice, metadata=about), file)
    for old in sorted(file.parent.glob("*"), key=lambda each: each.stat().st_mtime)[:-_MOST]:
        old.unlink(missing_ok=True)
    show(Translatable("Checking the voice"), 1.0)
    return Learnt(blend.name, None if reason else file, reason, text, advice)


def _transcript(clip: Clip, given: str) -> str:
    """The words of a recording, as they are given or as Whisper understands them."""
    with _ear() as hear:  # it does not stay in memory while the voice learns
        understood = hear(clip.pcm, clip.sample_rate) if hear else None
    text = given or understood or ""
    if understood is None and not text:
        raise ModelError(
            "No recogniser can write down what the recording says.",
            hint="Fetch Whisper with {command}, or give the spoken text.",
            command="rubato models get whisper-base",
        )
    checks.check_text(text, understood)
    return text


def _spoken(text: str) -> str:
    """Return a text as it is read aloud: figures in words."""
    paced = PacedText(pacing=False)
    words = (*paced.push(text).words, *paced.end().words)
    return " ".join(word.text for word in words)


def _excerpt(clip: Clip) -> Clip:
    """Return the beginning of a long clip, up to a pause."""
    longest = int(_LONGEST_S * clip.sample_rate)
    if len(clip.pcm) <= longest:
        return clip
    block = clip.sample_rate // 20
    start = int(_CUT_FROM * longest)
    tail = clip.pcm[start:longest]
    levels = np.square(tail[: len(tail) // block * block].reshape(-1, block)).mean(1)
    return Clip(clip.pcm[: start + int(levels.argmin()) * block], clip.sample_rate)


@contextmanager
def _kokoro() -> Iterator[KokoroSynthesiser]:
    """Yield the synthesiser, with one thread for all computation. ModelError if it is missing."""
    import torch  # only for learning

    torch.set_num_threads(1)
    model = registry.load(SpeechSettings(engine=NAME), lambda *_: None)
    assert isinstance(model, KokoroSynthesiser)
    try:
        yield model
    finally:
        model.close()


@contextmanager
def _ear() -> Iterator[checks.Hear | None]:
    """Yield a function that transcribes; None if no Whisper was fetched. Speech in another language
    than English gives no words.
    """
    if not recognisers.fetched():
        yield None
        return
    import torch  # only for learning

    from engine.asr.whisper.recogniser import load_whisper

    settings = recognisers.resolve(RecogniserSettings(engine=recognisers.WHISPER, language="auto"))
    whisper: Recogniser = load_whisper(settings)

    def hear(pcm: Pcm, sample_rate: int) -> str:
        recognition = whisper.open()
        recognition.push(resampled(pcm, sample_rate, HEARING_RATE))
        transcript = recognition.finish()
        return transcript.text if transcript.language in ("", "en") else ""

    try:
        yield hear
    finally:
        whisper.close()
        torch.set_num_threads(1)  # Whisper's library sets the number of threads of torch's, too
        return_freed_memory()
