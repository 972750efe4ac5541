"""What is asked of the workers while nobody has the floor."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from engine.messages.commands import NewConversation
from engine.messages.words import Phase
from engine.runtime.effects import Effects
from engine.runtime.turn.facts import ConversationRead, Titled
from engine.runtime.turn.log import TurnLog
from engine.runtime.workers.language_model_worker import GetReady, Rest
from engine.settings import HistorySettings, LanguageModelSettings, Settings

FAR = LanguageModelSettings(engine="server", address="https://far.example/v1")
NEAR = LanguageModelSettings(engine="server", address="http://127.0.0.1:8080/v1")
SKILLS = LanguageModelSettings()


class Desk:
    """Effects with nobody behind them; `asked` is what the language model is asked."""

    def __init__(self, keep: str, model: LanguageModelSettings) -> None:
        self.asked: list[GetReady | Rest] = []
        self.log = TurnLog()
        settings = Settings(history=HistorySettings(keep), language_model=model)
        port = SimpleNamespace(
            emit=lambda _event: None,
            attend=lambda: None,
            decide=lambda _fact: None,
            settings=lambda: settings,
        )
        self.effects = Effects(
            SimpleNamespace(
                language_model=SimpleNamespace(post=self.asked.append),
                speaker=SimpleNamespace(post=lambda _order: None),
                history_writer=SimpleNamespace(post=lambda _order: None),
            ),
            self.log,
            SimpleNamespace(begin=lambda **_: None),
            port,
        )

    def wants_title(self, said: str) -> bool:
        self.log.say(1, said)
        self.effects.use_quiet(Phase.IDLE)
        order = self.asked[-1]
        assert isinstance(order, GetReady)
        assert order.title in (None, self.log.began)
        return order.title is not None


@pytest.mark.parametrize(
    ("keep", "model", "said", "wanted"),
    [
        ("forever", SKILLS, "about otters", True),
        ("30 days", NEAR, "about otters", True),
        ("forever", SKILLS, "hello", False),  # no subject yet
        ("ask", SKILLS, "about otters", False),
        ("never", SKILLS, "about otters", False),
        ("forever", FAR, "about otters", False),  # which may cost money
    ],
)
def test_a_title_is_wanted_of_a_kept_talk_with_a_subject_from_this_computer(
    keep, model, said, wanted
):
    assert Desk(keep, model).wants_title(said) is wanted


def test_a_private_talk_one_that_goes_on_and_one_with_a_title_want_none():
    desk = Desk("forever", SKILLS)
    desk.effects.switch(NewConversation(private=True))
    assert not desk.wants_title("about otters")
    desk.effects.switch(ConversationRead(1, desk.log.conversation()))
    assert not desk.wants_title("about otters")
    desk.effects.switch(NewConversation())
    assert desk.wants_title("about otters")
    began = desk.log.began
    desk.effects.pass_on_title(Titled(began - timedelta(1), "Whales"))  # of another one
    assert desk.wants_title("about otters")
    desk.effects.pass_on_title(Titled(began, "Otters"))
    assert not desk.wants_title("about otters")
