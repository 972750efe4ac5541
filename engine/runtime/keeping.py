"""Writing the conversation to a file, while it goes on or after its end.

Invariant: sound is written from recordings by the thread that records, as long as there is one.
"""

from pathlib import Path

from engine.audio.recording import join
from engine.export.files import SOUND, check_suffix, write
from engine.runtime.crew import Crew
from engine.runtime.errands import WriteConversation
from engine.runtime.ledger import Ledger
from engine.runtime.recorder import SaveSound


def export(path: Path, ledger: Ledger, crew: Crew) -> None:
    """Have it written by the crew, who tell how that went. InvalidInput for an unknown suffix."""
    check_suffix(path)
    if path.suffix.lower() == SOUND:
        crew.recorder.post(SaveSound(path))
    else:
        conversation = ledger.conversation(crew.recorder.recorded)
        crew.errands.post(WriteConversation(conversation, path))


def write_now(path: Path, ledger: Ledger, crew: Crew) -> None:
    """Write it on the calling thread, once the crew has stopped. InvalidInput as write() and
    join() raise it.
    """
    if path.suffix.lower() == SOUND:
        join(crew.recorder.recorded, path)
    else:
        write(ledger.conversation(crew.recorder.recorded), path)
