"""Where the memory of the engine goes: resident and anonymous megabytes, part by part.

Invariant: each column is a process of its own, which imports nothing of the tests and makes the
parts as the engine does; then the whole engine, with its threads, hears and answers questions.
Linux only.

    python -m tests.benchmarks.memory                    both recognisers: a minute
    python -m tests.benchmarks.memory --recognisers whisper --voice kokoro
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUESTIONS = ("what time is it", "who wrote the old man and the sea", "convert ten miles to feet")
RECOGNISERS = ("sphinx", "whisper")
BUILT_IN = "starter"
_FIELDS = ("Rss:", "Anonymous:")
_PEAK = "VmHWM:"


def memory() -> tuple[float, float]:
    """Resident and anonymous MB of this process now."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    found = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines[1:]}
    resident, anonymous = (found[field] for field in _FIELDS)
    return resident, anonymous


def peak() -> float:
    """The most this process ever had resident, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(_PEAK))


def parts(recogniser: str, synthesiser: str) -> Iterator[str]:
    """What was made last, one part after the other."""
    yield "Python"
    import engine.runtime.conductor  # noqa: F401 - imported to be weighed
    from engine.audio.echo.canceller import Cleaning
    from engine.audio.vad import Vad
    from engine.machine import return_freed_memory
    from engine.runtime.factories import standard_factories
    from engine.settings import LanguageModelSettings, RecogniserSettings, SpeechSettings

    made, kept = standard_factories(), list[object]()
    yield "engine, without models"
    kept.append(Vad())
    yield "voice activity"
    kept.append(made.canceller(Cleaning()))
    yield "echo canceller"
    kept.append(made.recogniser(RecogniserSettings(recogniser), made.phrases()))
    yield f"recogniser {recogniser}"
    kept.append(made.completeness(RecogniserSettings()))
    yield "completeness"
    kept.append(made.language_model(LanguageModelSettings(), lambda *_: None))
    yield "skills"
    if synthesiser == BUILT_IN:
        import torch  # noqa: F401 - as above

        yield "torch"
    voice = made.synthesiser(SpeechSettings(synthesiser), lambda *_: None)
    voice.warm(voice.voices()[0])
    yield f"voice {synthesiser}"
    return_freed_memory()
    yield "what was freed given back"


def weigh_parts(recogniser: str, synthesiser: str) -> None:
    before = 0.0
    for name in parts(recogniser, synthesiser):
        resident, anonymous = memory()
        _print(name, f"{resident:.0f}", f"{anonymous:.0f}", f"{resident - before:+.0f}")
        before = resident
    _print(f"loaded: {', '.join(each for each in ('torch', 'onnx') if each in sys.modules)}")


def weigh_engine(recogniser: str, synthesiser: str, question: Path) -> None:
    """With its threads, at rest after each conversation of one question."""
    from dataclasses import replace

    from engine.api import Event, Ready, TurnEnded, converse
    from engine.settings import Settings, SpeechSettings

    if synthesiser != BUILT_IN:  # its targets are those of the whole program
        from app.look.theme import Mode, Theme
        from app.program import make_application
        from app.window import Window

        application = make_application()
        window = Window(Settings(), lambda command: None, Theme(Mode.SYSTEM, application))
        window.show()
        application.processEvents()
        resident, anonymous = memory()
        _print("window", f"{resident:.0f}", f"{anonymous:.0f}")
    settings = Settings(speech=SpeechSettings(synthesiser))
    settings = replace(settings, recogniser=replace(settings.recogniser, engine=recogniser))

    def show(event: Event) -> None:
        if isinstance(event, Ready):
            _print(f"{event.part.value}: {event.name}")
        if isinstance(event, TurnEnded):
            resident, anonymous = memory()
            _print("engine, after a turn", f"{resident:.0f}", f"{anonymous:.0f}")

    converse(settings, microphone=question, loudspeaker=None, show=show)
    _print("engine, at most", f"{peak():.0f}")


def write_question(path: Path) -> None:
    """All questions, with some seconds for the answer after each."""
    import numpy as np
    import soundfile

    from tests.simulation import people
    from tests.simulation.room import RATE

    silence = np.zeros(6 * RATE, np.float32)
    said = [(people.spoken(text, "slt").pcm, silence) for text in QUESTIONS]
    soundfile.write(path, np.concatenate([pcm for pair in said for pcm in pair]), RATE)


def _print(*cells: str) -> None:
    sys.stdout.write(" | ".join(cells) + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description="Where the memory goes.")
    parser.add_argument("--recognisers", nargs="+", choices=RECOGNISERS, default=RECOGNISERS)
    parser.add_argument("--voice", default=BUILT_IN, help="the synthesiser")
    parser.add_argument("--parts", help=argparse.SUPPRESS)
    parser.add_argument("--engine", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.parts:
        return weigh_parts(given.parts, given.voice)
    if given.engine:
        return weigh_engine(given.engine[0], given.voice, Path(given.engine[1]))
    with tempfile.TemporaryDirectory() as folder:
        question = Path(folder, "questions.wav")
        write_question(question)
        for name in given.recognisers:
            _print("part", "resident MB", "anonymous MB", "more resident")
            for how in (["--parts", name], ["--engine", name, str(question)]):
                command = [sys.executable, "-m", "tests.benchmarks.memory", *how]
                command += ["--voice", given.voice]
                subprocess.run(command, cwd=ROOT, check=True)
    return None


if __name__ == "__main__":
    main()
