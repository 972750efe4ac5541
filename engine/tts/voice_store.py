"""The store of voices: those a synthesiser brings along and those the person made; renamed, removed
and brought back, exported and imported.

One voice can lie in several files, one for each model that made its own of it. What is removed lies
in a folder of its own for KEPT_DAYS. Invariant: each file is moved, written and deleted whole, so
whatever ends the program in between, no voice is lost.
"""

import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.errors import InvalidInput, ModelError
from engine.messages.voices import Mix, VoiceEntry
from engine.settings import FASTEST, SLOWEST
from engine.systems import KOKORO
from engine.translatable import Translatable, joined
from engine.tts import voice_notes, voices
from engine.tts.kokoro.learnt import choose, file_of, target
from engine.tts.voice_catalogue import VoiceCatalogue
from engine.tts.voice_lookup import mixed
from engine.tts.voice_notes import Note, note_of
from engine.tts.voices import SavedVoice

SENTENCE: Final = "This is how I sound: the boat left the harbour at ten past seven in the morning."
REMOVED: Final = "removed"  # a folder within that of the voices
KEPT_DAYS: Final = 7
_DAY_S: Final = 86_400
_LEARNT: Final = "learnt "  # how the recipes of learnt voices begin
_SEXES: Final = {"woman": "female", "girl": "female", "man": "male", "boy": "male"}
_ACCENTS: Final = ("american", "british")


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
        """The synthesiser's own voices, then the person's by name."""
        notes = voice_notes.read(self._folder)
        own = [
            VoiceEntry(
                *(name, True),
                made_for=(self._catalogue.voice_model,),
                description=self._catalogue.about.get(name, ""),
                sex=sex_of(self._catalogue.about.get(name, "")),
                accent=accent_of(self._catalogue.about.get(name, "")),
            )
            for name in self._catalogue.own
        ]
        personal = [_entry(files, self._catalogue) for files in self._by_name().values()]
        own_names = {voices.folded(name) for name in self._catalogue.own}
        others = (entry for entry in personal if voices.folded(entry.name) not in own_names)
        entries = (*own, *others)
        named = ((entry, note_of(notes, entry.name)) for entry in entries)
        return tuple(
            replace(
                entry,
                pace=note.pace,
                used=note.used,
                words=note.words if entry.can_learn else None,
            )
            for entry, note in named
        )

    def removed(self) -> tuple[str, ...]:
        """Names of what can be brought back; what was removed KEPT_DAYS ago is deleted now."""
        oldest = self._now() - KEPT_DAYS * _DAY_S
        for path in self._bin.glob("*" + voices.SUFFIX):
            with suppress(OSError):
                if _removal_time(path) < oldest:
                    path.unlink()
        return tuple(dict.fromkeys(file.name for file in voices.saved_voices(self._bin)))

    def find(self, name: str) -> str:
        """The name as it is written. InvalidInput when there is no such voice."""
        if own_names := [own for own in self._catalogue.own if _same(own, name)]:
            return own_names[0]
        return self._found(name)[0].name

    def pace(self, name: str) -> float | None:
        """The default pace (SPS) of a voice, if it has one."""
        return note_of(voice_notes.read(self._folder), name).pace

    # ----------------------------------------------------------------------- changing

    def set_pace(self, name: str, pace: float | None) -> None:
        """InvalidInput for a pace that is beyond the slider's."""
        if pace is not None and not SLOWEST <= pace <= FASTEST:
            raise InvalidInput(
                "{pace} syllables a second is no pace to speak at.",
                hint="Give {slowest} to {fastest}.",
                pace=f"{pace:g}",
                slowest=f"{SLOWEST:g}",
                fastest=f"{FASTEST:g}",
            )
        voice_notes.change(self._folder, name, pace=pace)

    def note_learning(self, name: str, words: str | None) -> None:
        """Note that a voice, which may be made later, is to be learnt from a recording of these
        words (empty: not known); None = it is not.
        """
        voice_notes.change(self._folder, name, words=words)

    def choose_learnt(self, name: str, *, learnt: bool) -> None:
        """As kokoro.learnt.choose()."""
        choose(name, learnt=learnt, within=self._folder)
        self.note_learning(name, None)

    def spoke(self, name: str, day: str) -> None:
        """Note that a voice spoke on a day (an ISO date)."""
        voice_notes.change(self._folder, name, used=day)

    def rename(self, name: str, new: str) -> str:
        """Returns the name it has now. InvalidInput for one that is taken or is none."""
        new = new.strip()
        voices.check_name(new)
        files = self._found(name)
        if not _same(name, new):
            self.check_free(new)
        notes = voice_notes.read(self._folder)
        if note_of(notes, name) != note_of(notes, new):
            note = note_of(notes, name)
            notes[voices.folded(name)] = Note()  # or another voice would get it with the name
            voice_notes.write(self._folder, {**notes, voices.folded(new): note})
        for file in files:
            self._rewritten(file, self._folder / voices.file_name(new, file.model), new)
        for file in files:  # only now: what breaks off in between loses nothing
            if file.path != self._folder / voices.file_name(new, file.model):
                _delete(file.path)
        return new

    def remove(self, name: str) -> str:
        """Put a voice where it can be brought back from; returns its name as it was written."""
        files, now_ms = self._found(name), round(1000 * self._now())
        _move({file.path: self._bin / f"{now_ms} {file.path.name}" for file in files})
        return files[0].name

    def restore(self, name: str) -> str:
        """Bring back what was removed last. InvalidInput when its name is taken meanwhile."""
        files = self._in_bin(name)
        self.check_free(files[0].name)
        newest = {file.model: file for file in sorted(files, key=_removal_order)}
        _move(
            {
                file.path: self._folder / voices.file_name(file.name, file.model)
                for file in newest.values()
            }
        )
        return files[0].name

    def discard(self, name: str) -> str:
        """Delete what was removed for good."""
        files = self._in_bin(name)
        for file in files:
            _delete(file.path)
            if file.recording:
                _delete(target(file.recording, self._folder))
        if not self._called(name):
            voice_notes.change(self._folder, name, pace=None, used="", words=None)
        return files[0].name

    def mix(self, name: str, mix: Mix) -> str:
        """Keep a mixture under a name that is free; returns it. As voice_lookup.mixed()."""
        name = name.strip()
        voices.check_name(name)
        self.check_free(name)
        voices.save(mixed(mix, self._catalogue, self._folder, name), self._folder)
        return name

    # ------------------------------------------------------------------- out and in

    def export(self, name: str, path: Path) -> Path:
        """Write a voice with its recording and its pace to one file; returns which."""
        files = self._found(name)
        best = max(
            files, key=lambda file: (file.has_clip, file.model == self._catalogue.voice_model)
        )
        if path.suffix != ".safetensors":
            path = path.with_name(path.name + voices.SUFFIX)
        self._rewritten(best, path, best.name, pace=self.pace(name))
        return path

    def read_in(self, path: Path, name: str) -> str:
        """Take a voice from a file that export() wrote, under its own name where `name` is empty;
        returns the name. InvalidInput for any other file, and for a name that is taken.
        """
        _check_file(path)
        voice = voices.load(path)
        name = name.strip() or voice.name
        voices.check_name(name)
        self.check_free(name)
        header = voices.header(path)
        clip = voices.load_clip(path) if header.has_clip else None
        voices.save(replace(voice, name=name), self._folder, clip)
        if header.pace is not None and SLOWEST <= header.pace <= FASTEST:
            self.set_pace(name, header.pace)
        return name

    def check_free(self, name: str) -> None:
        """InvalidInput when there is a voice of this name."""
        if self._called(name) or any(_same(own, name) for own in self._catalogue.own):
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

    def _called(self, name: str) -> list[SavedVoice]:
        return self._by_name().get(voices.folded(name), [])

    def _found(self, name: str) -> list[SavedVoice]:
        """The files of a voice the person made; InvalidInput when there are none."""
        files = self._called(name)
        if files:
            return files
        if any(_same(own, name) for own in self._catalogue.own):
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
        files = [each for each in voices.saved_voices(self._bin) if _same(each.name, name)]
        if not files:
            raise InvalidInput(
                "No voice called '{name}' was removed lately.",
                hint="What is removed is kept for {days} days.",
                name=name,
                days=KEPT_DAYS,
            )
        return files


def _entry(files: Sequence[SavedVoice], catalogue: VoiceCatalogue) -> VoiceEntry:
    """One voice of the person's."""
    fits = [file for file in files if file.model == catalogue.voice_model]
    clips = [file for file in files if file.has_clip]
    again = catalogue.can_clone and bool(clips)
    usable = bool(fits) or again
    made_for = tuple(file.model for file in files)
    here = (fits or files)[0]
    learnt = here.making.startswith(_LEARNT)
    has_recording = here.has_clip and bool(here.recording)
    is_blend = has_recording and here.model == catalogue.voice_model == KOKORO
    why_not = "" if usable else _why_not(made_for, catalogue, has_clip=bool(clips))
    return VoiceEntry(
        files[0].name,
        clip_s=clips[0].clip_s if clips else None,
        snr_db=clips[0].snr_db if clips else None,
        made_for=made_for,
        usable=usable,
        why_not=why_not,
        again=again,
        description=here.about,
        resembles=catalogue.voice_model == KOKORO,
        learnt=learnt,
        can_learn=is_blend and not learnt,
        fit=file_of(here) if is_blend and not learnt else None,
        nearest=here.nearest,
        recording=here.recording,
    )


def sex_of(description: str) -> str:
    """The sex of a voice that is described in English, as of VoiceEntry."""
    return next((_SEXES[each] for each in _words(description) if each in _SEXES), "")


def accent_of(description: str) -> str:
    """As sex_of()."""
    return next((each for each in _words(description) if each in _ACCENTS), "")


def _words(description: str) -> list[str]:
    return str.split(str.lower(description).replace(",", " "))


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


def _move(files: Mapping[Path, Path]) -> None:
    """Rename each file; `files`: where each one goes."""
    for path, new in files.items():
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            path.replace(new)
        except OSError as error:
            raise _refused(path, error) from error


def _removal_time(path: Path) -> float:
    """When a file in the bin was removed, which stands in its name; else its own time."""
    found = re.match(r"([0-9]{1,16}) ", path.name)
    return int(found[1]) / 1000 if found else path.stat().st_mtime


def _removal_order(file: SavedVoice) -> float:
    with suppress(OSError):
        return _removal_time(file.path)
    return 0.0


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> ModelError:
    return ModelError(
        "The voice file {name} could not be moved: {error}.",
        hint="Check the folder {folder}.",
        name=path.name,
        error=error.strerror or error,
        folder=path.parent,
    )


def _check_file(path: Path) -> None:
    """A pipe or a device would never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise InvalidInput(
            "The file '{name}' cannot be opened: {error}.",
            hint="Choose another file.",
            name=path.name,
            error=error,
        ) from error
    if not stat.S_ISREG(mode):
        raise InvalidInput("'{name}' is no file.", hint="Choose an exported voice.", name=path.name)


def _same(one: str, other: str) -> bool:
    return voices.folded(one) == voices.folded(other)
