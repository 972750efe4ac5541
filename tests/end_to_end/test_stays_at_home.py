"""No telemetry: whichever way the program is started, it asks nobody anything and leaves nothing
outside its own folders (how that is seen: alone.py).

Without namespaces of its own nothing can be said, so it is skipped with the reason; where $CI is
set, as .ci/run does, that is a failure.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.end_to_end import alone, spoken
from tests.end_to_end.program import ROOT
from tests.help.machine.virtual_audio import missing_programs

pytestmark = [pytest.mark.device, pytest.mark.slow]

ALL = ("window", "say", "converse", "bench", "doctor", "models", "training")
FEW = ("say", "models")  # the others take a minute of processor time
REALLY_RAN = {  # what is quiet because it does nothing proves nothing
    "say": ("rubato-starter",),
    "bench": ("rubato-starter",),
    "converse": ("16.09 kilometres",),
    "window": ("rubato-starter", "TurnEnded", "ConversationsChanged"),
}
DOCTOR_FAULTS = 1  # its exit status where something is missing; it is not asked what
OWN = ("config", "data", "temporary", "out")  # the program's folders and what it was told to write
# What libraries of the system keep for every program that shows a window or makes a sound.
OF_THE_SYSTEM = re.compile(
    r"HOME/\.cache/(fontconfig|mesa_shader_cache\w*)(/.*)?"
    r"|HOME/\.config(/pulse(/.*)?)?"  # the cookie of PulseAudio
    r"|HOME/\.cache"
    r"|/var/cache/fontconfig/.*"
    r"|/dev/(null|tty|ptmx|dri/.*|snd/.*)"
    r"|/dev/shm/(sem\.|pulse-shm-|jack).*"  # semaphores of joblib, sound servers' shared memory
    r"|CARD/.*"  # the sound card of the test, where its clients talk to it
    r"|/proc/(self|\d+)/.*"
)
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
SOCKET = re.compile(r"sa_family=AF_(\w+)")
ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
PLACE = re.compile(r'(?:AT_FDCWD|\d+)<([^>]*)>, "([^"]*)"|"([^"]*)"')


@dataclass(frozen=True)
class Deeds:
    """What a program asked of the system: addresses beyond loopback, files beyond its folders."""

    addresses: list[str]
    files: list[str]


def calls(trace: str) -> Iterator[str]:
    """The calls of a trace; those that strace tells in two parts are joined."""
    begun: dict[str, str] = {}
    for line in trace.splitlines():
        process, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            begun[process] = call.removesuffix("<unfinished ...>")
        elif call.startswith("<... "):
            yield begun.pop(process, "") + call.partition("resumed>")[2]
        else:
            yield call
    yield from begun.values()


def beyond_loopback(call: str) -> list[str]:
    """Addresses of a call on sockets that are not on this machine."""
    families = set(SOCKET.findall(call)) - {"UNIX", "NETLINK", "UNSPEC"}
    if not call.startswith(("connect(", "bind(", "send")) or not families:
        return []
    addresses = [four or six for four, six in ADDRESS.findall(call)]
    return [at for at in addresses or [call] if not addresses or not ip_address(at).is_loopback]


def written(call: str) -> list[str]:
    """The file or folder that a call made, or opened for writing."""
    name = call.partition("(")[0]
    opens, moves = name.startswith("open"), name.startswith(("rename", "link", "symlink"))
    makes = name.startswith(("creat", "mkdir", "mknod", "truncate"))
    if " = -1 " in call or not (moves or makes or (opens and WRITES.search(call))):
        return []
    folder, relative, plain = PLACE.findall(call)[-1 if moves else 0]
    return [os.path.normpath(Path(folder or ROOT, relative or plain))]


def deeds_of(folder: Path, name: str) -> Deeds:
    addresses, files = set(), set()
    place = folder / name
    for call in calls((folder / f"{name}.trace").read_text(errors="replace")):
        addresses.update(beyond_loopback(call))
        files.update(written(call))
    own = tuple(str(place / each) for each in OWN)
    named = {
        path.replace(str(place / "home"), "HOME").replace(str(folder / "card"), "CARD")
        for path in files
        if not path.startswith(own)
    }
    return Deeds(sorted(addresses), sorted(p for p in named if not OF_THE_SYSTEM.fullmatch(p)))


def namespaces() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", "--net", "--mount", *user]


def reason_not_to() -> str:
    if not sys.platform.startswith("linux"):
        return "only Linux has network namespaces"
    if missing := [*alone.missing_programs(), *spoken.missing_programs(), *missing_programs()]:
        return f"needs {', '.join(missing)}"
    tried = subprocess.run([*namespaces(), "true"], capture_output=True, text=True, check=False)
    return f"no network namespace can be made: {tried.stderr}" if tried.returncode else ""


@dataclass(frozen=True)
class Stay:
    names: tuple[str, ...]
    folder: Path

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()


@pytest.fixture(
    scope="module", params=[FEW, pytest.param(ALL, marks=pytest.mark.long)], ids=["few", "all"]
)
def stay(request: pytest.FixtureRequest) -> Iterator[Stay]:
    """Its folder has a short name, for the sound server's sockets."""
    if reason := reason_not_to():
        assert not os.environ.get("CI"), f"whether the program stays at home is not known: {reason}"
        pytest.skip(f"whether the program stays at home is not known: {reason}")
    with tempfile.TemporaryDirectory(prefix="alone") as name:
        cut_off = [*namespaces(), sys.executable, "-m", "tests.end_to_end.alone", name]
        done = subprocess.run(
            ["xvfb-run", "--auto-servernum", *cut_off, *request.param, "gossip"],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        yield Stay(request.param, Path(name))


def test_the_programs_run_ask_nobody_and_leave_nothing_elsewhere(stay):
    ended = json.loads((stay.folder / "ended.json").read_text())
    for name in stay.names:
        assert ended[name] in ((0, DOCTOR_FAULTS) if name == "doctor" else (0,)), stay.log(name)
        assert all(sign in stay.log(name) for sign in REALLY_RAN.get(name, ())), name
    did = {name: deeds_of(stay.folder, name) for name in stay.names}
    assert did == dict.fromkeys(stay.names, Deeds([], []))
    assert set((stay.folder / "names.txt").read_text().split()) == {"gossip.example"}


def test_a_program_that_talks_and_leaves_traces_would_be_noticed(stay):
    cache = "HOME/.cache/gossip"
    assert deeds_of(stay.folder, "gossip") == Deeds(
        ["0.0.0.0", alone.ELSEWHERE, "::"], [cache, f"{cache}/id"]
    )
