"""Writing the conversation to a file, while it goes on or after its end.

Invariant: sound is written from recordings by the thread that records, as long as there is one.
"""

from pathlib import Path

from engine.audio.clips.recording import join
from engine.export.files import SOUND, check_suffix, write
from engine.messages.commands import Export
from engine.runtime.crew import Crew
from engine.runtime.turn.log import TurnLog
from engine.runtime.workers.background import WriteConversation


def export(command: Export, log: TurnLog, crew: Crew) -> None:
    """Have it written by the crew, who tell how that went. InvalidInput for an unknown suffix."""
    check_suffix(command.path)
    if command.path.suffix.lower() == SOUND:
        crew.recorder.post(command)
    else:
        conversation = log.conversation(crew.recorder.recorded)
        crew.background.post(WriteConversation(conversation, command.path))


def write_now(path: Path, log: TurnLog, crew: Crew) -> None:
    """Write it on the calling thread, once the crew has stopped. InvalidInput as write() and
    join() raise it.
    """
    if path.suffix.lower() == SOUND:
        join(crew.recorder.recorded, path)
    else:
        write(log.conversation(crew.recorder.recorded), path)
