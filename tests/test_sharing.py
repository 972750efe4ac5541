"""Who runs what when two processes share the tests."""

from argparse import Namespace
from pathlib import Path

from tests.sharing import pytest_xdist_make_scheduler

CARD = "import pytest\npytestmark = pytest.mark.device\n"


class Process:
    """Of xdist, as far as a scheduler knows one; notes which tests it is sent."""

    shutting_down = False
    gateway = Namespace(id="a process")

    def __init__(self, tests: list[str]) -> None:
        self._tests = tests
        self.files: list[str] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.files += [self._tests[number].partition("::")[0] for number in numbers]

    def shutdown(self) -> None:
        self.shutting_down = True


def test_a_file_stays_in_one_process_and_so_do_those_that_share_what_is_made(
    tmp_path: Path,
) -> None:
    corpus, voice = "tests/engine/training/corpus.py", "tests/engine/training/voice/voice.py"
    texts = {"b.py": CARD, corpus: "", "c.py": "", "d.py": CARD, voice: ""}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    tests = [f"{name}::test[{number}]" for name in texts for number in range(4)]
    config = Namespace(option=Namespace(), rootpath=tmp_path, getvalue=lambda name: ["popen"] * 2)
    scheduler = pytest_xdist_make_scheduler(config, None)
    processes = Process(tests), Process(tests)
    for process in processes:
        scheduler.add_node(process)
        scheduler.add_node_collection(process, tests)
    scheduler.schedule()
    assert processes[0].files == ["b.py"] * 4 + ["d.py"] * 4
    assert processes[1].files == [corpus] * 4 + [voice] * 4
    for name in (corpus, voice):
        for number in range(4):
            scheduler.mark_test_complete(processes[1], tests.index(f"{name}::test[{number}]"))
    assert processes[1].files[8:] == ["c.py"] * 4
