"""The engine without a window: say, converse, demo, voices, compare, bench, doctor.

Invariant: results go to standard output, everything else to standard error; with --json standard
output is one JSON document whose keys do not change between releases.
"""

import argparse
import dataclasses
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.command import history, models, names, read, serve, voices
from app.command.terminal import (
    ShareLine,
    action,
    answer,
    own_settings,
    tell,
    write,
    write_json,
    writing,
)
from app.presence import ipc_client
from app.presence.ipc_client import Message
from engine import api
from engine.api import Event, SettingKey, Settings

_STAGES = ("transcript", "first_token", "first_word", "first_audio", "heard")
QUESTION = "convert ten miles to kilometers"


@dataclass(frozen=True)
class ParsedCommand:
    """The parsed command line."""

    run: Callable[[], int]
    log_level: int


def parse(arguments: Sequence[str]) -> ParsedCommand:
    """Parse the command line. An invalid one ends the process with a message and exit status 2."""
    options = _parser().parse_args(list(arguments))
    level = logging.DEBUG if options.verbose else logging.WARNING
    command: Callable[[argparse.Namespace], int] = options.command
    return ParsedCommand(lambda: command(options), level)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rubato",
        description="A voice assistant that runs locally. Without arguments the window opens.",
    )
    parser.add_argument("--verbose", action="store_true", help="log what happens inside")
    parser.add_argument("--start-hidden", action="store_true", help="begin without the window")
    parser.add_argument("--no-tray", action="store_true", help="put no icon into the tray")
    parser.set_defaults(command=_window, json=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_say(commands)
    _add_converse(commands)
    _add_remote(commands)
    models.add_command(commands)
    history.add_command(commands)
    read.add_command(commands)
    names.add_command(commands)
    voices.add_command(commands)
    serve.add_command(commands)
    bench = action(commands, "bench", _bench, "measure this machine")
    bench.add_argument("--quick", action="store_true", help="leave out the neural voice (minutes)")
    doctor = action(commands, "doctor", _doctor, "look at what is installed and missing")
    doctor.epilog = "With --json nothing is the person's: no text, name, path or address."
    action(commands, "licences", _licences, "what this is made of, and under which terms")
    return parser


def _add_say(commands: Any) -> None:  # Any: argparse names this type only privately
    say = commands.add_parser("say", help="speak a text")
    say.add_argument("text", help="what to say; - reads standard input")
    say.add_argument("--rate", type=float, metavar="SPS", help="syllables per second, 1 to 13")
    say.add_argument("--rate-plan", metavar="PLAN", help='rates over time, for example "0:2,3:6"')
    say.add_argument("--voice", metavar="NAME|FILE", help="a voice, or a clip to take it from")
    say.add_argument("--language", choices=api.SPOKEN, help="instead of the text's own")
    say.add_argument("--again", action="store_true", help=voices.AGAIN_HELP)
    say.add_argument("--engine", metavar="NAME", help="which synthesiser")
    say.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same samples")
    say.add_argument("--word-delay", type=float, default=0.0, metavar="MS", help="pause per word")
    say.add_argument("--out", type=Path, metavar="FILE", help="write a .wav instead of playing")
    say.add_argument("--json", action="store_true", help="print measurements as JSON")
    say.add_argument("--in-window", action="store_true", help="let the Rubato that runs say it")
    say.set_defaults(command=_say)


def _add_converse(commands: Any) -> None:
    converse = commands.add_parser("converse", help="talk without a window")
    converse.add_argument("--mic", default="device", metavar="FILE|device")
    converse.add_argument("--speaker", default="device", metavar="FILE|device")
    converse.add_argument(
        "--export",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the conversation as .txt, .md or .json; may be given again",
    )
    converse.add_argument("--json", action="store_true", help="print the turns as JSON")
    converse.set_defaults(command=_converse)
    demo = commands.add_parser("demo", help="a spoken question through the whole loop, by files")
    demo.add_argument("--out", type=Path, default=Path("out"), metavar="FOLDER")
    demo.add_argument("--json", action="store_true", help="print the turns as JSON")
    demo.set_defaults(command=_demo)


def _add_remote(commands: Any) -> None:
    """Add the commands to the running Rubato to the parser, for the help text and for error
    messages. app/__main__.py sends a valid command without creating this parser.
    """
    talk = commands.add_parser("talk", help="hold or let go the talk key of the running program")
    talk.add_argument("how", choices=("press", "release", "toggle"))
    talk.set_defaults(
        command=lambda options: ipc_client.tell(Message(ipc_client.Order(f"talk {options.how}")))
    )
    for order, text in (
        (ipc_client.Order.STOP, "stop the reply of the running program"),
        (ipc_client.Order.FASTER, "let the running program speak faster"),
        (ipc_client.Order.SLOWER, "let the running program speak slower"),
        (ipc_client.Order.SELECTION, "let the running program read the selected text"),
        (ipc_client.Order.SHOW, "show the window of the running program"),
        (ipc_client.Order.STATUS, "what the running program is doing, in a word"),
    ):
        parser = commands.add_parser(order.value, help=text)
        parser.set_defaults(command=lambda _, order=order: ipc_client.tell(Message(order)))


# ------------------------------------------------------------------------ commands


def _window(options: argparse.Namespace) -> int:
    if sys.platform == "win32":
        import torch  # noqa: F401 - its DLLs must be loaded before Qt's (pytorch#166628)
    raised = ipc_client.raise_running(hidden=options.start_hidden)
    if raised is not None:
        return raised
    settings, notes = api.load_settings()
    api.preload(settings.language_model)
    from app import program

    start = program.Start(hidden=options.start_hidden, tray=not options.no_tray)

    def make_engine(settings: Settings, emit: Callable[[Event], None]) -> api.Engine:
        return api.Engine(
            settings,
            emit,
            settings_path=api.settings_path(),
            timers_path=api.timers_path(),
            history_path=api.history_path(),
        )

    return program.run(
        settings, make_engine, notes=notes, start=start, crash_notes=api.crash_notes()
    )


def _say(options: argparse.Namespace) -> int:
    text = sys.stdin.read() if options.text == "-" else options.text
    if options.in_window:
        return _say_in_window(text, options)
    settings = own_settings()
    if options.seed is not None:
        settings = api.settings.change(settings, SettingKey.SEED, options.seed)
    engine = options.engine or settings.speech.engine
    speech = dataclasses.replace(settings.speech, engine=engine)
    plan = options.rate_plan
    if plan is None and options.rate is not None:
        plan = f"0:{options.rate}"
    voice = options.voice
    if voice is None and engine != settings.speech.engine:
        voice = ""  # the chosen one is the chosen synthesiser's
    if voice:
        show = voices.show_share
        voice, why = api.learn_recording(voice, speech, show, again=options.again)
        if why:
            tell(why)
    how = api.SayOptions(voice, plan, options.word_delay, options.out, options.language)
    settings = dataclasses.replace(settings, speech=speech)
    with ShareLine() as progress:
        said = api.say(text, settings, how, progress.draw)
    line = f"{said.audio_s:.1f} s of speech by {said.engine}, first packet "
    line += f"{said.first_packet_ms:.0f} ms, {said.rtf:.2f} of real time"
    return answer(options, said, line)


def _say_in_window(text: str, options: argparse.Namespace) -> int:
    others = (
        *(options.rate, options.rate_plan, options.voice, options.engine, options.seed),
        options.language,
    )
    said_how = any(each is not None for each in (*others, options.out))
    if options.json or options.word_delay or said_how:
        raise api.errors.InvalidInput(
            "The program that runs speaks with its own voice, and at its own pace.",
            hint="Give --in-window with a text alone.",
        )
    return ipc_client.tell(Message(ipc_client.Order.SAY, text=text))


def _converse(options: argparse.Namespace) -> int:
    microphone = None if options.mic == "device" else Path(options.mic)
    loudspeaker = None if options.speaker == "device" else Path(options.speaker)
    turns = api.converse(
        own_settings(),
        microphone=microphone,
        loudspeaker=loudspeaker,
        show=_show_faults if options.json else _show_turns,
        exports=tuple(options.export),
    )
    return answer(options, _document(turns))


def _demo(options: argparse.Namespace) -> int:
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise api.errors.InvalidInput(
            "The folder {folder} cannot be made: {error}.",
            hint="Choose a place that exists and where you may write, with --out FOLDER.",
            folder=options.out,
            error=error.strerror,
        ) from error
    question, reply = options.out / "question.wav", options.out / "reply.wav"
    asked_by = api.speak_question(QUESTION, question)
    tell(f'"{QUESTION}" is asked by {asked_by}: {question}')
    show = _show_faults if options.json else _show_turns
    turns = api.converse(Settings(), microphone=question, loudspeaker=reply, show=show)
    answer(options, _document(turns))
    tell(f"The reply is in {reply}")
    return 0 if any(turn.reply for turn in turns) else 1


def _show_faults(event: Event) -> None:
    if isinstance(event, api.Failed):
        tell(f"{event.message} {event.hint}")
    elif isinstance(event, api.Notice):
        tell(event.text)


def _show_turns(event: Event) -> None:
    """Print each turn when it ends. Without a loudspeaker there is no other output of the reply."""
    _show_faults(event)
    if isinstance(event, api.TurnEnded) and not event.rejoined:
        write(f"you:    {_indented(event.said) or '(nothing understood)'}")
        write(f"rubato: {_indented(event.reply) or '(no reply)'}")
        times = (
            f"{stage.replace('_', ' ')} {at:.0f}"
            for stage, at in _times_ms(event.metrics).items()
            if at is not None
        )
        write(f"        ms after the end of speech: {', '.join(times)}")
        with writing():
            sys.stdout.flush()


def _times_ms(metrics: api.TurnMetrics) -> dict[str, float | None]:
    times = ((stage, getattr(metrics, f"{stage}_ms")) for stage in _STAGES)
    return {stage: None if at is None else round(at, 1) for stage, at in times}


def _document(turns: Sequence[api.TurnEnded]) -> dict[str, object]:
    return {
        "turns": [
            {
                "heard": turn.said,
                "reply": turn.reply,
                "spoken": turn.spoken,
                "ending": turn.ending.value,
                "times_ms": _times_ms(turn.metrics),
                "underruns": turn.metrics.underruns,
            }
            for turn in turns
        ]
    }


def _indented(text: str) -> str:
    """Indent a reply, so that no line of it looks like a label of this program."""
    return text.strip().replace("\n", "\n        ")


def _bench(options: argparse.Namespace) -> int:
    settings = own_settings()
    rows = api.bench(settings, quick=options.quick, tell=tell)
    pick = api.pick_profile(rows)
    ears, voice = api.pick_recogniser(rows), api.pick_synthesiser(rows)
    if options.json:
        picks = {"pick": pick, "recogniser": ears, "synthesiser": voice}
        plain = {name: dataclasses.asdict(each) if each else None for name, each in picks.items()}
        write_json({"rows": [dataclasses.asdict(row) for row in rows], **plain})
        return 0
    write(api.bench_table(rows))
    if pick:
        write(f"Precision of VoXtream2: {pick.profile or 'none'}. {pick.reason}")
    for line in models.automatic(settings):
        write(line)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    settings = own_settings()
    findings = api.examine(settings)
    if options.json:
        write_json(api.diagnostics(settings, findings, api.crash_notes()))
    else:
        for finding in findings:
            write(f"{finding.state.value:8} {finding.part}: {finding.text}")
            if finding.advice:
                write(f"         {finding.advice}")
    return 1 if any(finding.state.value == "fault" for finding in findings) else 0


def _licences(options: argparse.Namespace) -> int:
    works = api.works()
    if options.json:
        write_json({"works": [dataclasses.asdict(work) for work in works]})
        return 0
    for work in works:
        write(f"{work.page()}\n")
    return 0
