"""`rubato voices`: list, hear, mix, rename, remove, bring back, export and import voices.

Invariant: only `hear` loads a synthesiser.
"""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command.terminal import tell, write
from app.look.plain_text import one_line
from engine import api
from engine.api import Manner, Mix, Settings, VoiceEntry

if TYPE_CHECKING:
    from engine.api import VoiceLibrary


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `voices` and its sub-commands to the command line."""
    voices = commands.add_parser("voices", help="list, hear and keep voices")
    voices.add_argument("--json", action="store_true", help="print as JSON")
    voices.set_defaults(command=_list)
    actions = voices.add_subparsers(title="actions", metavar="ACTION")
    _add(actions, "list", _list, "the voices that can be chosen, and those you made")
    hear = _add(actions, "hear", _hear, "say a sentence in a voice", "NAME")
    hear.add_argument("text", metavar="TEXT", nargs="?", default="", help="what to say")
    hear.add_argument("--out", type=Path, metavar="FILE", help="write a .wav instead of playing")
    mix = _add(actions, "mix", _mix, "make a voice between two others", "NAME", "ONE", "OTHER")
    mix.add_argument(
        "--share", type=float, default=0.5, metavar="0..1", help="of ONE in the mixture (0.5)"
    )
    _add(actions, "rename", _rename, "call a voice otherwise", "NAME", "NEW")
    remove = _add(actions, "remove", _remove, "remove a voice; `restore` brings it back", "NAME")
    remove.add_argument("--for-good", action="store_true", help="delete it at once")
    _add(actions, "restore", _restore, "bring back a voice that was removed lately", "NAME")
    pace = _add(actions, "pace", _pace, "the pace a voice begins with when it is chosen", "NAME")
    pace.add_argument("pace", metavar="SPS|own", help="syllables a second, 1 to 7, or 'own'")
    export = _add(
        actions, "export", _export, "write a voice with its recording to one file", "NAME"
    )
    export.add_argument("file", type=Path, metavar="FILE")
    take = _add(actions, "import", _import, "take a voice from such a file")
    take.add_argument("file", type=Path, metavar="FILE")
    take.add_argument("--name", default="", metavar="NAME", help="call it so")


def _add(
    actions: Any, name: str, command: Any, text: str, *arguments: str
) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=text)
    for each in arguments:
        action.add_argument(each.lower(), metavar=each)
    # SUPPRESS, because a default here would undo a --json before the action
    action.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print as JSON"
    )
    action.set_defaults(command=command)
    return action


def _list(options: argparse.Namespace) -> int:
    library = _library()
    entries, removed = library.entries(), library.removed()
    if options.json:
        plain = [dataclasses.asdict(entry) for entry in entries]
        names = [entry.name for entry in entries if entry.usable]
        write(json.dumps({"voices": names, "entries": plain, "removed": removed}, indent=2))
        return 0
    for entry in entries:
        write("  ".join(filter(None, (f"{one_line(entry.name):16}", _facts(entry)))).rstrip())
    if removed:
        tell(f"Removed, and can be brought back: {', '.join(removed)}")
    return 0


def _facts(entry: VoiceEntry) -> str:
    """What is known of a voice, in one line."""
    facts = [entry.description] if entry.description else []
    if entry.clip_s is not None:
        noise = "" if entry.snr_db is None else f", {entry.snr_db:.0f} dB above its noise"
        made = "resembles a recording of" if entry.resembles else "made of"
        facts.append(f"{made} {entry.clip_s:.1f} s{noise}")
    if entry.pace is not None:
        facts.append(f"{entry.pace:g} syllables a second")
    if entry.used:
        facts.append(f"last used {entry.used}")
    if entry.why_not:
        facts.append(entry.why_not)
    return "; ".join(facts)


def _hear(options: argparse.Namespace) -> int:
    settings, library = _settings(), _library()
    name = library.find(options.name)
    pace = library.pace(name)
    plan = None if pace is None else f"0:{pace}"
    text = options.text or library.sentence
    said = api.say(text, settings, Manner(name, plan, out=options.out))
    if options.json:
        write(json.dumps({"voice": name, **dataclasses.asdict(said)}, indent=2, default=str))
    else:
        write(f"{one_line(name)}: {said.audio_s:.1f} s of speech by {said.engine}")
    return 0


def _mix(options: argparse.Namespace) -> int:
    name = _library().mix(options.name, Mix(options.one, options.other, options.share))
    return _done(options, name, f"{one_line(name)} is one of your voices now.")


def _rename(options: argparse.Namespace) -> int:
    name = _library().rename(options.name, options.new)
    return _done(options, name, f"It is called {one_line(name)} now.")


def _remove(options: argparse.Namespace) -> int:
    name = _library().remove(options.name, for_good=options.for_good)
    shown = one_line(name)
    said = f"{shown} was removed"
    said += " for good." if options.for_good else f"; `rubato voices restore` brings {shown} back."
    return _done(options, name, said)


def _restore(options: argparse.Namespace) -> int:
    name = _library().restore(options.name)
    return _done(options, name, f"{one_line(name)} is back.")


def _pace(options: argparse.Namespace) -> int:
    pace = None if options.pace == "own" else _number(options.pace)
    name = _library().set_pace(options.name, pace)
    said = "the slider's pace" if pace is None else f"{pace:g} syllables a second"
    return _done(options, name, f"{one_line(name)} begins with {said}.")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise api.errors.InvalidInput(
            "'{text}' is no pace.", hint="Give syllables a second, 1 to 7, or 'own'.", text=text
        ) from error


def _export(options: argparse.Namespace) -> int:
    path = _library().export(options.name, options.file)
    return _done(options, options.name, f"The voice and its recording are in {path}", str(path))


def _import(options: argparse.Namespace) -> int:
    name = _library().read_in(options.file, options.name)
    return _done(options, name, f"{one_line(name)} is one of your voices now.")


def _done(options: argparse.Namespace, name: str, said: str, file: str | None = None) -> int:
    if options.json:
        write(json.dumps({"voice": name, **({"file": file} if file else {})}, indent=2))
    else:
        write(said)
    return 0


def _library() -> "VoiceLibrary":
    return api.voice_library(_settings())


def _settings() -> Settings:
    settings, notes = api.load_settings()
    for note in notes:
        tell(note)
    return settings
