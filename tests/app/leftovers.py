"""What a test leaves behind for those after it.

Qt deletes what is to be deleted later in an event loop, which many tests never enter. What is left
until then is styled anew with every theme that is made, and its timers run on.
"""

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.background_job import finish_all


def clear_away() -> list[QObject]:
    """Delete what waits for it; the windows, and timers of the application's, that live on."""
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        return []  # the command line's tests make none
    finish_all()
    for _ in range(2):  # what goes may let something else go
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    timers = [each for each in application.findChildren(QTimer) if each.isActive()]
    return [*application.topLevelWidgets(), *timers]


def was_told_to_exit() -> bool:
    """Whether exit() came while nothing ran: every event loop ends at once then, so nobody's timers
    and events come any more. This takes it back.
    """
    application = QApplication.instance()
    if application is None:
        return False
    loop = QEventLoop()
    QTimer.singleShot(0, loop.quit)
    if loop.exec() == 0:
        return False
    QTimer.singleShot(0, application.quit)
    application.exec()
    return True
