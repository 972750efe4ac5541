"""A voice process for tests, run as a script: each word is 80 ms of sound. Words of the text are
instructions: "late" is never spoken, "fault" is refused, behind "crash" the process ends, and
behind "changed" too, as for other settings.
"""

import json
import re
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

RATE = 24_000
FRAME = b"\x0a\x7d" * (RATE * 80 // 1000)  # what the protocol has to escape


def main() -> None:
    module = Connection(0)

    def send(fields: dict[str, object], samples: bytes = b"") -> None:
        module.send_bytes(json.dumps(fields).encode() + b"\n" + samples)

    send({"highest": 7.0, "language": "en"})
    while True:
        request = json.loads(module.recv_bytes())
        number = request.get("number")
        for word in re.finditer(r"\S+", request.get("text", "")):
            if module.poll() or word[0] == "late":
                break
            if word[0] == "fault":
                send({"number": number, "fault": "InvalidInput"})
                break
            if word[0] == "crash":
                sys.exit(1)
            if word[0] == "changed":
                return
            about = {name: request[name] for name in ("number", "voice", "language")}
            send({**about, "words": [[word.start(), 0]], "hertz": RATE}, FRAME)
        else:
            if request:
                send({"number": number, "ended": True})


if __name__ == "__main__":
    with suppress(EOFError, ConnectionError):  # the module has ended
        main()
