"""Writing the conversation to a file, while it goes on or after its end.

Invariant: sound is written from recordings by the thread that records, as long as there is one.
"""

from pathlib import Path

from engine.audio.clips.recording import join
from engine.export.files import SOUND, check_suffix, write
from engine.messages.commands import Export
from engine.runtime.threads import Workers
from engine.runtime.turn.log import TurnLog
from engine.runtime.workers.background import WriteConversation


def export(command: Export, log: TurnLog, workers: Workers) -> None:
    """Have it written by a worker, who tells how that went. InvalidInput for an unknown suffix."""
    check_suffix(command.path)
    if command.path.suffix.lower() == SOUND:
        workers.recorder.post(command)
    else:
        conversation = log.conversation(workers.recorder.recorded)
        workers.background.post(WriteConversation(conversation, command.path))


def write_now(path: Path, log: TurnLog, workers: Workers) -> None:
    """Write it on the calling thread, once the workers have stopped. InvalidInput as write() and
    join() raise it.
    """
    if path.suffix.lower() == SOUND:
        join(workers.recorder.recorded, path)
    else:
        write(log.conversation(workers.recorder.recorded), path)
