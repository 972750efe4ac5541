"""The neural voice's profiles, measured one after the other, each in a process of its own.

Speed does not depend on the values of the weights, so where the published ones are missing random
ones of the full size are measured; what they say is noise and is never played.
Invariant: at most one profile is in memory at a time, and none is left when this returns or is
interrupted.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from engine.errors import EngineError
from engine.runtime.host.offline_synthesis import Clock
from engine.tts.base import AudioFrame, TtsModel
from engine.tts.voxtream.files.pick import NAMES

TEXT: Final = (
    "The morning light came slowly over the hills and the small town began to wake while nobody "
    "on the shore remembered what the old captain had promised before the boat left the harbour"
)
REPEATS: Final = 3  # first packets, after one that warms up
FRAMES: Final = 25
LONGEST_S: Final = 15.0  # a profile twenty times too slow need not be measured for a minute
FEWEST_FRAMES: Final = 5
RATE: Final = 3.0  # SPS; slow enough that the text lasts for all frames
TIMEOUT_S: Final = 600.0
BUSY: Final = 0.2  # share of the machine that others took, from which on it is worth a word


@dataclass(frozen=True)
class Measured:
    """One profile. `rtf`: median time of a frame over its length; `others`: share of the machine
    (0..1) that other programs took meanwhile.
    """

    model: str
    device: str
    load_s: float
    first_packet_ms: float
    rtf: float
    memory_mb: float
    others: float

    @property
    def note(self) -> str:
        """What to know about the numbers; empty when nothing."""
        notes = []
        if "RANDOM" in self.model:
            notes.append("random weights of full size; speed does not depend on their values")
        if self.others > BUSY:
            notes.append(f"other programs took {self.others:.0%} of the machine")
        return "; ".join(notes)


@dataclass(frozen=True)
class Instruments:
    """What measures. `others_s`: processor seconds per core that other programs have taken."""

    clock: Clock
    memory_mb: Callable[[], float]
    others_s: Callable[[], float]


Outcome = Measured | str
"""The numbers, or a sentence on why there are none."""


def measure_all(
    device: str,
    tell: Callable[[str], None],
    one: Callable[[str, str], Outcome] | None = None,
) -> dict[str, Outcome]:
    """Every profile by name, best sound first, on the device of the settings.

    On CUDA there is only the full one. Takes a minute or more on a CPU; can be interrupted.
    """
    found: dict[str, Outcome] = {}
    for number, name in enumerate(NAMES, 1):
        tell(f"Measuring the neural voice: {name} ({number} of {len(NAMES)}) ...")
        outcome = found[name] = (one or in_a_process)(name, device)
        if isinstance(outcome, Measured) and outcome.device == "cuda":
            break  # packed products run on the CPU only
    return found


def in_a_process(name: str, device: str) -> Outcome:
    """Measure one profile in a process that is gone afterwards, also after Ctrl-C."""
    command = [sys.executable, "-P", "-Wignore", "-m", "engine.bench.profiles", name, device]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {TIMEOUT_S / 60:.0f} minutes."
    except OSError as error:
        return f"it could not be started: {error}."
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it was ended, perhaps for want of memory"]
        return f"{last[0]} (status {done.returncode})."
    return _understood(done.stdout)


def _understood(output: str) -> Outcome:
    """The last line a measuring process wrote; libraries may write before it."""
    try:
        found = json.loads(output.strip().splitlines()[-1])
        return str(found["fault"]) if "fault" in found else Measured(**found)
    except (IndexError, ValueError, TypeError):
        return "it did not answer."


def measure(load: Callable[[], TtsModel], instruments: Instruments) -> Measured:
    """Load a model that comes warm, and measure it. Raises EngineErrors."""
    clock = instruments.clock
    memory, others, began = instruments.memory_mb(), instruments.others_s(), clock.now()
    model = load()
    try:
        load_s = clock.now() - began
        first = [_first_packet_s(model, clock, seed) for seed in range(REPEATS + 1)]
        frames = _frame_shares(model, clock)
        return Measured(
            model=model.info.name,
            device=model.info.device,
            load_s=load_s,
            first_packet_ms=statistics.median(first[1:]) * 1000,
            rtf=statistics.median(frames),
            memory_mb=instruments.memory_mb() - memory,
            others=(instruments.others_s() - others) / max(clock.now() - began, 1e-9),
        )
    finally:
        model.close()


def _first_packet_s(model: TtsModel, clock: Clock, seed: int) -> float:
    """From pushing the first word to the first samples, the others coming as they are needed."""
    words = iter(TEXT.split())
    with model.open(model.voices()[0], seed=seed) as session:
        began = clock.now()
        while not isinstance(session.step(), AudioFrame):
            session.push_word(next(words))
        return clock.now() - began


def _frame_shares(model: TtsModel, clock: Clock) -> list[float]:
    """Time of computing over length, of single frames once the text is there."""
    shares: list[float] = []
    with model.open(model.voices()[0], seed=0) as session:
        session.rate = RATE
        for word in TEXT.split() * 3:
            session.push_word(word)
        session.step()  # opens the utterance
        started = clock.now()
        while len(shares) < FRAMES:
            began = clock.now()
            step = session.step()
            if not isinstance(step, AudioFrame):
                break
            shares.append((clock.now() - began) * model.info.sample_rate / len(step.pcm))
            if clock.now() - started > LONGEST_S and len(shares) >= FEWEST_FRAMES:
                break
    return shares


def _main(name: str, device: str) -> None:
    """What the process of its own does."""
    gauges = instruments()

    def load() -> TtsModel:
        from engine.tts.voxtream.files.loading import load_to_measure  # imports torch

        return load_to_measure(device, name)

    try:
        answer = asdict(measure(load, gauges))
    except EngineError as error:
        answer = {"fault": error.message}
    sys.stdout.write(json.dumps(answer) + "\n")


def instruments() -> Instruments:
    """Those of this process."""
    import psutil  # compiled, and only needed here

    this = psutil.Process()

    def others_s() -> float:
        spent, own = psutil.cpu_times(), this.cpu_times()
        busy = spent.user + spent.system + getattr(spent, "nice", 0.0)  # Windows has no 'nice'
        return float(busy - own.user - own.system) / (psutil.cpu_count() or 1)

    return Instruments(Clock(), lambda: this.memory_info().rss / 2**20, others_s)


if __name__ == "__main__":
    _main(*sys.argv[1:])
