"""Conversations that are kept, opened again and heard again, by a whole engine."""

from contextlib import AbstractContextManager
from pathlib import Path

from engine import api
from engine.history.store import NAME, Store
from engine.messages.words import Ending
from engine.runtime.workers import language_model_worker
from engine.settings import AudioSettings, HistorySettings, Settings
from tests.engine.history.turns import talk
from tests.engine.runtime.test_conductor import Host, hosting
from tests.help.fakes.parts import FakeLanguageModel, FakeParts

KEEPING = Settings(audio=AudioSettings(hands_free=False), history=HistorySettings(keep="forever"))


def keeping(folder: Path) -> AbstractContextManager[Host]:
    model = FakeLanguageModel("Good ", "day ", "to ", "you.")
    return hosting(FakeParts(model=model, history=folder / NAME), KEEPING)


def test_who_goes_on_with_one_has_its_history_as_it_was_heard(tmp_path):
    with Store(tmp_path / NAME) as store:
        talk(store, "does it rain?")  # its reply was cut after two words, and is private
    with keeping(tmp_path) as host:
        host.post(api.OpenConversation(1))
        host.wait(lambda: bool(host.of(api.ConversationOpened)))
        (turn,) = host.of(api.ConversationOpened)[0].turns
        assert (turn.number, turn.said, turn.heard) == (-2, "does it rain?", "It rains")
        host.ask("and now?")
        history = host.parts.model.histories[-1]
        assert [(each.text, each.interrupted, each.private) for each in history] == [
            ("does it rain?", False, True),
            ("It rains", True, True),
            ("and now?", False, False),
        ]
        host.post(api.Export(tmp_path / "all.txt"))
        host.wait(lambda: (tmp_path / "all.txt").exists())
        assert "does it rain?" in (tmp_path / "all.txt").read_text()
    with Store(tmp_path / NAME) as store:
        assert [turn.said for turn in store.read(1).turns] == ["does it rain?", "and now?"]


def test_a_conversation_outlasts_the_program_and_a_reply_heard_again_makes_no_turn(tmp_path):
    with keeping(tmp_path) as host:
        host.post(api.ChangeSetting("speech.rate", 3.5))
        reply = host.ask("hi").reply
        for turn, start in ((1, 99), (7, 0), (1, -3)):  # where nothing stands
            host.post(api.Replay(turn, start))
        host.wait(lambda: len(host.of(api.Failed)) == 3)
        assert {each.code for each in host.of(api.Failed)} == {"invalid-input"}
        host.post(api.Replay(1, reply.index("day")))
        host.wait(lambda: host.of(api.ReplayEnded) != [], playing=800)
        heard = [(each.turn, reply[each.start : each.end]) for each in host.of(api.WordReplayed)]
        assert heard == [(1, "day"), (1, "to"), (1, "you.")]
        assert len(host.of(api.TurnEnded)) == 1
        assert "".join(each.text for each in host.of(api.ReplyDelta)) == reply
        host.post(api.SendText("again"))
        host.ended(3)  # a replay takes a number
        asked = [each.text for each in host.parts.model.histories[-1]]
        assert asked == ["hi", reply, "again"]
    with Store(tmp_path / NAME) as store:
        turn, second = store.read(1).turns
    assert (turn.said, turn.reply, turn.heard) == ("hi", "Good day to you.", "Good day to you.")
    assert [word.text for word in turn.words] == ["Good", "day", "to", "you."]
    assert (turn.ending, turn.rate, turn.typed) == (Ending.COMPLETE, 3.5, True)
    assert turn.voice
    assert second.said == "again"


def test_a_request_to_quit_is_not_saved(tmp_path):
    model = FakeLanguageModel(api.UseWindow("quit"))
    with hosting(FakeParts(model=model, history=tmp_path / NAME), KEEPING) as host:
        host.post(api.SendText("quit"))
        host.ended(1)
    with Store(tmp_path / NAME) as store:
        assert store.listing() == ()


def test_escape_ends_what_is_heard_again_and_another_word_takes_its_place(tmp_path):
    with keeping(tmp_path) as host:
        host.ask("hi")
        host.post(api.Replay(1, 0))
        host.wait(lambda: host.of(api.WordReplayed) != [], playing=100)
        host.post(api.Replay(1, 5))
        host.wait(lambda: any(each.start == 5 for each in host.of(api.WordReplayed)), playing=100)
        host.post(api.StopReply(by_escape=True))
        host.wait(lambda: len(host.of(api.ReplayEnded)) == 2)
        assert len(host.of(api.TurnEnded)) == 1
        replayed = len(host.of(api.WordReplayed))
        host.post(api.SendText("once more"))  # a reply that is spoken is not cut for an old one
        host.wait(lambda: any(each.turn == 4 for each in host.of(api.WordHeard)), playing=100)
        host.post(api.Replay(1, 0))
        host.wait(lambda: any("Esc" in each.text for each in host.of(api.Notice)))
        host.wait(lambda: len(host.of(api.TurnEnded)) == 2, playing=800)
        assert host.of(api.TurnEnded)[-1].ending is Ending.COMPLETE
        assert len(host.of(api.WordReplayed)) == replayed


def test_of_a_private_conversation_nothing_is_kept(tmp_path):
    with keeping(tmp_path) as host:
        host.post(api.NewConversation(private=True))
        host.ask("my secret")
        assert host.of(api.ConversationOpened) == [api.ConversationOpened(None, private=True)]
    assert not (tmp_path / NAME).exists()


def test_a_question_sent_again_takes_the_place_of_what_came_after_it(tmp_path):
    with Store(tmp_path / NAME) as store:
        talk(store, "one", "two")
    with keeping(tmp_path) as host:
        host.post(api.OpenConversation(1))
        host.wait(lambda: bool(host.of(api.ConversationOpened)))
        host.ask("three")
        host.post(api.SendText("two, edited", instead_of=-2))
        host.ended(2)
        assert [each.turn for each in host.of(api.ConversationCut)] == [-2]
        asked = [each.text for each in host.parts.model.histories[-1]]
        assert asked == ["one", "It rains", "two, edited"]
        host.post(api.SendText("four", instead_of=77))  # which is not there: just one more
        host.ended(3)
        assert len(host.of(api.ConversationCut)) == 1
    with Store(tmp_path / NAME) as store:
        assert store.ids() == (1,)
        assert [turn.said for turn in store.read(1).turns] == ["one", "two, edited", "four"]


def test_the_first_question_can_be_sent_again_while_its_reply_is_spoken(tmp_path):
    with keeping(tmp_path) as host:
        host.post(api.SendText("one"))
        host.wait(lambda: host.of(api.WordHeard) != [], playing=100)
        host.post(api.SendText("slower", instead_of=1))  # no wish about the reply that is cut
        host.ended(2)
        assert [each.text for each in host.parts.model.histories[-1]] == ["slower"]
    with Store(tmp_path / NAME) as store:
        assert [turn.said for turn in store.read(1).turns] == ["slower"]


def test_a_kept_talk_with_a_subject_gets_its_title_from_the_model_once_and_a_private_one_none(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(language_model_worker, "QUIET_S", 0.0)
    title, histories = language_model_worker.TITLE_WANTED, []
    with keeping(tmp_path) as host:

        def titled() -> list[str]:
            host.post(api.ListConversations())
            host.wait(lambda: bool(host.of(api.ConversationsListed)))
            listed = host.of(api.ConversationsListed)[-1].conversations
            return [each.title for each in listed]

        host.parts.model.deltas = ("Otters and whales.",)
        host.ask("hello")  # of which there is no title to find
        host.ask("about otters")
        host.wait(lambda: titled() == ["Otters and whales"])
        host.ask("what do they eat")
        host.post(api.NewConversation(private=True))
        host.ask("about my secret")
        host.post(api.NewConversation())
        host.ask("about whales")
        host.wait(lambda: titled() == ["Otters and whales"] * 2)
        histories = [[each.text for each in said] for said in host.parts.model.histories]
    asked = [[said[0], said[-3]] for said in histories if said[-1] == title]
    assert asked == [["hello", "about otters"], ["about whales", "about whales"]]
