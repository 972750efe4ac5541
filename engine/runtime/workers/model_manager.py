"""Manage models beside a conversation: list, fetch, verify, remove, choose.

Two threads: one for quick commands, one for those that take minutes (fetches and checks, one after
the other). Both wait for a disk or a network, so no other thread waits for them. Invariant: a fetch
or check runs while its model is wanted, and otherwise stops at the next piece; fetched data stays.
Every command about one model ends with a ModelSettled.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import assert_never

from engine.errors import Cancelled, EngineError
from engine.messages import models
from engine.messages.events import Notice
from engine.models import choice, storage
from engine.models.choice import changes
from engine.models.listing import entries, entry, this_machine
from engine.models.recommended import recommendation
from engine.models.servers import ServedModel, find_served
from engine.runtime.turn.facts import ModelChosen
from engine.runtime.workers.worker import Actor, Tell, Worker
from engine.settings import Settings
from engine.settings_file import data_folder
from engine.translatable import Translatable, joined

TELL_S = 0.2  # between two reports of progress


_Job = tuple[str, models.Activity]  # a model to fetch or verify


class ModelManager(Actor[models.ModelCommand]):
    """Knows which models are wanted; all other state is on the disk."""

    def __init__(self, tell: Tell, settings: Callable[[], Settings]) -> None:
        """`settings` returns those in force, which say what models are in use; from any thread."""
        super().__init__("model manager", tell)
        self._settings = settings
        # Names of models to fetch or verify, and of those to use afterwards. Several threads change
        # the sets, each by a single call, so they need no lock.
        self._wanted: set[str] = set()
        self._to_use: set[str] = set()
        self._served: tuple[ServedModel, ...] = ()  # on servers, when they were last searched
        self._minutes: Worker[_Job] = Worker(
            "fetching", handle=self._carry_out, tick=self._tick, report=self._report
        )

    def start(self) -> None:
        super().start()
        self._minutes.start()

    def post(self, command: models.ModelCommand) -> None:
        """Accept a command; never waits."""
        match command:
            case models.FetchModels(names, use):
                if use:
                    self._to_use.update(names)
                for name in names:
                    self._want(name, models.Activity.FETCHING)
            case models.VerifyModel(name):
                self._want(name, models.Activity.VERIFYING)
            case models.PauseFetch(name):
                self._wanted.discard(name) if name else self._wanted.clear()
            case _:
                super().post(command)

    @property
    def is_busy(self) -> bool:
        """Whether a fetch or check runs or waits; from any thread."""
        return bool(self._wanted)

    def stop(self, timeout_s: float) -> bool:
        """Stop the current work, and end both threads."""
        self._wanted.clear()
        ended = super().stop(timeout_s)
        return self._minutes.stop(timeout_s) and ended

    def _want(self, name: str, activity: models.Activity) -> None:
        if name not in self._wanted:
            self._wanted.add(name)
            self._tell(models.ModelProgress(name, models.Activity.WAITING))
            self._minutes.post((name, activity))

    # ------------------------------------------------------------------- moments

    def _handle(self, command: models.ModelCommand) -> None:
        match command:
            case models.ListModels(servers):
                if servers:
                    self._served = find_served()
            case models.FetchRecommended():
                fitting = recommendation(entries(self._settings()), this_machine())
                self.post(models.FetchModels(fitting.names, use=True))
            case models.AddModel(path):
                names = ", ".join(each.path for each in storage.add(path, data_folder()))
                self._tell(Notice.of("{names} is in the list of models.", names=names))
            case models.UseModel(name):
                with self._settling(name):
                    self._use(name)
                    self._tell(models.ModelSettled(name, ""))
            case models.RemoveModel(name):
                with self._settling(name):
                    chosen = entry(name, self._settings(), self._served)
                    text = choice.removal_text(chosen, choice.remove(chosen))
                    self._tell(models.ModelSettled(name, text))
            case models.FetchModels() | models.VerifyModel() | models.PauseFetch():
                pass  # handled by post()
            case _:
                assert_never(command)
        machine, found = this_machine(), entries(self._settings(), self._served)
        self._tell(models.ModelsListed(found, recommendation(found, machine), str(machine)))

    def _use(self, name: str) -> None:
        chosen = entry(name, self._settings(), self._served)
        self._tell(ModelChosen(changes(chosen)))
        self._tell(Notice.of("{name} is used from now on.", name=chosen.title))

    # ------------------------------------------------------------------- minutes

    def _carry_out(self, job: _Job) -> None:
        name, activity = job
        due = 0.0

        def show(done: int, total: int) -> None:
            """Report the progress now and then."""
            nonlocal due
            now = time.monotonic()
            if now >= due or done == total:
                due = now + TELL_S
                self._tell(models.ModelProgress(name, activity, done, total))

        if name not in self._wanted:
            self._tell(models.ModelSettled(name, ""))
            return
        try:
            with self._settling(name):
                (self._fetch if activity is models.Activity.FETCHING else self._verify)(name, show)
        finally:
            self.post(models.ListModels())

    @contextmanager
    def _wanting(self, name: str) -> Iterator[Callable[[], bool]]:
        """Yield a function that returns whether the model is no longer wanted. Nor is it after the
        body, before the end is reported: the receiver may send the next command at once.
        """
        try:
            yield lambda: name not in self._wanted
        finally:
            self._wanted.discard(name)
            self._to_use.discard(name)

    def _fetch(self, name: str, show: storage.ShowAll) -> None:
        with self._wanting(name) as cancelled:
            storage.fetch_all(name, show, cancelled)
            # a model in use by now was chosen by 'auto', so it must be loaded
            used = name in self._to_use or entry(name, self._settings()).in_use
        text = Translatable("Complete and identical to the original.")
        self._tell(models.ModelSettled(name, text))
        if used:
            self._use(name)
        else:
            self._tell(Notice.of("{name} was fetched.", name=storage.with_needs(name)[-1].title))

    def _verify(self, name: str, show: storage.ShowAll) -> None:
        with self._wanting(name) as cancelled:
            faults = storage.verify(name, lambda _, done, total: show(done, total), cancelled)
        text = joined(faults) if faults else Translatable("Every file is as it was fetched.")
        self._tell(models.ModelSettled(name, text, failed=bool(faults)))

    @contextmanager
    def _settling(self, name: str) -> Iterator[None]:
        """Report a fault with the model's name."""
        try:
            yield
        except Cancelled:
            text = Translatable("Paused. It can be resumed.")
            self._tell(models.ModelSettled(name, text))
        except EngineError as error:
            self._tell(models.ModelSettled(name, str(error), failed=True))
            self._fail(error)
