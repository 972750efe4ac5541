"""What a card says of a timer."""

from datetime import datetime

from app.look.plain_text import one_line
from engine.api import TimerKind, TimerSet

_DAY_S = 86400


def title(timer: TimerSet) -> str:
    """ "Pasta", "Timer", "Alarm", "Call your mother"."""
    label = one_line(timer.label)
    if timer.kind is TimerKind.ALARM:
        return "Alarm"
    return f"{label[:1].upper()}{label[1:]}" if label else "Timer"


def name(timer: TimerSet) -> str:
    """The same for a screen reader, with what it is."""
    if timer.kind is TimerKind.ALARM:
        return f"Alarm, {when(timer.due)}"
    if timer.kind is TimerKind.REMINDER:
        return f"Reminder: {title(timer)}"
    return f"{title(timer)} timer" if timer.label else "Timer"


def left(seconds: float) -> str:
    """ "4:10", "1:02:05", "2 days 3:00:00": rounded up, so that 0:00 is the end."""
    whole = -int(-seconds // 1)
    days, rest = divmod(whole, _DAY_S)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    face = f"{hours}:{minutes:02d}:{rest:02d}" if hours or days else f"{minutes}:{rest:02d}"
    return f"{days} day{'' if days == 1 else 's'} {face}" if days else face


def when(due: float) -> str:
    """The time of day, with the day unless it is today."""
    moment = datetime.fromtimestamp(due)
    face = f"{moment.hour % 12 or 12}:{moment.minute:02d} {'AM' if moment.hour < 12 else 'PM'}"
    today = datetime.now().date()
    return face if moment.date() == today else f"{moment:%a} {face}"


def detail(timer: TimerSet) -> str:
    """What else there is to know: that it is paused, or when it rings."""
    if timer.paused_s is not None:
        return "paused"
    if timer.kind is TimerKind.TIMER:
        return ""
    return when(timer.due)
