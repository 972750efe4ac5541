"""The whole program cut off from the world, and everything it asks of it written down.

    unshare --net --mount python -m tests.end_to_end.alone FOLDER NAME...

Every program named, of those below, runs as a person starts it, with a display and a sound card of
its own and the settings of a new installation, in a network of its own (nothing but loopback) with
a name server that answers every question, so that what would talk goes on talking. strace writes to
FOLDER/NAME.trace what each asks of the system; the names looked up go to FOLDER/names.txt, how the
programs ended to FOLDER/ended.json.

Invariant: nothing here judges; test_stays_at_home.py does.
"""

import ctypes
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

from tests.end_to_end.program import ROOT
from tests.end_to_end.spoken import write_questions
from tests.help.machine.virtual_audio import virtual_audio

ELSEWHERE = "192.0.2.1"  # what every name stands for: an address that is nobody's (RFC 5737)
PATIENCE_S = 240.0
CALLS = "connect,sendto,sendmsg,sendmmsg,bind,open,openat,openat2,creat,mkdir,mkdirat"
CALLS += ",rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat,truncate"
# Does each thing that the program must not do: the proof that it would be seen.
GOSSIP = """
import contextlib, pathlib, socket
with contextlib.suppress(OSError):
    socket.create_connection(("gossip.example", 443), timeout=1)
socket.socket().bind(("0.0.0.0", 0))
socket.socket(socket.AF_INET6).bind(("::", 0))
(pathlib.Path.home() / ".cache" / "gossip").mkdir(parents=True)
(pathlib.Path.home() / ".cache" / "gossip" / "id").write_text("me")
"""


def programs(folder: Path) -> dict[str, list[str]]:
    rubato = [sys.executable, "-m", "app"]
    question = str(write_questions(folder / "question.wav", "convert ten miles to kilometers"))
    reply = str(folder / "converse" / "out" / "reply.wav")
    return {
        "window": [sys.executable, "-m", "tests.end_to_end.short_visit"],
        "say": [*rubato, "say", "Hello there."],
        "converse": [*rubato, "converse", "--mic", question, "--speaker", reply],
        "bench": [*rubato, "bench", "--quick"],
        "doctor": [*rubato, "doctor"],
        "models": [*rubato, "models", "list"],
        "training": [sys.executable, "-m", "engine.training", "--help"],
        "gossip": [sys.executable, "-c", GOSSIP],
    }


def environment(place: Path) -> dict[str, str]:
    """Nothing of the caller's: ONNX Runtime, for one, is quiet where it sees that tests run."""
    own = {"HOME": "home", "TMPDIR": "temporary", "RUBATO_CONFIG": "config", "RUBATO_DATA": "data"}
    made = {name: str(place / folder) for name, folder in own.items()}
    for path in (*made.values(), place / "out"):
        Path(path).mkdir(parents=True)
    made |= {name: os.environ[name] for name in ("PATH", "DISPLAY", "XAUTHORITY", "LANG")
             if name in os.environ}  # fmt: skip
    # with no address X11 programs start a bus of their own, which outlives them
    made["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={place / 'no-bus'}"
    return made | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def cut_off(folder: Path) -> None:
    """Of the machine only loopback and the name server below are left; no daemon helps out."""
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0x1)  # IFF_UP, see netdevice(7)
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS
    mount("tmpfs", "/run", "tmpfs")  # nscd, resolved, avahi and the bus would ask for others
    for name, text in (
        ("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ):
        ours = folder / Path(name).name
        ours.write_text(text)
        if Path(name).exists():  # without the first the name server is 127.0.0.1 too
            mount(str(ours), name, "", flags=4096)  # MS_BIND


def mount(source: str, target: str, kind: str, flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, None):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def answer_names(names: list[str]) -> None:
    """The name server: takes down who was asked for and says ELSEWHERE (RFC 1035)."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def answer() -> None:
        while True:
            query, caller = server.recvfrom(4096)
            end = query.index(0, 12)
            labels, at = [], 12
            while at < end:
                labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
                at += 1 + query[at]
            names.append(".".join(labels))
            head = query[:2] + b"\x81\x80" + b"\0\1\0\1\0\0\0\0" + query[12 : end + 5]
            record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton(ELSEWHERE)
            server.sendto(head + record, caller)

    threading.Thread(target=answer, name="names", daemon=True).start()


def run_all(folder: Path, names: list[str], card: dict[str, str]) -> dict[str, int]:
    running, known = {}, programs(folder)
    for name in names:
        place = folder / name
        spy = ["strace", "-f", "--seccomp-bpf", "-y", "-s", "200", "-e", f"trace={CALLS}"]
        with (folder / f"{name}.log").open("wb") as log:
            running[name] = subprocess.Popen(
                [*spy, "-o", str(folder / f"{name}.trace"), *known[name]],
                cwd=ROOT,
                env=environment(place) | card,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
    try:
        return {name: program.wait(PATIENCE_S) for name, program in running.items()}
    finally:
        for program in running.values():
            program.kill()


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    cut_off(folder)
    asked: list[str] = []
    answer_names(asked)
    with virtual_audio(folder / "card") as card:
        ended = run_all(folder, names, card.env)
    (folder / "names.txt").write_text("\n".join(asked))
    (folder / "ended.json").write_text(json.dumps(ended))


def missing_programs() -> list[str]:
    return [name for name in ("strace", "unshare", "xvfb-run") if not shutil.which(name)]


if __name__ == "__main__":
    main()
