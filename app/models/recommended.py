"""The card on top: what fits this machine, its sizes, and one button that fetches and uses it.

Invariant: the button says how much it would fetch before it fetches anything.
"""

from PySide6.QtWidgets import QFrame, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.bars import Progress
from app.look.button import button
from app.look.label import Label, WrappingLabel
from app.look.layout import Spring, column, row
from app.look.theme import Theme
from app.models import words
from engine import api


class RecommendedCard(QFrame):
    """Follows the fetches of what it recommends."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._post = post
        self._shown = api.Recommendation()
        self._going: dict[str, api.ModelProgress] = {}
        title = Label(tr("Recommended for this computer"), self, strong=True)
        self.machine = WrappingLabel("", self, kind="muted", size=0.92, figures=True)
        self.text = WrappingLabel("", self, size=0.92, figures=True)
        self.warning = WrappingLabel("", self, kind="danger", size=0.92, figures=True)
        for label in (self.machine, self.text, self.warning):
            label.take_any_width()
        self.bar = Progress(theme, self)
        self.act = button("", self, self._on_act)
        parts = (title, self.machine, self.text, self.warning, self.bar, 4)
        column(*parts, row(self.act, Spring()), on=self, margins=(14, 12, 12, 12), spacing=4)
        self.show_recommendation(api.Recommendation(text=tr("Looking at this computer…")), "")

    def show_recommendation(self, recommendation: api.Recommendation, machine: str) -> None:
        self._shown = recommendation
        self.machine.setText(machine)
        self.text.setText(recommendation.text)
        self.warning.say(recommendation.warning)
        self._show_action()

    def on_event(self, event: api.ModelEvent) -> None:
        match event:
            case api.ModelProgress(name=name, activity=activity):
                if name in self._shown.names and activity is not api.Activity.VERIFYING:
                    self._going[name] = event
            case api.ModelSettled(name=name):
                self._going.pop(name, None)
            case _:
                return
        self._show_action()

    def _show_action(self) -> None:
        shown, going = self._shown, list(self._going.values())
        total = sum(each.total_bytes for each in going)
        done = sum(each.done_bytes for each in going)
        self.bar.show_share(done / total if total else None)
        self.bar.setVisible(bool(going))
        if going:
            self.act.setText(tr("Pause"))
        elif shown.in_use:
            self.act.setText(tr("In use"))
        else:
            fetch = (
                tr("Fetch {size} and use", size=words.size(shown.megabytes))
                if shown.megabytes
                else tr("Use")
            )
            self.act.setText(fetch)
        self.act.setEnabled(bool(going) or (bool(shown.names) and not shown.in_use))
        self.act.setAccessibleName(
            tr("{action}: recommended for this computer", action=self.act.text())
        )

    def _on_act(self) -> None:
        if self._going:
            for name in tuple(self._going):
                self._post(api.PauseFetch(name))
        else:
            self._post(api.FetchRecommended())
