"""All models: which are in use, which fit the machine, and files of the person's own."""

import errno
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from engine.asr import pick as ears
from engine.assets.catalogue import catalogue, find
from engine.errors import InvalidInput, ModelError, SettingsError
from engine.messages.models import Origin, Presence, Recommendation
from engine.models import listing, storage
from engine.models.choice import changes, removal_text, remove
from engine.models.listing import OWN_MB, SYSTEM_SHARE, Machine, entries, entry
from engine.models.recommended import recommendation
from engine.models.servers import ServedModel
from engine.models.storage import FILE, MOST, AddedModel, add, added, forget
from engine.settings import Settings, SpeechSettings, change
from engine.tts import pick as speech
from engine.tts.kokoro import voices as kokoro
from engine.tts.voxtream.files import pick as voices
from tests.engine.assets.fetched import fetched

OLLAMA = ServedModel("ollama", "llama3.2:3b", "http://127.0.0.1:11434/v1", 2_000_000_000)


def gguf(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF" + bytes(2_000_000))
    return path


def whisper(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes(bytes(1_000_000))
    return folder


def fetch(*names: str) -> None:
    for name in names:
        storage.fetch_all(name, lambda done, total: None, lambda: False)


def using(name: str, settings: Settings | None = None) -> Settings:
    """The settings after a model was chosen."""
    after = settings or Settings()
    for key, value in changes(entry(name, after, (OLLAMA,))):
        after = change(after, key, value)
    return after


def in_use(settings: Settings) -> set[str]:
    return {each.name for each in entries(settings, (OLLAMA,)) if each.in_use}


def test_everything_is_there_but_what_is_superseded_which_only_those_see_who_have_it(hub):
    found = {each.name: each for each in entries(Settings())}
    current = {asset.name for asset in catalogue().values() if not asset.superseded}
    assert {name for name, each in found.items() if each.origin is Origin.LISTED} == current
    assert all(each.licence and each.attribution for each in found.values())
    assert {"sphinx", "skills", "starter", "espeak"} <= found.keys()
    fetch("qwen2-5-1-5b")
    assert entry("qwen2-5-1-5b", Settings()).state is Presence.COMPLETE


def test_a_fetched_model_is_used_without_a_path_and_no_part_or_missing_one(hub, data):
    with pytest.raises(InvalidInput, match="not on this machine") as caught:
        changes(entry("qwen3-8b", Settings()))
    assert caught.value.hint.endswith("models get qwen3-8b")
    with pytest.raises(InvalidInput):
        changes(entry("mimi", Settings()))
    fetch("qwen3-4b")
    settings = using("qwen3-4b")
    file = find("qwen3-4b").files[0].path
    assert settings.language_model.engine == "llama"
    assert settings.language_model.model == str(data / "models" / "qwen3-4b" / file)


USED = {
    "sphinx": {"sphinx", "skills", "starter"},
    "whisper-base": {"whisper-base", "skills", "starter"},
    "whisper-small": {"whisper-small", "skills", "starter"},
    "qwen3-1-7b": {"whisper-base", "qwen3-1-7b", "starter"},
    "ollama/llama3.2:3b": {"whisper-base", "ollama/llama3.2:3b", "starter"},
    "voxtream2": {"whisper-base", "skills", "voxtream2", "mimi", "redimnet"},
    "espeak": {"whisper-base", "skills", "espeak"},
}


def test_what_is_chosen_is_in_use_and_nothing_else_of_its_kind_and_stays(hub):
    fetch("whisper-base", "whisper-small", "qwen3-1-7b", "voxtream2")
    assert {name: in_use(using(name)) for name in USED} == USED
    settings = using("voxtream2")
    for name in ("whisper-base", "mimi", "sphinx", "ollama/llama3.2:3b"):
        with pytest.raises(InvalidInput) as caught:
            remove(entry(name, settings, (OLLAMA,)))
        assert caught.value.hint
        assert entry(name, settings, (OLLAMA,)).state is Presence.COMPLETE


def test_base_is_used_as_auto_unless_it_was_measured_too_slow(hub, data):
    fetched(data, "whisper-base")
    assert using("whisper-base").recogniser.engine == "auto"
    ears.keep(ears.judge(5000.0), data)
    assert entry("whisper-base", Settings()).measured.startswith("Whisper base has the text")
    settings = using("whisper-base")
    assert (settings.recogniser.engine, in_use(settings) >= {"whisper-base"}) == ("whisper", True)


def test_each_whisper_shows_its_own_measurement(hub, data):
    ears.keep(ears.judge(5000.0), data)
    measured = [entry(name, Settings()).measured for name in ("whisper-base", "whisper-tiny")]
    assert measured == [
        "Whisper base has the text 5.0 s after the end of a sentence, more than 2.0 s.",
        "",
    ]
    ears.keep(ears.judge(5000.0, 1000.0), data)
    assert entry("whisper-tiny", Settings()).measured == (
        "Whisper tiny has the text 1.0 s after the end of a sentence."
    )


@pytest.mark.parametrize(("rtf", "chosen"), [(0.3, "auto"), (0.9, "kokoro")])
def test_kokoro_is_used_as_auto_unless_it_was_measured_too_slow(rtf, chosen, hub, data):
    for file in (kokoro.model_file(), kokoro.voices_folder() / "af_heart.bin"):
        file.parent.mkdir(parents=True)
        file.touch()
    speech.keep(speech.judge(rtf), data)
    here = replace(entry("voxtream2", Settings()), name="kokoro", state=Presence.COMPLETE)
    assert changes(here) == (("speech.engine", chosen),)
    assert entry("starter", Settings()).in_use is (chosen == "kokoro")


def test_files_of_ones_own_are_rows_that_can_be_used_until_they_are_gone(hub, data, tmp_path):
    model, folder = gguf(tmp_path / "own.gguf"), whisper(tmp_path / "ears")
    add(model, data)
    add(folder, data)
    settings = using(str(folder), using(str(model)))
    assert in_use(settings) >= {str(model), str(folder)}
    assert entry(str(model), settings).megabytes == 2
    row = entry(str(model), Settings())
    assert removal_text(row, remove(row)).endswith("the file itself was left alone.")
    assert model.exists()
    add(model, data)
    model.unlink()
    gone = entry(str(model), Settings())
    assert (gone.state, gone.obstacle) == (Presence.MISSING, "Its file or folder no longer exists.")
    with pytest.raises(InvalidInput):
        changes(gone)


def test_without_llama_cpp_it_is_said_what_to_do(hub, monkeypatch):
    def missing() -> None:
        raise ModelError("llama-cpp-python is not installed.")

    monkeypatch.setattr(listing, "check_library", missing)
    minds = [each for each in entries(Settings(), (OLLAMA,)) if each.kind == "language model"]
    assert {each.name for each in minds if not each.obstacle} == {"skills", "ollama/llama3.2:3b"}
    assert all("make llm" in each.obstacle for each in minds if each.obstacle)


def test_kokoro_is_a_voice_as_large_as_all_that_it_brings_along(hub):
    fetch("kokoro")
    kokoro, voices = entry("kokoro", Settings()), entry("kokoro-voices", Settings())
    assert (kokoro.kind, kokoro.megabytes, kokoro.licence) == ("voice", 111, "Apache-2.0")
    assert voices.obstacle == "A part of Kokoro, which is fetched with it."
    assert changes(kokoro) == (("speech.engine", "auto"),)
    settings = replace(Settings(), speech=SpeechSettings(engine="kokoro"))
    assert in_use(settings) >= {"kokoro", "kokoro-voices"}
    with pytest.raises(InvalidInput, match="in use"):
        remove(entry("kokoro-voices", settings))


def test_half_a_model_says_how_much_is_there_and_what_is_not_in_use_is_deleted(hub, data):
    part = data / "models" / "qwen3-4b" / "x.partial"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(3_000_000))
    half = entry("qwen3-4b", Settings())
    assert (half.state, half.megabytes_here, half.megabytes) == (Presence.PARTIAL, 3, 2497)
    assert removal_text(half, remove(half)) == "3.0 MB were freed."
    assert not (data / "models" / "qwen3-4b").exists()
    assert removal_text(half, remove(half)) == "qwen3-4b has no files here."


def test_two_licences_and_files_that_are_not_pinned_are_told_and_memory_counts_with_the_rest(hub):
    new, old = (entry(name, Settings()) for name in ("voxtream2-1", "voxtream2"))
    for each in (new, old):
        assert each.licence == "CC-BY-4.0 / CC BY-NC 4.0"
        assert "CC-BY-4.0 on its card, CC BY-NC 4.0 in their README" in each.notice
    assert new.notice.endswith("the first download is pinned.")
    assert "pinned" not in old.notice
    assert entry("mimi", Settings()).notice == ""
    machine, most = Machine(8_000, 4), int(8_000 * (1 - SYSTEM_SHARE)) - OWN_MB
    assert machine.has_memory_for(most)
    assert not machine.has_memory_for(most + 1)


def recommended(memory_mb: int, cores: int) -> Recommendation:
    machine = Machine(memory_mb, cores)
    found = [
        replace(each, fits=machine.has_memory_for(each.memory_mb)) for each in entries(Settings())
    ]
    return recommendation(found, machine)


MINDS = {
    "qwen3-1-7b": ((4_000, 2), (16_000, 2), (64_000, 1)),
    "qwen3-4b": ((8_000, 4), (8_000, 16)),
    "qwen3-8b": ((16_000, 8), (64_000, 32)),
}


def test_three_sizes_of_machine_have_a_language_model_each_and_a_tiny_one_what_is_built_in(hub):
    for mind, machines in MINDS.items():
        for machine in machines:
            assert recommended(*machine).names == ("whisper-base", mind, "kokoro")
    tiny = recommended(1_000, 1)
    assert tiny.names == ()
    assert tiny.text.count("stays") == 3


def test_sizes_are_said_and_add_up_but_for_what_is_here(hub):
    fitting = recommended(8_000, 4)
    assert "Whisper base listens (148 MB)" in fitting.text
    assert "Qwen 3 4B Instruct 2507 thinks (2.5 GB)" in fitting.text
    assert "Kokoro speaks (111 MB)" in fitting.text
    assert fitting.megabytes == 148 + 2497 + 111
    storage.fetch_all("whisper-base", lambda done, total: None, lambda: False)
    fitting = recommended(8_000, 4)
    assert fitting.megabytes == 2497 + 111
    assert "already here" in fitting.text
    assert not fitting.in_use


def test_what_was_measured_too_slow_is_not_recommended_and_a_quick_full_voice_is(hub, data):
    ears.keep(ears.judge(3000.0), data)
    assert recommended(8_000, 4).names == ("qwen3-4b", "kokoro")
    voices.keep(voices.judge("cpu", {"int8": 2.5}), data)
    assert recommended(64_000, 32).names[-1] == "kokoro"
    voices.keep(voices.judge("cpu", {"int8": 0.5}), data)
    fitting = recommended(64_000, 32)
    assert fitting.names[-1] == "voxtream2-1"
    assert "VoXtream2.1: Its authors name two licences" in fitting.warning
    assert recommended(4_000, 2).names[-1] == "kokoro"  # too little memory for the other


def test_a_gguf_file_is_remembered_once_and_stays_also_when_forgotten(data, tmp_path):
    file = gguf(tmp_path / "mine.gguf")
    before = file.read_bytes()
    for _ in range(2):
        assert add(file, data) == (AddedModel(str(file), "language model"),)
        assert added(data) == (AddedModel(str(file), "language model"),)
    assert stat.S_IMODE((data / FILE).stat().st_mode) == 0o600
    forget(str(file), data)
    assert added(data) == ()
    assert file.read_bytes() == before


def test_a_whisper_folder_is_a_recogniser_and_of_others_every_gguf_file_is_added(data, tmp_path):
    folder = whisper(tmp_path / "my whisper")
    assert add(folder, data) == (AddedModel(str(folder), "recogniser"),)
    files = [gguf(tmp_path / "all" / name) for name in ("a.gguf", "b.gguf")]
    assert [each.path for each in add(tmp_path / "all", data)] == [str(file) for file in files]


def test_what_is_no_model_is_refused_with_what_to_do(data, tmp_path):
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty folder").mkdir()
    (whisper(tmp_path / "half a whisper") / "model.bin").unlink()
    for what in ("missing", "text", "empty folder", "half a whisper"):
        with pytest.raises(InvalidInput) as caught:
            add(tmp_path / what, data)
        assert "GGUF" in caught.value.hint
        assert added(data) == ()


DAMAGED = ("", "{", "[1]", '{"a": 1}', '[{"path": "x"}]', "[" * 90_000)


@pytest.mark.parametrize("change", [add, lambda path, data: forget(str(path), data)])
def test_a_damaged_list_counts_as_empty_and_is_kept_aside_before_a_change(data, tmp_path, change):
    data.mkdir()
    mine = gguf(tmp_path / "mine.gguf")
    for number, text in enumerate(DAMAGED, 1):
        (data / FILE).write_text(text)
        assert added(data) == ()
        with pytest.raises(SettingsError, match="damaged") as caught:
            change(mine, data)
        assert f"added-models.damaged-{number}.json" in caught.value.hint
    change(mine, data)
    aside = [file.read_text() for file in data.iterdir() if file.name != FILE]
    assert sorted(aside) == sorted(DAMAGED)


def test_a_list_that_cannot_be_read_now_is_not_overwritten(data, tmp_path, monkeypatch):
    add(gguf(tmp_path / "first.gguf"), data)
    before, real = (data / FILE).read_bytes(), Path.open

    def fails(path, *args, **named):
        if path.name == FILE:
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *args, **named)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "open", fails)
        with pytest.raises(SettingsError, match="cannot be saved"):
            add(gguf(tmp_path / "second.gguf"), data)
    assert (data / FILE).read_bytes() == before


def test_the_list_is_bounded_and_a_folder_that_is_none_is_told(data, tmp_path):
    for number in range(MOST):
        add(gguf(tmp_path / f"{number}.gguf"), data)
    with pytest.raises(InvalidInput, match=str(MOST)):
        add(gguf(tmp_path / "more.gguf"), data)
    with pytest.raises(SettingsError, match="cannot be saved"):
        add(gguf(tmp_path / "more.gguf"), data / FILE)  # a file where the folder should be
