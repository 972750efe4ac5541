"""Global keys under Wayland: the desktop's portal GlobalShortcuts. The desktop asks the person
which key does what; the keys in our settings are only proposals.

Invariant: all keys are bound at once, because a session is bound once. If the portal restarts, a
new session is opened; if it refuses, that is reported once and not tried again automatically.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jeepney import Message

from app.desktop_entry import APP_ID
from app.language import mark, tr
from app.look.plain_text import one_line
from app.presence.bus import Address, Bus, error_of, is_error, path_of
from app.presence.keys.global_keys import Action, Chord, KeySource

PORTAL = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = Address(PATH, PORTAL, "org.freedesktop.portal.GlobalShortcuts")
REGISTRY = Address(PATH, PORTAL, "org.freedesktop.host.portal.Registry")
REQUEST = "org.freedesktop.portal.Request"
_NONE_OFFERED = mark(
    "This desktop offers no global keys. Bind `rubato talk toggle` to a key in its own settings."
)
_REFUSED = mark(
    "The desktop gave Rubato no global key. Allow it in the desktop's settings, or choose one."
)


class PortalKeys(KeySource):
    """The source of keys under Wayland, for one set of keys at a time."""

    def __init__(self, bus: Bus) -> None:
        super().__init__()
        self._bus = bus
        self._wanted: Mapping[Action, Chord] = {}
        self._owner: str | None = None  # None = not known yet; "" = no portal
        self._session = ""  # its path; empty = none
        self._waiting: dict[str, Any] = {}  # path of a request -> what to do with its response
        self._requests = 0
        bus.watch(PORTAL, REQUEST, "Response", self._on_response)
        press, release = partial(self._on_key, self.press), partial(self._on_key, self.release)
        bus.watch(PORTAL, SHORTCUTS.interface, "Activated", press)
        bus.watch(PORTAL, SHORTCUTS.interface, "Deactivated", release)
        bus.watch(PORTAL, SHORTCUTS.interface, "ShortcutsChanged", self._on_changed)
        bus.watch_name(PORTAL, self._on_owner)
        bus.lost.connect(lambda: self._on_owner(""))

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        self._end_session()
        self._wanted = dict(chords)
        if chords and not self._bus.is_connected:
            self.lost.emit(tr(_NONE_OFFERED))
        elif chords and self._owner is not None:
            self._open()

    def close(self) -> None:
        self._end_session()
        self._wanted = {}

    def _on_owner(self, owner: str) -> None:
        """Begin a new session, because the portal started, ended or restarted."""
        was, self._owner = self._owner, owner
        if owner == was or (was == "" and self._waiting):
            return  # the latter: our own call has started it
        self._session = ""
        self._waiting.clear()
        self.release_all()
        if self._wanted and (owner or was is None):
            self._open()

    def _open(self) -> None:
        # Since 1.21 we must register our name; older versions do not have the method.
        self._bus.call(REGISTRY, "Register", "sa{sv}", (APP_ID, {}))
        token = ("s", self._token())
        self._ask("CreateSession", "a{sv}", ({"session_handle_token": token},), self._on_session)

    def _on_session(self, results: dict[str, Any]) -> None:
        self._session = str(results.get("session_handle", ("s", ""))[1])
        shortcuts = [
            (action.value, {
                "description": ("s", action.words),
                "preferred_trigger": ("s", chord.trigger()),
            })
            for action, chord in self._wanted.items()
        ]  # fmt: skip
        body: tuple[Any, ...] = (self._session, shortcuts, "", {})
        self._ask("BindShortcuts", "oa(sa{sv})sa{sv}", body, self._on_bound)

    def _on_bound(self, results: dict[str, Any]) -> None:
        bound = results.get("shortcuts", ("", []))[1]
        if bound:
            self._report_bound(bound)
        else:
            self.lost.emit(tr(_REFUSED))

    def _on_changed(self, message: Message) -> None:
        if self._is_ours(message):
            self.release_all()  # the key that is released may no longer be one of ours
            self._report_bound(message.body[1])

    def _report_bound(self, shortcuts: list[tuple[str, dict[str, Any]]]) -> None:
        """Report the keys that the desktop chose, as a line for the person."""
        words = {action.value: action.words for action in Action}
        bound = [
            f"{trigger} ({words[name]})"
            for name, about in shortcuts
            if name in words and (trigger := str(about.get("trigger_description", ("s", ""))[1]))
        ]
        if bound:
            self.bound.emit(one_line(tr("The desktop's keys: ") + ", ".join(bound)))

    def _on_key(self, act: Callable[[Action], None], message: Message) -> None:
        if self._is_ours(message):
            for action in Action:
                if action.value == message.body[1]:
                    act(action)

    def _is_ours(self, message: Message) -> bool:
        return bool(self._session) and message.body[0] == self._session

    def _ask(self, method: str, signature: str, body: tuple[Any, ...], then: Any) -> None:
        """Call a method of the portal. `then` gets the results of the portal's response."""
        token = self._token()
        *others, options = body
        arguments = (*others, {**options, "handle_token": ("s", token)})
        sender = self._bus.name.removeprefix(":").replace(".", "_")
        self._waiting[f"{PATH}/request/{sender}/{token}"] = then

        def answered(message: Message) -> None:
            if is_error(message):
                self._waiting.clear()
                reason = one_line(error_of(message))
                self.lost.emit(f"{tr(_NONE_OFFERED)} ({reason})" if reason else tr(_NONE_OFFERED))

        self._bus.call(SHORTCUTS, method, signature, arguments, answered)

    def _on_response(self, message: Message) -> None:
        then = self._waiting.pop(path_of(message), None)
        if then is None:
            return
        code, results = message.body
        if code == 0:
            then(results)
        else:
            self._end_session()
            self.lost.emit(tr(_REFUSED))

    def _end_session(self) -> None:
        if self._session:
            session = Address(self._session, PORTAL, "org.freedesktop.portal.Session")
            self._bus.call(session, "Close")
        self._session = ""
        self._waiting.clear()
        self.release_all()

    def _token(self) -> str:
        self._requests += 1
        return f"rubato{self._requests}"
