"""The texts on a timer's card."""

from PySide6.QtCore import QDate, QDateTime, QLocale

from app.language.words import tr, tr_n
from app.look.plain_text import one_line
from engine.api import TimerKind, TimerSet

_DAY_S = 86400


def title(timer: TimerSet) -> str:
    """ "Pasta", "Timer", "Alarm", "Call your mother"."""
    label = one_line(timer.label)
    if timer.kind is TimerKind.ALARM:
        return tr("Alarm")
    return f"{label[:1].upper()}{label[1:]}" if label else tr("Timer")


def name(timer: TimerSet) -> str:
    """The same for a screen reader, with the kind of timer."""
    if timer.kind is TimerKind.ALARM:
        return tr("Alarm, {time}", time=when(timer.due))
    if timer.kind is TimerKind.REMINDER:
        return tr("Reminder: {task}", task=title(timer))
    return tr("{name} timer", name=title(timer)) if timer.label else tr("Timer")


def left(seconds: float) -> str:
    """ "4:10", "1:02:05", "2 days 3:00:00": rounded up, so that 0:00 is the end."""
    whole = -int(-seconds // 1)
    days, rest = divmod(whole, _DAY_S)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    face = f"{hours}:{minutes:02d}:{rest:02d}" if hours or days else f"{minutes}:{rest:02d}"
    return f"{tr_n('{count} day', '{count} days', days)} {face}" if days else face


def when(due: float) -> str:
    """The time of day, with the day unless it is today, in the format of the current language."""
    moment, locale = QDateTime.fromSecsSinceEpoch(int(due)), QLocale()
    face = locale.toString(moment.time(), QLocale.FormatType.ShortFormat)
    today = moment.date() == QDate.currentDate()
    return face if today else f"{locale.toString(moment.date(), 'ddd')} {face}"


def detail(timer: TimerSet) -> str:
    """Further details: that it is paused, or when it rings."""
    if timer.paused_s is not None:
        return tr("paused")
    if timer.kind is TimerKind.TIMER:
        return ""
    return when(timer.due)
