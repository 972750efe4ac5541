"""`rubato voices`: list, hear, add, mix, rename, remove, restore, export and import voices, and
set their pace.
`rubato compare` measures every system with one text.

Invariant: only `hear`, `add`, `learn` and `compare` load a synthesiser. With --json the latter
three write their progress as lines of JSON to standard error, and standard output is one document,
after a failure too. `add` and `learn` end when the program that started them does.
"""

import argparse
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command.serve import is_caller_there
from app.command.terminal import (
    action,
    answer,
    own_settings,
    redraw,
    tell,
    with_failure,
    write,
    write_json,
)
from app.look.plain_text import one_line
from engine import api
from engine.api import Compared, ComparisonState, Mix, Recital, SayOptions, VoiceEntry

if TYPE_CHECKING:
    from engine.api import Learnt, VoiceStore


_LINE = 40  # characters of the line that shows the progress of a comparison
AGAIN_HELP = "learn a recording again that could not be learnt before"


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `voices` with its sub-commands, and `compare`, to the command line."""
    voices = action(commands, "voices", _list, "list, hear and keep voices")
    actions = voices.add_subparsers(title="actions", metavar="ACTION")
    action(actions, "list", _list, "the voices that can be chosen, and those you made")
    hear = action(actions, "hear", _hear, "say a sentence in a voice", "NAME")
    hear.add_argument("text", metavar="TEXT", nargs="?", default="", help="what to say")
    hear.add_argument("--out", type=Path, metavar="FILE", help="write a .wav instead of playing")
    add = action(
        actions, "add", with_failure(_add), "make a voice of a recording, in minutes", "CLIP"
    )
    learn = action(
        actions, "learn", with_failure(_learn), "learn a voice again from its recording", "NAME"
    )
    learn.add_argument("--choose", action="store_true", help="speak with the result from now on")
    for each in (add, learn):
        each.add_argument("--text", default="", metavar="TEXT", help="what is said in it")
        each.add_argument("--again", action="store_true", help=AGAIN_HELP)
    mix = action(actions, "mix", _mix, "make a voice between two others", "NAME", "ONE", "OTHER")
    share = "of ONE in the mixture (0.5)"
    mix.add_argument("--share", type=float, default=0.5, metavar="0..1", help=share)
    action(actions, "rename", _rename, "call a voice otherwise", "NAME", "NEW")
    remove = action(actions, "remove", _remove, "remove a voice; `restore` brings it back", "NAME")
    remove.add_argument("--for-good", action="store_true", help="delete it at once")
    action(actions, "restore", _restore, "bring back a voice that was removed lately", "NAME")
    pace = action(actions, "pace", _pace, "the pace a voice begins with when it is chosen", "NAME")
    pace.add_argument("pace", metavar="SPS|own", help="syllables a second, 1 to 13, or 'own'")
    whole = "write a voice with its recording to one file"
    action(actions, "export", _export, whole, "NAME", "FILE")
    take = action(actions, "import", _import, "take a voice from such a file", "FILE")
    for each in (add, take):
        each.add_argument("--name", default="", metavar="NAME", help="call it so")
    _add_compare(commands)


def _add_compare(commands: Any) -> None:
    compare = action(
        commands, "compare", with_failure(_compare), "hear and measure all systems with one text"
    )
    compare.add_argument("text", help="a sentence or two, spoken word by word")
    compare.add_argument(
        "--word-delay", type=float, default=200.0, metavar="MS", help="between two words (200)"
    )
    compare.add_argument("--only", default="", metavar="NAMES", help="of these systems, commas")
    compare.add_argument("--aloud", action="store_true", help="play them, in real time")
    compare.add_argument("--out", type=Path, metavar="FOLDER", help="write a WAV of each there")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")


def _list(options: argparse.Namespace) -> int:
    store = _store()
    entries, removed = store.entries(), store.removed()
    if options.json:
        plain = [dataclasses.asdict(entry) for entry in entries]
        names = [entry.name for entry in entries if entry.usable]
        write_json({"voices": names, "entries": plain, "removed": removed})
        return 0
    for entry in entries:
        write("  ".join(filter(None, (f"{one_line(entry.name):16}", _facts(entry)))).rstrip())
    if removed:
        tell(f"Removed, and can be brought back: {', '.join(removed)}")
    return 0


def _facts(entry: VoiceEntry) -> str:
    """The known facts about a voice, in one line."""
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
    settings, store = own_settings(), _store()
    name = store.find(options.name)
    pace = store.pace(name)
    plan = None if pace is None else f"0:{pace}"
    language = next(entry.language for entry in store.entries() if entry.name == name)
    text = options.text or api.preview_sentence(language)
    said = api.say(text, settings, SayOptions(name, plan, out=options.out))
    line = f"{one_line(name)}: {said.audio_s:.1f} s of speech by {said.engine}"
    return answer(options, {"voice": name, **dataclasses.asdict(said)}, line)


def _add(options: argparse.Namespace) -> int:
    clip, name, text, again = Path(options.clip), options.name, options.text, options.again
    return _learning(options, lambda show: api.add_voice(clip, name, text, show, again=again))


def _learn(options: argparse.Namespace) -> int:
    def learn(show: Callable[[str, float], None]) -> "Learnt":
        learnt = api.learn_voice(options.name, options.text, show, again=options.again)
        if options.choose and learnt.file is not None:
            api.choose_learnt(options.name, learnt=True)
        return learnt

    return _learning(options, learn)


def _learning(
    options: argparse.Namespace, learn: Callable[[Callable[[str, float], None]], "Learnt"]
) -> int:
    learnt = learn(_show_line if options.json else show_share)
    name = one_line(learnt.voice)
    lines = [f"{name} was learnt." if learnt.file else f"{name} stays as it was. {learnt.reason}"]
    lines += [learnt.advice] if learnt.advice else []
    texts = [api.translatable.to_json(each) for each in (learnt.reason, learnt.advice) if each]
    return answer(options, {**dataclasses.asdict(learnt), "texts": texts}, *lines)


def show_share(doing: str, share: float) -> None:
    """Show the progress of learning a voice."""
    redraw(f"{doing}: {100 * share:3.0f} % ")


def _show_line(doing: str, share: float) -> None:
    if not is_caller_there():
        raise SystemExit(1)
    tell(json.dumps({"part": round(share, 3), "doing": doing}))


def _mix(options: argparse.Namespace) -> int:
    name = _store().mix(options.name, Mix(options.one, options.other, options.share))
    return _done(options, name, f"{one_line(name)} is one of your voices now.")


def _rename(options: argparse.Namespace) -> int:
    name = _store().rename(options.name, options.new)
    return _done(options, name, f"It is called {one_line(name)} now.")


def _remove(options: argparse.Namespace) -> int:
    store = _store()
    name = store.remove(options.name)
    if options.for_good:
        store.discard(name)
    shown = one_line(name)
    said = f"{shown} was removed"
    said += " for good." if options.for_good else f"; `rubato voices restore` brings {shown} back."
    return _done(options, name, said)


def _restore(options: argparse.Namespace) -> int:
    name = _store().restore(options.name)
    return _done(options, name, f"{one_line(name)} is back.")


def _pace(options: argparse.Namespace) -> int:
    try:
        pace = None if options.pace == "own" else float(options.pace)
    except ValueError as error:
        raise api.errors.InvalidInput(
            "'{text}' is not a speaking rate.",
            hint="Give syllables a second, 1 to 13, or 'own'.",
            text=options.pace,
        ) from error
    store = _store()
    name = store.find(options.name)
    store.set_pace(name, pace)
    said = "the slider's pace" if pace is None else f"{pace:g} syllables a second"
    return _done(options, name, f"{one_line(name)} begins with {said}.")


def _export(options: argparse.Namespace) -> int:
    path = _store().export(options.name, Path(options.file))
    document = {"voice": options.name, "file": str(path)}
    return answer(options, document, f"The voice and its recording are in {path}")


def _import(options: argparse.Namespace) -> int:
    name = _store().read_in(Path(options.file), options.name)
    return _done(options, name, f"{one_line(name)} is one of your voices now.")


def _done(options: argparse.Namespace, name: str, said: str) -> int:
    return answer(options, {"voice": name}, said)


def _store() -> "VoiceStore":
    return api.voices(own_settings())


def _compare(options: argparse.Namespace) -> int:
    only = tuple(name for name in options.only.split(",") if name)
    recital = Recital(options.word_delay, options.aloud, options.out, options.csv, only)

    def show(row: Compared) -> None:
        if options.json:
            tell(json.dumps({"row": row.document()}))
        elif row.state in (ComparisonState.LOADING, ComparisonState.SPEAKING):
            redraw(f"{row.title}: {row.state.value} ...".ljust(_LINE))

    rows = api.compare(options.text, own_settings(), recital, show)
    if options.json:
        write_json({"rows": [row.document() for row in rows]})
    else:
        redraw(" " * _LINE)
        redraw("")
        write(api.comparison_table(rows))
    return 0 if any(row.state is ComparisonState.DONE for row in rows) else 1
