"""Voices are renamed, removed, brought back, exported and imported, and none is ever lost."""

import errno
import logging
import os
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.audio.clips.clip import Clip
from engine.errors import InvalidInput, ModelError
from engine.languages import SPOKEN
from engine.messages.voices import Mix
from engine.settings import SpeechSettings
from engine.translatable import Translatable
from engine.tts import voice_notes, voices
from engine.tts.base import Voice
from engine.tts.kokoro.learnt import learnt_path
from engine.tts.kokoro.voices import LEARNT, accent_of, style_of
from engine.tts.registry import VoiceCatalogue, of_settings
from engine.tts.voice_lookup import mixed
from engine.tts.voice_store import KEPT_DAYS, VoiceStore, preview_sentence
from tests.help.fakes.kokoro import number_of, write_kokoro

ROSTER = VoiceCatalogue("neural", ("Anton", "Clara"), can_clone=True)
DEAF = VoiceCatalogue("espeak", ("Alan",), can_clone=False)
GRANDMA = Voice("Grandma", "neural", {"codes": np.arange(6, dtype=np.int16)}, {"making": "3"})
DAY_S = 86_400


def speech(seconds: float = 2.0) -> Clip:
    """Loud and quiet by turns, as speech is."""
    time = np.arange(int(seconds * 16_000)) / 16_000
    loud = np.where((time * 4).astype(int) % 2, 0.3, 0.001)
    return Clip((np.sin(1_000 * time) * loud).astype(np.float32), 16_000)


@pytest.fixture
def store(tmp_path) -> VoiceStore:
    voices.save(GRANDMA, tmp_path, speech())
    return VoiceStore(ROSTER, tmp_path)


def names(store: VoiceStore) -> list[str]:
    return [entry.name for entry in store.entries()]


def test_a_row_says_what_a_voice_is_made_of(store):
    store.set_pace("grandma", 3.5)
    store.spoke("Grandma", "2026-11-22")
    anton, _, entry = store.entries()
    assert (anton.own, anton.usable, anton.clip_s) == (True, True, None)
    assert (entry.clip_s, entry.pace, entry.used) == (2.0, 3.5, "2026-11-22")
    assert (entry.made_for, entry.usable, entry.again) == (("neural",), True, True)
    assert 40 < (entry.snr_db or 0) < 60


def test_another_model_s_voice_says_why_it_cannot_speak(store, tmp_path):
    voices.save(replace(GRANDMA, name="Bare", model="other"), tmp_path)
    by_name = {entry.name: entry for entry in store.entries()}
    assert not by_name["Bare"].usable
    assert "no recording was kept" in by_name["Bare"].why_not
    (_, _, deaf) = VoiceStore(DEAF, tmp_path).entries()
    assert not deaf.usable
    assert "cannot learn voices" in deaf.why_not


def test_a_voice_of_two_models_is_renamed_whole(store, tmp_path):
    voices.save(replace(GRANDMA, model="older"), tmp_path, speech())
    store.set_pace("Grandma", 2.0)
    assert store.rename("grandma", " Oma ") == "Oma"
    assert names(store) == ["Anton", "Clara", "Oma"]
    assert {saved.model for saved in voices.saved_voices(tmp_path)} == {"neural", "older"}
    assert store.pace("Oma") == 2.0
    assert store.rename("Oma", "OMA") == "OMA"  # its own name in another case is free
    assert names(store)[-1] == "OMA"


@pytest.mark.parametrize("new", ["anton", "", "  ", "a\nb", "\x00", "x" * 81])
def test_a_name_that_is_taken_or_none_is_refused(store, new):
    with pytest.raises(InvalidInput):
        store.rename("Grandma", new)
    assert names(store) == [*ROSTER.own, "Grandma"]


def test_a_full_disk_leaves_the_voice_as_it_was(store, tmp_path, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.setattr(os, "fsync", full)
    for change in (
        lambda: store.rename("Grandma", "Oma"),
        lambda: store.set_pace("Grandma", 3.0),
        lambda: store.export("Grandma", tmp_path / "out"),
        lambda: voices.save(replace(GRANDMA, metadata={"making": "4"}), tmp_path),
    ):
        with pytest.raises(ModelError, match="No space left"):
            change()
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert store.pace("Grandma") is None


def test_what_is_removed_comes_back_as_it_was(store, tmp_path):
    before = voices.load(path := voices.saved_voices(tmp_path)[0].path)
    assert store.remove("grandma") == "Grandma"
    after_a_kill = VoiceStore(ROSTER, tmp_path)
    assert names(store) == [*ROSTER.own]
    assert store.removed() == after_a_kill.removed() == ("Grandma",)
    voices.save(GRANDMA, tmp_path)
    with pytest.raises(InvalidInput, match="already"):  # the name was taken meanwhile
        store.restore("Grandma")
    assert store.removed() == ("Grandma",)
    path.unlink()
    assert store.restore("Grandma") == "Grandma"
    assert (names(store)[-1], store.removed()) == ("Grandma", ())
    assert voices.load(path).metadata == before.metadata


def test_what_is_removed_is_deleted_some_days_later_or_at_once(tmp_path):
    now = [1_000_000_000.0]
    store = VoiceStore(ROSTER, tmp_path, now=lambda: now[0])
    voices.save(GRANDMA, tmp_path)
    store.remove("Grandma")
    now[0] += (KEPT_DAYS - 0.1) * DAY_S
    assert store.removed() == ("Grandma",)
    now[0] += 0.2 * DAY_S
    assert store.removed() == ()
    voices.save(GRANDMA, tmp_path)
    store.set_pace("Grandma", 5.0)
    store.remove("Grandma")
    store.discard("Grandma")
    assert (store.removed(), store.pace("Grandma")) == ((), None)
    with pytest.raises(InvalidInput, match="removed lately"):
        store.discard("Grandma")


def test_a_removal_that_is_killed_or_has_no_right_to_set_times_loses_nothing(tmp_path, monkeypatch):
    """An old voice file counts from its removal, whatever its own time is."""
    path = voices.save(GRANDMA, tmp_path).path
    os.utime(path, (0, 0))
    monkeypatch.setattr(os, "utime", refuse)
    store = VoiceStore(ROSTER, tmp_path)
    store.remove("Grandma")
    assert VoiceStore(ROSTER, tmp_path).removed() == ("Grandma",)
    assert store.restore("Grandma") == "Grandma"
    assert voices.saved_voices(tmp_path)[0].path == path


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_removing_a_second_voice_of_a_name_keeps_the_first(tmp_path):
    now = [1_000_000_000.0]
    store = VoiceStore(ROSTER, tmp_path, now=lambda: now[0])
    for making in ("3", "4"):
        voices.save(replace(GRANDMA, metadata={"making": making}), tmp_path)
        store.remove("Grandma")
        now[0] += 60.0
    assert len(voices.saved_voices(tmp_path / "removed")) == 2
    store.restore("Grandma")
    assert voices.load(voices.saved_voices(tmp_path)[0].path).metadata["making"] == "4"
    assert store.removed() == ("Grandma",)


def test_a_name_is_the_same_however_its_accent_is_composed(tmp_path):
    composed, apart = "Jos\u00e9", "Jose\u0301"
    store = VoiceStore(ROSTER, tmp_path)
    voices.save(replace(GRANDMA, name=composed), tmp_path)
    with pytest.raises(InvalidInput, match="already"):
        store.check_free(apart)
    store.set_pace(apart, 5.0)
    assert store.pace(composed) == 5.0
    voices.save(replace(GRANDMA, name=apart, model="another"), tmp_path)
    assert len(names(store)) == len(ROSTER.own) + 1


def test_a_voice_travels_with_its_recording_and_pace(store, tmp_path):
    store.set_pace("Grandma", 4.5)
    path = store.export("grandma", tmp_path / "out" / "gift")
    assert path.name == "gift" + voices.SUFFIX
    other = VoiceStore(ROSTER, tmp_path / "elsewhere")
    assert other.read_in(path, "") == "Grandma"
    (entry,) = [entry for entry in other.entries() if not entry.own]
    assert (entry.clip_s, entry.pace, entry.usable) == (2.0, 4.5, True)
    with pytest.raises(InvalidInput, match="already"):
        other.read_in(path, "")
    assert other.read_in(path, "Nana") == "Nana"


@pytest.mark.parametrize("name", ["../../escape", "con", "a/b\\c:d*?", "日本"])
def test_a_name_in_a_file_decides_no_path(tmp_path, name):
    path = voices.save_as(replace(GRANDMA, name=name), tmp_path / "in.safetensors").path
    folder = tmp_path / "store"
    assert VoiceStore(ROSTER, folder).read_in(path, "") == name
    (file,) = (each for each in folder.rglob("*") if each.is_file())
    assert file.parent == folder
    assert file.name.isascii()


def test_what_is_no_exported_voice_is_refused_and_leaves_nothing(tmp_path):
    store, folder = VoiceStore(ROSTER, tmp_path / "store"), tmp_path / "hostile"
    folder.mkdir()
    told = {"rubato.name": "X", "rubato.model": "neural"}
    whole = voices.save_as(GRANDMA, folder / "cut.safetensors", speech()).path
    whole.write_bytes(whole.read_bytes()[:-100])
    (folder / "huge header").write_bytes(b"\xff\xff\xff\x7f\0\0\0\0" + b"x" * 100)
    (folder / "pickle").write_bytes(b"\x80\x04\x95\x10" + b"\0" * 40)
    (folder / "empty").write_bytes(b"")
    save_file({"x": np.zeros(2)}, folder / "nobody")
    save_file({f"t{n}": np.zeros(1) for n in range(300)}, folder / "many", told)
    clip = {"rubato.clip": np.zeros((4, 4), np.float32)}
    save_file(clip, folder / "no recording", {**told, "rubato.clip_rate": "24000"})
    save_file(clip, folder / "control", {**told, "rubato.name": "X\x1b[2J"})
    os.mkfifo(folder / "pipe")
    for path in (*sorted(folder.iterdir()), folder / "gone", folder):
        with pytest.raises(InvalidInput):
            store.read_in(path, "")
    assert store.entries() == VoiceStore(ROSTER, tmp_path / "empty").entries()


@pytest.mark.parametrize("pace", [0.5, 13.5, float("nan")])
def test_a_pace_beyond_the_slider_is_refused(store, pace):
    with pytest.raises(InvalidInput, match="1 to 13"):
        store.set_pace("Anton", pace)


@pytest.mark.parametrize("content", ["{", "[]", '{"voices": [1]}', '{"voices": {"a": 3}}'])
def test_damaged_notes_are_set_aside(store, tmp_path, content):
    (tmp_path / voice_notes.FILE).write_text(content)
    assert store.pace("Anton") is None
    store.set_pace("Anton", 3.0)
    assert store.pace("anton") == 3.0
    assert (tmp_path / "notes.damaged.json").read_text() == content


def test_nonsense_in_notes_counts_as_nothing(store, tmp_path):
    text = '{"voices": {"anton": {"pace": "fast", "used": "\\u001b[2J"}, "clara": {"pace": 99}}}'
    (tmp_path / voice_notes.FILE).write_text(text)
    anton, clara, _ = store.entries()
    assert (anton.pace, anton.used, clara.pace) == (None, "", None)


def test_nobody_else_may_read_what_is_kept(store, tmp_path):
    store.set_pace("Grandma", 3.0)
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert {each.stat().st_mode & 0o077 for each in files} == {0}


# --------------------------------------------------------------------------------------- the files


ODON = Voice(
    "Grandma Ödön",
    "neural",
    tensors={
        "codes": np.arange(12, dtype=np.int64).reshape(3, 4),
        "state": np.linspace(-1, 1, 5, dtype=np.float32)[::2],
    },
    metadata={"clip": "a hash"},
)


def test_a_voice_comes_back_as_it_was(tmp_path):
    folder = tmp_path / "not" / "there"
    assert voices.saved_voices(folder) == ()
    loaded = voices.load(voices.save(ODON, folder).path)
    assert replace(loaded, tensors={}) == replace(ODON, tensors={})
    assert set(loaded.tensors) == set(ODON.tensors)
    for name, tensor in ODON.tensors.items():
        assert loaded.tensors[name].dtype == tensor.dtype
        assert np.array_equal(loaded.tensors[name], tensor)


def test_the_recording_is_kept_beside_the_voice_and_is_no_part_of_it(tmp_path):
    pcm = np.sin(np.arange(9_000, dtype=np.float32))
    saved = voices.save(ODON, tmp_path, Clip(pcm, 44_100))
    assert voices.saved_voices(tmp_path) == (saved,)
    assert saved.has_clip
    clip = voices.load_clip(saved.path)
    assert clip.sample_rate == 44_100
    assert np.abs(clip.pcm - pcm).max() < 1e-4
    loaded = voices.load(saved.path)
    assert set(loaded.tensors) == set(ODON.tensors)
    assert loaded.metadata == ODON.metadata
    bare = voices.save(Voice("Alan", "espeak"), tmp_path)
    assert not bare.has_clip
    with pytest.raises(InvalidInput, match="was not kept"):
        voices.load_clip(bare.path)


def test_the_list_leaves_out_what_is_none(tmp_path, caplog):
    saved = voices.save(ODON, tmp_path)
    (tmp_path / f"junk{voices.SUFFIX}").write_bytes(b"junk")
    save_file({"x": np.zeros(1)}, tmp_path / f"stranger{voices.SUFFIX}")
    (tmp_path / "notes.txt").write_text("not a voice")
    with caplog.at_level(logging.WARNING):
        assert voices.saved_voices(tmp_path) == (saved,)
    assert "junk" in caplog.text
    assert "stranger" in caplog.text


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 100, b"\x08\0\0\0\0\0\0\0notjson!", "cut", None]
)
def test_a_broken_file_is_a_clear_error(tmp_path, content):
    path = voices.save(ODON, tmp_path).path
    whole = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(whole[:-7] if isinstance(content, str) else content)
    with pytest.raises(InvalidInput, match=f"{path.name} cannot be used"):
        voices.load(path)


def test_too_large_is_not_written_nor_read(tmp_path, monkeypatch):
    saved = voices.save(ODON, tmp_path)
    monkeypatch.setattr(voices, "LARGEST_BYTES", 100)
    with pytest.raises(InvalidInput, match="too large"):
        voices.save(replace(ODON, name="Other"), tmp_path)
    with pytest.raises(InvalidInput, match="MB large"):
        voices.load(saved.path)


# ------------------------------------------------------------------------------- two voices in one


@pytest.fixture
def catalogue(tmp_path, monkeypatch) -> VoiceCatalogue:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    write_kokoro()
    return of_settings(SpeechSettings(engine="kokoro"))


def test_a_share_of_each_in_the_english_of_one(catalogue, tmp_path):
    voice = mixed(Mix("heart", "EMMA", 0.25), catalogue, tmp_path)
    wanted = 0.25 * number_of("Heart") + 0.75 * number_of("Emma")
    np.testing.assert_allclose(style_of(voice), wanted, rtol=1e-6)
    assert accent_of(voice) == "en-gb"
    assert voice.model == catalogue.voice_model
    assert voice.metadata["description"] == "mixed of 25 % Heart, 75 % Emma"


def test_a_mixture_is_kept_moved_and_mixed_again(catalogue, tmp_path):
    store = VoiceStore(catalogue, tmp_path / "voices")
    assert store.mix(" Luna ", Mix("Heart", "Emma")) == "Luna"
    assert store.rename("Luna", "Lena") == "Lena"
    file = store.export("Lena", tmp_path / "gift")
    store.remove("Lena")
    assert store.read_in(file, "Lina") == "Lina"
    entry = store.entries()[-1]
    assert (entry.name, entry.usable, entry.own) == ("Lina", True, False)
    assert entry.description == "mixed of 50 % Heart, 50 % Emma"
    assert isinstance(entry.description, Translatable)
    assert entry.description.values == {"parts": "50 % Heart, 50 % Emma"}
    store.mix("Both", Mix("lina", "Michael", 0.5))
    (both,) = (each for each in voices.saved_voices(tmp_path / "voices") if each.name == "Both")
    wanted = (number_of("Heart") + number_of("Emma")) / 4 + number_of("Michael") / 2
    np.testing.assert_allclose(style_of(voices.load(both.path)), wanted, rtol=1e-5)


def test_own_voices_and_mixtures_have_a_language(catalogue, tmp_path):
    store = VoiceStore(catalogue, tmp_path / "voices")
    store.mix("Luna", Mix("Dora", "Noel"))
    found = {each.name: (each.accent, each.language) for each in store.entries()}
    assert found["Emma"] == ("british", "en")
    assert found["Dorinha"] == ("brazilian", "pt")
    assert found["Luna"] == ("", "es")
    assert {preview_sentence(language) for language in SPOKEN} > {preview_sentence()}


@pytest.mark.parametrize(
    ("mix", "name", "said"),
    [
        (Mix("Nobody", "Emma"), "New", "no voice called 'Nobody'"),
        (Mix("Heart", "Emma", 1.01), "New", "share cannot be 1.01"),
        (Mix("Heart", "Emma", float("nan")), "New", "share cannot be nan"),
        (Mix("Heart", "Dora"), "New", "Heart and Dora speak different languages"),
        (Mix("Heart", "Emma"), "heart", "called 'heart' already"),
        (Mix("Heart", "Emma"), " ", "cannot be called"),
    ],
)
def test_what_cannot_be_mixed_is_said(mix, name, said, catalogue, tmp_path):
    with pytest.raises(InvalidInput, match=said):
        VoiceStore(catalogue, tmp_path / "voices").mix(name, mix)
    assert not (tmp_path / "voices").exists()


# ------------------------------------------------------- voices that learn

KOKORO = VoiceCatalogue(
    "kokoro", ("Heart",), can_clone=True, about={"Heart": "American woman, warm"}
)


CLIP = Clip(np.zeros(16_000, np.float32), 16_000)


def keep_kokoro_voice(folder):
    tensors = {"style": np.ones(256, np.float32)}
    about = {"making": "resembling", voices.RECORDING: CLIP.digest, "nearest": "Heart"}
    return voices.save(Voice("Anna", "kokoro", tensors, about), folder, CLIP)


def learn_kokoro_voice(folder, voice):
    about = {"making": LEARNT, voices.RECORDING: CLIP.digest}
    made = replace(voices.load(voice.path), metadata=about)
    return voices.save_as(made, learnt_path(CLIP.digest, folder))


def test_a_voice_is_noted_to_be_learnt_until_it_is_chosen(tmp_path):
    store = VoiceStore(KOKORO, tmp_path)
    store.note_learning("Anna", "Good morning.")  # before the voice is made
    file = keep_kokoro_voice(tmp_path)
    heart, anna = store.entries()
    assert (heart.sex, heart.accent, heart.words) == ("female", "american", None)
    assert (anna.can_learn, anna.words, anna.fit, anna.nearest) == (
        *(True, "Good morning.", None, "Heart"),
    )
    waits = learn_kokoro_voice(tmp_path, file)
    assert store.entries()[1].fit == waits.path
    store.choose_learnt("anna", learnt=True)
    anna = store.entries()[1]
    assert (anna.learnt, anna.can_learn, anna.words, anna.fit) == (True, False, None, None)


def test_what_was_learnt_and_is_to_be_learnt_follows_a_new_name(tmp_path):
    store = VoiceStore(KOKORO, tmp_path)
    keep_kokoro_voice(tmp_path)
    store.note_learning("Anna", "Good morning.")
    recording = store.entries()[1].recording
    store.rename("Anna", "Bert")
    assert store.entries()[1].words == "Good morning."
    waits = learn_kokoro_voice(tmp_path, voices.saved_voices(tmp_path)[0])
    store.rename("Bert", "Carla")
    carla = store.entries()[1]
    assert (carla.fit, carla.recording) == (waits.path, recording)
    store.choose_learnt("Carla", learnt=True)
    assert [each.name for each in store.entries()] == ["Heart", "Carla"]
    assert voices.header(voices.saved_voices(tmp_path)[0].path).recipe_version == LEARNT

    voices.save(replace(voices.load(voices.saved_voices(tmp_path)[0].path), name="Anna"), tmp_path)
    assert store.entries()[1].words is None  # another voice that gets the former name


def test_what_was_learnt_is_deleted_with_the_voice(tmp_path):
    store = VoiceStore(KOKORO, tmp_path)
    waits = learn_kokoro_voice(tmp_path, keep_kokoro_voice(tmp_path))
    store.remove("Anna")
    assert waits.path.exists()  # it can be brought back
    store.discard("Anna")
    assert not waits.path.exists()


def test_a_voice_that_is_given_up_or_not_kokoro_s_is_not_to_be_learnt(tmp_path):
    keep_kokoro_voice(tmp_path)
    store, other = (
        VoiceStore(replace(KOKORO, voice_model=name), tmp_path) for name in ("kokoro", "neural")
    )
    store.note_learning("Anna", "")
    assert store.entries()[1].words == ""
    assert (other.entries()[1].can_learn, other.entries()[1].words) == (False, None)
    store.note_learning("Anna", None)
    assert store.entries()[1].words is None
