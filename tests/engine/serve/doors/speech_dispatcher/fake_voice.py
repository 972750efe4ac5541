"""A voice process for tests, run as a script: each word is 80 ms of sound. Words of the text are
instructions: "late" is never spoken, "fault" is refused, behind "crash" the process ends.
"""

import json
import re
import select
import socket
import sys

RATE = 24_000
FRAME = b"\x0a\x7d" * (RATE * 80 // 1000)  # what the protocol has to escape


def main() -> None:
    module = socket.socket(fileno=0)
    module.sendall(b'{"highest": 7.0}\n')
    waiting = b""

    def receive() -> bytes:
        chunk = module.recv(65_536)
        if not chunk:
            sys.exit()
        return waiting + chunk

    def send(fields: dict[str, object], samples: bytes = b"") -> None:
        about = {**fields, "bytes": len(samples)} if samples else fields
        module.sendall(json.dumps(about).encode() + b"\n" + samples)

    while True:
        while b"\n" not in waiting:
            waiting = receive()
        *_, line, waiting = waiting.split(b"\n")
        request = json.loads(line)
        for word in re.finditer(r"\S+", request.get("text", "")):
            if select.select([module], [], [], 0)[0]:
                waiting = receive()
            if b"\n" in waiting or word[0] == "late":
                break
            if word[0] == "fault":
                send({"number": request["number"], "fault": "InvalidInput"})
                break
            if word[0] == "crash":
                sys.exit(1)
            about = {"number": request["number"], "words": [[word.start(), 0]], "hertz": RATE}
            send(about, FRAME)
        else:
            if request:
                send({"number": request["number"], "ended": True})


if __name__ == "__main__":
    main()
