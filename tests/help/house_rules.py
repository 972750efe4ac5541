"""Checks of source code, one function for each rule of the house.

Invariant: a rule gets a parsed module and returns one line for each breach. It depends on nothing
else, so each rule can be shown to fail on a few lines of bad code.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import cache

LONGEST_FUNCTION = 60
LONGEST_FILE = 400

_THREADS = {
    "threading.Thread",
    "threading.Timer",
    "concurrent.futures.ThreadPoolExecutor",
    "concurrent.futures.ProcessPoolExecutor",
    "multiprocessing.Process",
    "multiprocessing.Pool",
    "_thread.start_new_thread",
    "asyncio.to_thread",
    "PySide6.QtCore.QThread",
    "PySide6.QtCore.QThreadPool",
}
_CLOCKS = {f"time.{name}" for name in ("sleep", "time", "monotonic", "perf_counter", "time_ns")}
_CLOCKS |= {"time.monotonic_ns", "time.perf_counter_ns", "asyncio.sleep"}
_CLOCKS |= {"datetime.datetime.now", "datetime.datetime.today", "datetime.date.today"}
_WALL_CLOCKS = {f"time.{name}" for name in ("time", "time_ns", "localtime", "gmtime", "ctime")}
_WALL_CLOCKS |= {f"datetime.datetime.{name}" for name in ("now", "today", "utcnow")}
_WALL_CLOCKS |= {"datetime.date.today", "time.strftime", "time.asctime"}
_FILES = {"open", "io.open", "os.open", "socket.socket", "socket.create_connection"}
_FILES |= {f"subprocess.{name}" for name in ("run", "Popen", "call", "check_output", "check_call")}
_FILES |= {"urllib.request.urlopen", "numpy.load", "numpy.save", "torch.load", "torch.save"}
_FILE_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir"}
# What opens the door to code somebody else wrote, beside the calls ruff knows (pyproject.toml).
_UNSAFE = {"compile", "__import__", "joblib.load"}
_UNSAFE_KEYWORDS = {"trust_remote_code": True, "allow_pickle": True, "trust_repo": True}
_UNSAFE_KEYWORDS |= {"weights_only": False}


def threads(tree: ast.Module) -> Iterator[str]:
    """Find code that creates a thread or a process (I4)."""
    yield from _calls(tree, _THREADS)
    for node in _walked(tree):
        if isinstance(node, ast.ClassDef):
            bases = [_full_name(base, _imports(tree)) for base in node.bases]
            yield from (f"{node.lineno}: class of {base}" for base in bases if base in _THREADS)
        if isinstance(node, ast.Attribute) and node.attr == "run_in_executor":
            yield f"{node.lineno}: run_in_executor"


def careless_threads(tree: ast.Module) -> Iterator[str]:
    """Find threads without a name, and threads that the interpreter would kill at exit (I4)."""
    for call in _nodes(tree, ast.Call):
        if _full_name(call.func, _imports(tree)) == "threading.Thread":
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            daemon = given.get("daemon")
            if "name" not in given:
                yield f"{call.lineno}: a thread without a name"
            if daemon is not None and not _is_constant(daemon, value=False):
                yield f"{call.lineno}: a daemon thread"


def clocks(tree: ast.Module) -> Iterator[str]:
    """Find calls that sleep or read a clock (I5)."""
    yield from _calls(tree, _CLOCKS)


def files(tree: ast.Module) -> Iterator[str]:
    """Find access to files, sockets and other programs (I5)."""
    yield from _calls(tree, _FILES)
    for call in _nodes(tree, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _FILE_METHODS:
            yield f"{call.lineno}: {call.func.attr}"


def unsafe(tree: ast.Module) -> Iterator[str]:
    """Find calls that execute code contained in data."""
    yield from _calls(tree, _UNSAFE)
    for call in _nodes(tree, ast.Call):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        for name, bad in _UNSAFE_KEYWORDS.items():
            if name in given and _is_constant(given[name], value=bad):
                yield f"{call.lineno}: {name}={bad}"
        if _full_name(call.func, _imports(tree)) == "torch.load" and "weights_only" not in given:
            yield f"{call.lineno}: torch.load without weights_only"


def exposed_children(tree: ast.Module) -> Iterator[str]:
    """Find commands for a Python that would import modules from the current folder."""
    for node in _walked(tree):
        if isinstance(node, ast.List | ast.Tuple):
            words = [each.value if isinstance(each, ast.Constant) else None for each in node.elts]
            runs = next((words.index(each) for each in ("-c", "-m") if each in words), 0)
            if runs and words[0] is None and not {"-P", "-I"} & set(words[:runs]):
                yield f"{node.lineno}: a child without -P or -I"
    if {"multiprocessing.get_context", "multiprocessing.Process"} & set(_imports(tree).values()):
        constants = (node.value for node in _walked(tree) if isinstance(node, ast.Constant))
        if "PYTHONSAFEPATH" not in constants:
            yield "1: processes of multiprocessing without PYTHONSAFEPATH"


def work_at_import(tree: ast.Module) -> Iterator[str]:
    """Find statements of a module that change the process when it is imported."""
    changing = {"warnings.filterwarnings", "warnings.simplefilter", "logging.basicConfig"}
    changing |= {"torch.set_num_threads", "torch.manual_seed", "os.environ.setdefault"}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield from _calls(ast.Module([statement], []), changing, _imports(tree))
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Subscript):
                name = _full_name(target.value, _imports(tree))
                if name == "os.environ":
                    yield f"{statement.lineno}: os.environ[...] ="


def wall_clocks(tree: ast.Module) -> Iterator[str]:
    """Find uses of the time of day or the date: a test that depends on them fails at some hour."""
    last = {name.rpartition(".")[2] for name in _WALL_CLOCKS}  # a quick look first: there are many
    for node in _walked(tree):
        if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr in last):
            name = _full_name(node, _imports(tree))
            if name in _WALL_CLOCKS:
                yield f"{node.lineno}: {name}"


def long_functions(tree: ast.Module) -> Iterator[str]:
    for node in _walked(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{node.lineno}: {node.name} has {lines} lines"


Rule = Callable[[ast.Module], Iterator[str]]
_TIME = r"(?m)^\s*(?:import|from)\b.*\b(?:time|datetime|asyncio)\b"
# Text without which a file cannot break a rule: to parse all of them takes many seconds.
_SIGNS: dict[Rule, str] = {
    threads: r"hread|xecutor|Pool|Process",
    careless_threads: r"Thread",
    clocks: _TIME,
    wall_clocks: _TIME,
    exposed_children: r"multiprocessing|[\"']-[cm][\"']",
    unsafe: r"compile|__import__|joblib|torch|trust_re|allow_pickle|weights_only",
    work_at_import: r"environ|filter|basicConfig|set_num_threads|manual_seed",
}


def may_break(rule: Rule, source: str) -> bool:
    """Return False if the source cannot break this rule, so that it need not be parsed."""
    return re.search(_SIGNS.get(rule, ""), source) is not None


def _calls(
    tree: ast.Module, forbidden: set[str], imports: dict[str, str] | None = None
) -> Iterator[str]:
    names = _imports(tree) if imports is None else imports
    for call in _nodes(tree, ast.Call):
        name = _full_name(call.func, names)
        if name in forbidden:
            yield f"{call.lineno}: {name}"


def _nodes(tree: ast.AST, kind: type[ast.Call]) -> Iterator[ast.Call]:
    yield from (node for node in _walked(tree) if isinstance(node, kind))


@cache
def _walked(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a module; cached, because several rules read the same module."""
    return tuple(ast.walk(tree))


@cache
def _imports(tree: ast.Module) -> dict[str, str]:
    """Map local names to full names: `from time import sleep as nap` gives nap: time.sleep."""
    names: dict[str, str] = {}
    for node in _walked(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                first = item.name.partition(".")[0]
                names[item.asname or first] = item.name if item.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                names[item.asname or item.name] = f"{node.module}.{item.name}"
    return names


def _full_name(node: ast.expr, imports: dict[str, str]) -> str:
    """Return 'time.sleep' for every way to write it; empty if the node is not a dotted name."""
    if isinstance(node, ast.Name):
        return imports.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = _full_name(node.value, imports)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _is_constant(node: ast.expr, *, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def prose(source: str) -> Iterator[str]:
    """Yield the docstrings and comments of a module."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("#: ")
