"""The store of voices, a synthesiser's own and the person's: rename, remove, restore, export,
import.

A voice can have several files, one for each model that made its own version. Removed voices stay in
a separate folder for KEPT_DAYS. Invariant: each file is moved, written or deleted in one operation,
so no voice is lost when the program ends in between.
"""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.audio.clips.clip import check_is_file
from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.messages.voices import Mix, VoiceEntry
from engine.resources import table
from engine.settings import FAST_LIMIT, SLOWEST
from engine.settings.systems import KOKORO
from engine.translatable import Translatable, joined
from engine.tts import voice_notes, voices
from engine.tts.kokoro.learnt import choose, file_of, learnt_path
from engine.tts.registry import VoiceCatalogue
from engine.tts.voice_lookup import mixed
from engine.tts.voice_notes import Note, note_of
from engine.tts.voices import SavedVoice

REMOVED: Final = "removed"  # a folder within that of the voices
KEPT_DAYS: Final = 7
_DAY_S: Final = 86_400
_LEARNT: Final = "learnt "  # how the recipes of learnt voices begin
_SEXES: Final = {"woman": "female", "girl": "female", "man": "male", "boy": "male"}
_ACCENTS: Final = ("american", "british", "spanish", "italian", "brazilian", "french")


class VoiceStore:
    """The voices in a folder. Every call reads the folder again: another program may change it."""

    def __init__(
        self,
        catalogue: VoiceCatalogue,
        within: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`catalogue`: of the synthesiser in use. `within` None: the person's data folder."""
        self._catalogue = catalogue
        self._folder = voices.folder() if within is None else within
        self._bin = self._folder / REMOVED
        self._now = now

    # ------------------------------------------------------------------------- asking

    def entries(self) -> tuple[VoiceEntry, ...]:
        """Return the synthesiser's own voices, then the person's by name."""
        notes = voice_notes.read(self._folder)
        entries = [_own_entry(name, self._catalogue) for name in self._catalogue.own]
        own_names = {voices.folded(name) for name in self._catalogue.own}
        for folded, files in self._by_name().items():
            if folded not in own_names:
                entries.append(_entry(files, self._catalogue))
        for place, entry in enumerate(entries):
            note = note_of(notes, entry.name)
            words = note.words if entry.can_learn else None
            entries[place] = replace(entry, pace=note.pace, used=note.used, words=words)
        return tuple(entries)

    def removed(self) -> tuple[str, ...]:
        """Return the names of removed voices. Delete those of more than KEPT_DAYS ago."""
        oldest = self._now() - KEPT_DAYS * _DAY_S
        for path in self._bin.glob("*" + voices.SUFFIX):
            with suppress(OSError):
                if _removal_time(path) < oldest:
                    path.unlink()
        return tuple(dict.fromkeys(file.name for file in voices.saved_voices(self._bin)))

    def find(self, name: str) -> str:
        """Return a voice's name in its own spelling. InvalidInput for an unknown voice."""
        own_name = next((own for own in self._catalogue.own if voices.same(own, name)), None)
        return own_name or self._found(name)[0].name

    def pace(self, name: str) -> float | None:
        """Return the default pace (SPS) of a voice, if it has one."""
        return note_of(voice_notes.read(self._folder), name).pace

    # ----------------------------------------------------------------------- changing

    def set_pace(self, name: str, pace: float | None) -> None:
        """Set a voice's default pace. InvalidInput for a pace beyond the slider's range."""
        if pace is not None and not SLOWEST <= pace <= FAST_LIMIT:
            raise InvalidInput(
                "{pace} syllables a second is no pace to speak at.",
                hint="Give {slowest} to {fastest}.",
                pace=f"{pace:g}",
                slowest=f"{SLOWEST:g}",
                fastest=f"{FAST_LIMIT:g}",
            )
        voice_notes.change(self._folder, name, pace=pace)

    def note_learning(self, name: str, words: str | None) -> None:
        """Store that a voice, which may not exist yet, is to learn from a recording of these words
        (empty: not known yet); None = it is not to learn.
        """
        voice_notes.change(self._folder, name, words=words)

    def choose_learnt(self, name: str, *, learnt: bool) -> None:
        """Use the learnt voice or its original from now on; see kokoro.learnt.choose()."""
        choose(name, learnt=learnt, within=self._folder)
        self.note_learning(name, None)

    def spoke(self, name: str, day: str) -> None:
        """Store that a voice spoke on a day (an ISO date)."""
        voice_notes.change(self._folder, name, used=day)

    def rename(self, name: str, new: str) -> str:
        """Rename a voice. Return the new name. InvalidInput for an invalid or taken name."""
        new = new.strip()
        voices.check_name(new)
        files = self._found(name)
        if not voices.same(name, new):
            self.check_free(new)
        notes = voice_notes.read(self._folder)
        if note_of(notes, name) != note_of(notes, new):
            note = note_of(notes, name)
            notes[voices.folded(name)] = Note()  # or another voice would get it with the name
            voice_notes.write(self._folder, {**notes, voices.folded(new): note})
        for file in files:
            self._rewritten(file, self._folder / voices.file_name(new, file.model), new)
        for file in files:  # last, so that an interruption loses nothing
            if file.path != self._folder / voices.file_name(new, file.model):
                _delete(file.path)
        return new

    def remove(self, name: str) -> str:
        """Move a voice to the folder of removed voices. Return its name in its own spelling."""
        files, now_ms = self._found(name), round(1000 * self._now())
        for file in files:
            _move(file.path, self._bin / f"{now_ms} {file.path.name}")
        return files[0].name

    def restore(self, name: str) -> str:
        """Restore the last removed voice of this name. InvalidInput when the name is taken."""
        files = self._in_bin(name)
        self.check_free(files[0].name)
        newest = {
            file.model: file for file in sorted(files, key=lambda each: _removal_time(each.path))
        }
        for file in newest.values():
            _move(file.path, self._folder / voices.file_name(file.name, file.model))
        return files[0].name

    def discard(self, name: str) -> str:
        """Delete a removed voice permanently."""
        files = self._in_bin(name)
        for file in files:
            _delete(file.path)
            if file.recording:
                _delete(learnt_path(file.recording, self._folder))
        if not voices.called(name, self._folder):
            voice_notes.change(self._folder, name, pace=None, used="", words=None)
        return files[0].name

    def mix(self, name: str, mix: Mix) -> str:
        """Save a mixture under a free name. Return the name. See voice_lookup.mixed()."""
        name = name.strip()
        voices.check_name(name)
        self.check_free(name)
        voices.save(mixed(mix, self._catalogue, self._folder, name), self._folder)
        return name

    # ------------------------------------------------------------------- out and in

    def export(self, name: str, path: Path) -> Path:
        """Write a voice with its recording and its pace to one file. Return the file's path."""
        files = self._found(name)
        wanted = self._catalogue.voice_model
        best = max(files, key=lambda file: (file.has_clip, file.model == wanted))
        if path.suffix != ".safetensors":
            path = path.with_name(path.name + voices.SUFFIX)
        self._rewritten(best, path, best.name, pace=self.pace(name))
        return path

    def read_in(self, path: Path, name: str) -> str:
        """Import a voice from a file of export(), under its own name if `name` is empty. Return the
        name. InvalidInput for any other file, and for a taken name.
        """
        check_is_file(path)  # reading a pipe or a device might never end
        voice = voices.load(path)
        name = name.strip() or voice.name
        voices.check_name(name)
        self.check_free(name)
        header = voices.header(path)
        clip = voices.load_clip(path) if header.has_clip else None
        voices.save(replace(voice, name=name), self._folder, clip)
        if header.pace is not None and SLOWEST <= header.pace <= FAST_LIMIT:
            self.set_pace(name, header.pace)
        return name

    def check_free(self, name: str) -> None:
        """Raise InvalidInput when a voice of this name exists."""
        if voices.called(name, self._folder) or self._is_own(name):
            raise InvalidInput(
                "There is a voice called '{name}' already.", hint="Choose another name.", name=name
            )

    # ------------------------------------------------------------------------- inside

    def _rewritten(
        self, file: SavedVoice, path: Path, name: str, *, pace: float | None = None
    ) -> None:
        clip = voices.load_clip(file.path) if file.has_clip else None
        voices.save_as(replace(voices.load(file.path), name=name), path, clip, pace=pace)

    def _by_name(self) -> dict[str, list[SavedVoice]]:
        groups: dict[str, list[SavedVoice]] = {}
        for file in voices.saved_voices(self._folder):
            groups.setdefault(voices.folded(file.name), []).append(file)
        return groups

    def _is_own(self, name: str) -> bool:
        """Return whether a voice of this name comes with the synthesiser."""
        return any(voices.same(own, name) for own in self._catalogue.own)

    def _found(self, name: str) -> list[SavedVoice]:
        """Return the files of a voice that the person made. InvalidInput if there are none."""
        if files := voices.called(name, self._folder):
            return files
        if self._is_own(name):
            raise InvalidInput(
                "{name} comes with the synthesiser.",
                hint="Only voices you made can be changed.",
                name=name,
            )
        names = ", ".join(each[0].name for each in self._by_name().values())
        raise InvalidInput(
            "There is no voice called '{name}' that you made.",
            hint="There are: {names}." if names else "There is none yet: drop a recording.",
            name=name,
            names=names,
        )

    def _in_bin(self, name: str) -> list[SavedVoice]:
        files = voices.called(name, self._bin)
        if not files:
            raise InvalidInput(
                "No voice called '{name}' was removed lately.",
                hint="What is removed is kept for {days} days.",
                name=name,
                days=KEPT_DAYS,
            )
        return files


def _own_entry(name: str, catalogue: VoiceCatalogue) -> VoiceEntry:
    """Return the entry of a voice that comes with the synthesiser."""
    about = catalogue.about.get(name, "")
    words = str.split(str.lower(about).replace(",", " "))
    return VoiceEntry(
        *(name, True),
        made_for=(catalogue.voice_model,),
        description=about,
        sex=next((_SEXES[each] for each in words if each in _SEXES), ""),
        accent=next((each for each in words if each in _ACCENTS), ""),
        language=catalogue.languages.get(name, ENGLISH),
    )


def _entry(files: Sequence[SavedVoice], catalogue: VoiceCatalogue) -> VoiceEntry:
    """Return the entry of a voice that the person made, from its files."""
    fits = [file for file in files if file.model == catalogue.voice_model]
    clip = next((file for file in files if file.has_clip), None)
    again = catalogue.can_clone and clip is not None
    usable = bool(fits) or again
    made_for = tuple(file.model for file in files)
    here = (fits or files)[0]
    learnt = here.recipe_version.startswith(_LEARNT)
    is_kokoro = catalogue.voice_model == KOKORO
    is_blend = is_kokoro and here.model == KOKORO and here.has_clip and bool(here.recording)
    can_learn = is_blend and not learnt
    return VoiceEntry(
        files[0].name,
        clip_s=clip.clip_s if clip else None,
        snr_db=clip.snr_db if clip else None,
        made_for=made_for,
        usable=usable,
        why_not="" if usable else _why_not(made_for, catalogue, has_clip=clip is not None),
        again=again,
        description=here.about,
        resembles=is_kokoro,
        learnt=learnt,
        can_learn=can_learn,
        fit=file_of(here) if can_learn else None,
        nearest=here.nearest,
        recording=here.recording,
        language=here.language,
    )


def preview_sentence(language: str = ENGLISH) -> str:
    """Return what a voice of a language says when it is heard before it is chosen."""
    return str(table("voices.toml")["preview"][language])


def _why_not(made_for: tuple[str, ...], catalogue: VoiceCatalogue, *, has_clip: bool) -> str:
    reason = Translatable(
        "It was made for {names}, not for {model}, which cannot learn voices."
        if has_clip
        else "It was made for {names}, not for {model}, and no recording was kept with it.",
        names=", ".join(made_for),
        model=catalogue.voice_model,
    )
    advice = Translatable(
        "Choose Kokoro as the synthesiser." if has_clip else "Use the synthesiser it was made for."
    )
    return joined((reason, advice))


def _move(path: Path, new: Path) -> None:
    with voices.disk_errors("moved", path):
        new.parent.mkdir(parents=True, exist_ok=True)
        path.replace(new)


def _removal_time(path: Path) -> float:
    """Return the time of a removal: the number in the file's name, else the file's own time."""
    if found := re.match(r"([0-9]{1,16}) ", path.name):
        return int(found[1]) / 1000
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _delete(path: Path) -> None:
    with voices.disk_errors("moved", path):
        path.unlink(missing_ok=True)
