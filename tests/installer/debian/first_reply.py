"""Starts the installed Rubato on a virtual display and sound card, asks it something aloud and
recognises its answer: `first_reply.py FOLDER` in the installed environment, under xvfb-run.

Invariant: only the installed program is started, as a person would; a recogniser that gets only the
sound tells the words apart from other possible ones.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[3]))  # the checkout, for its sound card and ear

from installer.commands import say
from tests.end_to_end.ear import Ear, as_spoken
from tests.help.machine.virtual_audio import VirtualAudio, virtual_audio

QUESTION = "convert ten miles to kilometers"
NUMBERS = (6, 16, 60, 20, 11, 100, 14, 30)
PATIENCE_S = 180.0
TRIES = 3  # on a busy machine speech can have gaps


def main(folder: Path) -> int:
    question = folder / "question.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", QUESTION, "-o", str(question)], check=True)
    text = reply_without_a_window(question, folder)
    for number in range(1, TRIES + 1):
        place = folder / str(number)
        place.mkdir()
        with virtual_audio(place) as card:
            reply, after_s = reply_of_the_window(card, question, place)
        heard = recognised(reply)
        say(f"    {after_s:.0f} s after the start it answered; written {text!r}, heard {heard!r}")
        if "sixteen" in heard:
            return 0
    say("    the reply of the window was not recognised")
    return 1


def reply_without_a_window(question: Path, folder: Path) -> str:
    """Its answer to the file, as text; SystemExit when that is wrong."""
    command = ["rubato", "converse", "--mic", str(question), "--speaker", str(folder / "plain.wav")]
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, text=True, check=True)
    reply = "".join(turn["reply"] for turn in json.loads(done.stdout)["turns"])
    if "16" not in reply and "sixteen" not in reply:
        sys.exit(f"The answer to {QUESTION!r} was {reply!r}.")
    return reply


def reply_of_the_window(card: VirtualAudio, question: Path, folder: Path) -> tuple[Path, float]:
    """The recording of the first reply, and how long after the start it began."""
    wav = folder / "reply.wav"
    env = os.environ | card.env
    began = time.monotonic()
    with card.recording(wav), subprocess.Popen(["rubato"], env=env) as program:
        try:
            until(lambda: status(env) == "idle", "end of the start")
            skip_the_first_steps(env)
            while not (at_s := sound_in(wav)):
                if time.monotonic() - began > PATIENCE_S or program.poll() is not None:
                    sys.exit("No reply was heard.")
                card.speak(question)
                comes(lambda: sound_in(wav), 12.0)
            after_s = time.monotonic() - began
            until(lambda: silent_since(wav, 2.0), "end of the reply")
        finally:
            program.terminate()
    say(f"    the reply begins {at_s:.0f} s into the recording")
    return wav, after_s


def skip_the_first_steps(env: dict[str, str]) -> None:
    """Press "Skip all": speech gets no answer before. Later tries do not show the first steps."""
    window = ["search", "--sync", "--onlyvisible", "--name", "^Rubato$", "windowfocus", "--sync"]
    subprocess.run(["xdotool", *window, "key", "alt+k"], env=env, check=True, timeout=30)


def status(env: dict[str, str]) -> str:
    asked = subprocess.run(["rubato", "status"], env=env, capture_output=True, text=True)
    return asked.stdout.strip()


def until(condition: Callable[[], bool], what: str) -> None:
    if not comes(condition, PATIENCE_S):
        sys.exit(f"The {what} did not come.")


def comes(condition: Callable[[], object], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return bool(found)


def samples(wav: Path) -> np.ndarray:
    """Everything recorded so far, one channel at 48 kHz; the file's header may be incomplete."""
    data = wav.read_bytes()[44:]
    return np.frombuffer(data[: len(data) // 4 * 4], "<i2")[::2] / 32768


def sound_in(wav: Path) -> float:
    """Where the first sound in the recording is, in seconds; 0 when there is none."""
    loud = np.flatnonzero(np.abs(samples(wav)) > 0.02)
    return loud[0] / 48_000 if len(loud) else 0.0


def silent_since(wav: Path, seconds: float) -> bool:
    return not np.any(np.abs(samples(wav)[-int(seconds * 48_000) :]) > 0.01)


def recognised(wav: Path) -> str:
    """Which of the possible answers is spoken in the recording."""
    pcm = samples(wav)
    loud = np.flatnonzero(np.abs(pcm) > 0.01)
    answers = (as_spoken(f"10 miles is about {number}.09 kilometres.") for number in NUMBERS)
    return Ear(answers).hear(pcm[loud[0] : loud[-1]].astype(np.float32), 48_000)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
