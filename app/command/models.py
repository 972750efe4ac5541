"""`rubato models`: list, get, verify, remove, use and add recognisers, language models and voices.
`rubato wake` trains the model of the wake phrase on this machine.

Invariant: Ctrl-C stops a download after the current chunk. The partial file stays, and a later
download resumes it. The old wake-phrase model stays in use until a training has succeeded.
"""

import argparse
import dataclasses
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from app.command.terminal import (
    action,
    answer,
    as_json,
    own_settings,
    redraw,
    tell,
    tell_share,
    write,
    write_failure,
    write_json,
)
from app.look.plain_text import one_line
from engine import api

EARS = "whisper-base"  # the recogniser that 'auto' means on machines where it is fast enough
TINY_EARS = "whisper-tiny"  # the one where only this is
RECOMMENDED = "recommended"  # in place of a name: the set that fits this machine


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `models` with its sub-commands, and `wake`, to the command line."""
    models = commands.add_parser("models", help="fetch, verify, remove and choose models")
    models.set_defaults(command=_list, servers=False)
    actions = models.add_subparsers(title="actions", metavar="ACTION")
    listing = actions.add_parser("list", help="all models, and which of them are here")
    listing.add_argument(
        "--servers", action="store_true", help="look for Ollama, LM Studio and llama-server here"
    )
    as_json(listing, _list)
    get = "fetch a model and what it needs, or 'recommended'; resumes where it stopped"
    action(actions, "get", _get, get, "NAME")
    action(actions, "verify", _verify, "compare every file with its hash", "NAME")
    action(actions, "remove", _remove, "delete a fetched model, or forget an added one", "NAME")
    action(actions, "use", _use, "use a model from the next start on", "NAME")
    own = "make a GGUF file or a Whisper folder of your own known"
    action(actions, "add", _add, own, "PATH")
    wake = action(commands, "wake", _teach, "teach the wake phrase, in some minutes")
    wake.add_argument("phrase", nargs="?", help="the phrase; the one in the settings if left out")


def _list(options: argparse.Namespace) -> int:
    library = _library()
    entries, recommended = library.models(servers=options.servers), library.recommendation()
    if options.json:
        plain = [dataclasses.asdict(entry) for entry in entries]
        write_json({"models": plain, "recommended": dataclasses.asdict(recommended)})
        return 0
    for entry in entries:
        size = f"{entry.megabytes:6,} MB" if entry.megabytes else f"{'':9}"
        state = "in use" if entry.in_use else entry.state
        write(f"{one_line(entry.name):16} {size}  {state:9} {one_line(entry.title)}")
        write(f"{'':37}{entry.licence}; {entry.attribution}")
        memory = ""
        if entry.memory_mb:
            short = "" if entry.fits else ", more than this machine has to spare"
            memory = f"about {entry.memory_mb / 1000:.1f} GB of memory while it runs{short}"
        for line in (memory, entry.measured, entry.notice, entry.obstacle):
            if line:
                write(f"{'':37}{line}")
    write(f"Recommended for this machine: {recommended.text} {recommended.warning}".rstrip())
    return 0


def _get(options: argparse.Namespace) -> int:
    names: tuple[str, ...] = (options.name,)
    library = _library()
    if options.name == RECOMMENDED:
        recommended = library.recommendation()
        names = recommended.names
        tell(f"{recommended.text} {recommended.megabytes:,} MB in all. {recommended.warning}")
    for entry in library.wanted(names):
        terms = f"{entry.licence}; {entry.attribution}. {entry.notice}".strip()
        tell(f"{one_line(entry.title)}: {terms}")
    fetched = {name: library.fetch(name, _draw) for name in names}
    tell("")
    folders = {name: [str(each) for each in found] for name, found in fetched.items()}
    answer(options, {"fetched": folders}, *(each for found in folders.values() for each in found))
    _measure(fetched, tell if options.json else write)
    return 0


def _measure(fetched: Container[str], say: Callable[[str], None]) -> None:
    """Measure the fetched engines that 'auto' may select; 'auto' then selects the fast ones."""
    settings = api.Settings()
    if EARS in fetched or TINY_EARS in fetched:
        api.pick_recogniser(api.bench_recognisers(settings, ("whisper",), tell=tell))
        say(automatic(settings)[0])
    if api.KOKORO in fetched:
        api.pick_synthesiser(api.bench_synthesisers(settings, (api.KOKORO,), tell=tell))
        say(automatic(settings)[1])


def automatic(settings: api.Settings) -> tuple[str, str]:
    """Describe the recogniser and the synthesiser that 'auto' selects here, one line each."""
    ears = api.choose_recogniser(settings.recogniser)
    voice = api.choose_synthesiser(settings.speech)
    return (
        f"Recogniser 'auto': {ears.recogniser}. {ears.reason}",
        f"Synthesiser 'auto': {voice.synthesiser}. {voice.reason}",
    )


def _verify(options: argparse.Namespace) -> int:
    faults = _library().verify(options.name, _draw)
    tell("")
    lines = faults or (f"{options.name} is as it was fetched.",)
    answer(options, {"name": options.name, "faults": list(faults)}, *lines)
    return 1 if faults else 0


def _remove(options: argparse.Namespace) -> int:
    removed = _library().remove(options.name)
    document = {"name": options.name, "freed_bytes": removed.freed_bytes}
    return answer(options, document, removed.text)


def _use(options: argparse.Namespace) -> int:
    document = {"name": options.name, "settings": dict(_library().use(options.name))}
    return answer(options, document, f"{one_line(options.name)} is used from the next start on.")


def _add(options: argparse.Namespace) -> int:
    names = _library().add(Path(options.path))
    shown = map(one_line, names)
    lines = (f"{name} is in the list; to use it: rubato models use {name}" for name in shown)
    return answer(options, {"added": list(names)}, *lines)


def _library() -> "api.ModelLibrary":
    return api.ModelLibrary(own_settings())


def _draw(file: str, done: int, total: int) -> None:
    """Print a file and its progress on one line of standard error."""
    share = f"{100 * done / total:3.0f} %" if total else ""
    redraw(f"{file}  {done / 1e6:.0f} of {total / 1e6:.0f} MB  {share}   ")


def _teach(options: argparse.Namespace) -> int:
    phrase = options.phrase or own_settings().wake.phrase
    if not options.json:
        api.teach_wake_phrase(phrase, lambda share: redraw(f"{100 * share:3.0f} %"))
        tell("")
        write(f"“{one_line(phrase)}” was trained. It is used from the next start.")
        return 0

    try:
        file = api.teach_wake_phrase(phrase, tell_share)
    except api.EngineError as error:
        return write_failure(error, phrase=phrase)
    write_json({"phrase": phrase, "file": file})
    return 0
