"""The house keeps its rules (of I1 to I9 those that structure can show), and each rule can fail."""

import ast
import dataclasses
import pickle
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from engine.messages.commands import Command
from engine.messages.events import Event
from tests.help import house_rules as rules
from tests.help.process.fresh_python import prints

ROOT = Path(__file__).parent.parent
MESSAGES = (*get_args(Command), *get_args(Event))
PLAIN = (str, int, float, bool, NoneType, Path)  # what a message may hold, with enums and tuples
# The window must be able to open before any of these is loaded (I3).
HEAVY = ("torch", "PySide6", "onnxruntime", "ctranslate2", "transformers", "scipy", "sounddevice")
HEAVY += ("llama_cpp", "openai", "av", "livekit", "moshi", "pocketsphinx", "huggingface_hub")


def tracked(*prefixes: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *prefixes], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@cache
def modules(*prefixes: str) -> list[str]:
    return [name for name in tracked(*prefixes) if name.endswith(".py")]


@cache
def source(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def parsed(name: str) -> ast.Module:
    return ast.parse(source(name), name)


def breaches(rule: rules.Rule, names: list[str]) -> list[str]:
    suspects = [name for name in names if rules.may_break(rule, source(name))]
    return [f"{name}:{breach}" for name in suspects for breach in rule(parsed(name))]


def loaded_by(statement: str, names: tuple[str, ...]) -> list[str]:
    """Which of these libraries a fresh interpreter has loaded after one statement."""
    script = f"import sys\n{statement}\nprint(*[n for n in {names!r} if n in sys.modules])"
    return prints(script).split()


def test_the_facade_of_the_engine_loads_no_heavy_library_and_one_would_be_noticed():
    assert loaded_by("import engine.api", HEAVY) == []
    assert loaded_by("import xml.dom.minidom", ("xml.dom", "torch")) == ["xml.dom"]


def test_the_contracts_on_imports_are_in_force():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    kinds = ("containers", "source_modules", "protected_modules")
    contracts = project["tool"]["importlinter"]["contracts"]
    found = {(each["type"], *each[kind]) for each in contracts for kind in kinds if kind in each}
    wanted = {("layers", "engine"), ("forbidden", "app"), ("forbidden", "engine")}
    assert wanted | {("protected", "engine.training")} <= found


PURE = ("engine/text/", "engine/nn/", "engine/runtime/turn/rules.py")
PURE += ("engine/runtime/turn/facts.py", "engine/runtime/turn/floor.py")
PURE += ("engine/runtime/turn/orders.py", "engine/runtime/turn/waiting.py")
PURE += ("engine/runtime/turn/record.py",)
NO_CLOCK = (*PURE, "engine/codec/", "engine/tts/", "engine/asr/")
# The window must not wait for the engine's stop(), and Qt's thread may not be blocked: one thread
# of the bridge calls start, post and stop.
# (run.py: processes of a training, which is a program of its own that nobody imports)
# PortAudio can keep a thread for ever; one that is left behind in there must not hold up the exit.
MAY_LEAVE_A_THREAD = "engine/audio/devices/time_limit.py"
MAY_CREATE_THREADS = ("engine/runtime/", "app/bridge.py", "engine/training/run.py")
MAY_CREATE_THREADS += (MAY_LEAVE_A_THREAD,)


def test_what_a_rule_names_is_there():
    for entry in (*NO_CLOCK, *MAY_CREATE_THREADS):
        assert any(name.startswith(entry) for name in modules("app", "engine")), entry


def but(names: list[str], *exceptions: str) -> list[str]:
    return [name for name in names if not name.startswith(exceptions)]


PROGRAM, ALL = modules("app", "engine"), modules("app", "engine", "installer")
SESSIONS = [name for name in modules("engine/tts") if name.endswith("session.py")]
SESSIONS += ["engine/tts/espeak/model.py"]
RULES = (
    (rules.threads, but(PROGRAM, *MAY_CREATE_THREADS)),
    (rules.careless_threads, but(PROGRAM, MAY_LEAVE_A_THREAD)),
    (rules.clocks, modules(*NO_CLOCK)),
    (rules.files, modules(*PURE)),
    (rules.files, SESSIONS),
    (rules.unsafe, ALL),
    (rules.exposed_children, ALL),
    (rules.work_at_import, PROGRAM),
    (rules.wall_clocks, but(modules("tests"), "tests/benchmarks/")),
    (rules.long_functions, ALL),
)


@pytest.mark.parametrize(
    ("rule", "names"), RULES, ids=[f"{at} {rule.__name__}" for at, (rule, _) in enumerate(RULES)]
)
def test_the_house_keeps_the_rule(rule, names):
    assert names
    assert breaches(rule, names) == []


def test_each_promise_on_security_names_tests_that_are_there():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| **")]
    named = [re.findall(r"`([\w/.]+/[\w.]+|test_\w+\.py)`", row[3]) for row in rows]
    assert len(rows) > 8
    assert all(named)
    missing = {path for each in named for path in each if not (ROOT / "tests" / path).exists()}
    assert missing == set()


def test_no_file_is_longer_than_four_hundred_lines():
    lengths = {name: (ROOT / name).read_bytes().count(b"\n") for name in ALL}
    assert {n: lines for n, lines in lengths.items() if lines > rules.LONGEST_FILE} == {}


def test_no_folder_holds_more_than_seventeen_modules():
    counts = Counter(Path(name).parent for name in modules("app", "engine", "installer"))
    assert {folder: count for folder, count in counts.items() if count > 17} == {}


BAD: list[tuple[rules.Rule, str]] = [
    (rules.threads, "import threading\nthreading.Thread(target=f)"),
    (rules.threads, "from threading import Thread as T\nT(target=f)"),
    (rules.threads, "import threading\nclass Mine(threading.Thread): ..."),
    (rules.threads, "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor()"),
    (rules.threads, "loop.run_in_executor(None, f)"),
    (rules.careless_threads, "import threading\nthreading.Thread(target=f)"),
    (rules.careless_threads, "import threading\nthreading.Thread(target=f, name='x', daemon=True)"),
    (rules.clocks, "import time\ntime.sleep(1)"),
    (rules.clocks, "from time import monotonic as now\ndef f():\n    return now()"),
    (rules.clocks, "import datetime\ndatetime.datetime.now()"),
    (rules.files, "def f(path):\n    with open(path) as file: ..."),
    (rules.files, "path.write_text('x')"),
    (rules.files, "from subprocess import run\nrun(['ls'])"),
    (rules.unsafe, "AutoModel.from_pretrained('x', trust_remote_code=True)"),
    (rules.unsafe, "import torch\ntorch.load(file)"),
    (rules.unsafe, "import torch\ntorch.load(file, weights_only=False)"),
    (rules.unsafe, "compile(text, 'x', 'exec')"),
    (rules.unsafe, "import numpy as np\nnp.load('x', allow_pickle=True)"),
    (rules.exposed_children, "run([sys.executable, '-W', 'ignore', '-c', 'import json'])"),
    (rules.exposed_children, "PIP = (python, '-m', 'pip')"),
    (rules.exposed_children, "from multiprocessing import get_context"),
    (rules.work_at_import, "import os\nos.environ['X'] = '1'"),
    (rules.work_at_import, "import warnings\nif True:\n    warnings.filterwarnings('ignore')"),
    (rules.long_functions, "def f():\n" + "    x = 1\n" * 60),
    (rules.wall_clocks, "from datetime import datetime\nassert reply == str(datetime.now().hour)"),
    (rules.wall_clocks, "from datetime import datetime as d\nskills = Skills(now=d.now)"),
    (rules.wall_clocks, "import datetime\ndatetime.date.today()"),
    (rules.wall_clocks, "from time import localtime as at\nat()"),
]

GOOD: list[tuple[rules.Rule, str]] = [
    (rules.unsafe, "np.load('x', allow_pickle=False)"),
    (rules.unsafe, "import torch\nmodel.eval()\ntorch.load(file, weights_only=True)"),
    (rules.unsafe, "import re\nre.compile('x')"),
    (rules.threads, "import threading\nlock = threading.Lock()"),
    (rules.careless_threads, "import threading\nthreading.Thread(name='x', daemon=False)"),
    (rules.clocks, "def f(clock):\n    return clock.time()"),
    (rules.files, "model.open(voice)"),
    (rules.exposed_children, "run([sys.executable, '-P', '-m', 'pip'], ['git', '-c', 'a=b'])"),
    (rules.exposed_children, "run([python, *options, '-I', '-c', 'import sys'])"),
    (rules.work_at_import, "import os\ndef f():\n    os.environ['X'] = '1'"),
    (rules.long_functions, "def f():\n" + "    x = 1\n" * 59),
    (rules.wall_clocks, "from datetime import datetime\nnow = datetime(2026, 1, 5)"),
    (rules.wall_clocks, "import time\nclock.time()\ntime.thread_time()"),
]


@pytest.mark.parametrize(("rule", "source"), BAD)
def test_bad_code_breaks_its_rule(rule, source):
    assert rules.may_break(rule, source)
    assert list(rule(ast.parse(source)))


@pytest.mark.parametrize(("rule", "source"), GOOD)
def test_good_code_keeps_the_rule(rule, source):
    assert list(rule(ast.parse(source))) == []


def sample(hint: Any) -> Any:
    """A value of a message field's type. Fails for a type that a message may not have."""
    if get_origin(hint) is UnionType:
        return sample(get_args(hint)[0])
    if get_origin(hint) is tuple:
        return (sample(get_args(hint)[0]),)
    if dataclasses.is_dataclass(hint):
        return hint(**{name: sample(kind) for name, kind in get_type_hints(hint).items()})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    assert hint in PLAIN, f"{hint} cannot cross to another process"
    return {str: "ä", int: 3, float: 0.25, bool: True, NoneType: None, Path: Path("a/b")}[hint]


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_a_message_survives_the_way_to_another_process_and_cannot_be_changed(kind):
    message = sample(kind)
    assert pickle.loads(pickle.dumps(message)) == message
    assert kind.__dataclass_params__.frozen


def test_a_field_that_cannot_travel_would_be_noticed():
    for hint in (list[str], dict[str, int], object, Callable[[], None]):
        with pytest.raises(AssertionError, match="cannot cross"):
            sample(hint)


@pytest.mark.parametrize("page", ["README.md", *sorted(Path(ROOT).glob("resources/pages/*.md"))])
def test_what_a_page_points_at_is_there(page):
    file = ROOT / page
    text = file.read_text(encoding="utf-8")
    named = re.findall(r"`((?:app|engine|installer|resources|tests)/[\w./-]*)", text)
    linked = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert [name for name in linked if not (file.parent / name).exists()] == []
    assert linked or named
    proof = "`tests/end_to_end/test_stays_at_home.py`"  # that nothing is reported
    assert page != "README.md" or proof in text


def test_the_functions_on_the_way_of_a_typed_question_are_there():
    page = (ROOT / "resources/pages/developing.md").read_text(encoding="utf-8")
    table = page.split("| thread | functions |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(?:\w+\.)?(\w+)`", table))
    to_the_voice = re.findall(r"`(?:\w+\.)?([a-z_]\w*)`", table.split("| speaker |")[0])
    assert len(to_the_voice) <= 14
    code = "".join(source(name) for part in ("app", "engine") for name in modules(part))
    assert {"keyPressEvent", "write"} <= named <= set(re.findall(r"(?:def|class) (\w+)", code))


# Ways to say a thing in a roundabout way. A rare one in a natural sentence is fine.
ROUNDABOUT = re.compile(
    r"\b(?:of|for|with|from|by|than|to|and|or|but|about|behind|before|after|in|on|as|that|until)"
    r" (?:what|whom|whoever|whatever|who)\b"
    r"|(?:^|[.;:!?]\s+|\n\s*\n)(?:What|Whatever|Who|Whoever|Whose)\b(?![^.]*\?)"
    r"|\b(?:told|tells?|telling|nobody|somebody|anybody|all else|so many|so much)\b"
    r"|\bthat there (?:is|are)\b|\b(?:is|are|was|were|be) no (?!longer|more|one\b)\w+"
)


def roundabout(texts: list[str]) -> float:
    """Roundabout phrases in 1,000 words."""
    words = sum(len(text.split()) for text in texts)
    return 1000 * sum(len(ROUNDABOUT.findall(text)) for text in texts) / words


@pytest.mark.parametrize("part", ["app", "engine", "installer"])
def test_docstrings_and_comments_are_plain_english(part):
    texts = [text for name in modules(part) for text in rules.prose(source(name))]
    assert roundabout(["What is read is told to whoever listens."]) > 300
    assert roundabout(texts) < 2.0


# In pieces, so that this file keeps the rule too.
FORBIDDEN_TEXT = {
    "an unfinished thought": re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"),
    "a path of one machine": re.compile(
        r"(?<![\w.])/(root|wo" + r"rk|opt/(wheels|pypi))/|/ho" + r"me/(?!user\b|you\b|me\b)\w+/"
    ),
    "a host of a registry": re.compile(
        r"pypi\.o"
        + r"rg|pythonhos"
        + r"ted|registry\.npm|deb\.deb"
        + r"ian|download\.pyto"
        + r"rch"
    ),
}
# A licence is quoted as it is; fonts, pictures and sounds are not text.
NOT_OURS = re.compile(r"(^|/)(LICENSE|OFL\.txt)$|\.(otf|ttf|png|wav|flac|onnx|safetensors)$")


def written() -> list[str]:
    return [name for name in tracked() if not NOT_OURS.search(name)]


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("an unfinished thought", "# TO" + "DO: later"),
        ("a path of one machine", "cache = '/ro" + "ot/.cache' or '/ho" + "me/alice/x'"),
        ("a host of a registry", "https://pypi" + ".org/simple"),
    ],
)
def test_no_file_holds_what_would_be_noticed(what, line):
    assert all(FORBIDDEN_TEXT[what].search(each) for each in line.split(" or "))
    texts = {name: (ROOT / name).read_text("utf-8", errors="replace") for name in written()}
    found = {name: FORBIDDEN_TEXT[what].findall(text) for name, text in texts.items()}
    assert {name: hits for name, hits in found.items() if hits} == {}
