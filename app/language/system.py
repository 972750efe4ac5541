"""Chooses the language of the window and of Qt (its own menus, and how numbers are typed).

Invariant: this runs once, before the first widget is created; another choice takes effect at the
next start.
"""

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app.language import words


def speak(application: QApplication, chosen: str) -> str:
    """Use the language of the setting window.language; return the code of the language in use."""
    code = of_system(QLocale.system().uiLanguages()) if chosen == "system" else chosen
    words.choose(code)
    system = QLocale.system()
    locale = QLocale(code)
    # somebody with Austrian German also wants its number format
    QLocale.setDefault(system if system.language() == locale.language() else locale)
    of_qt = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if code != "en" and of_qt.load(f"qtbase_{code}", folder):
        application.installTranslator(of_qt)
    return code


def of_system(preferred: list[str]) -> str:
    """The first of the person's preferred languages ('de-AT', 'en') that we have; else English."""
    codes = (each.replace("_", "-").split("-")[0].lower() for each in preferred)
    return next((code for code in codes if code in words.LANGUAGES), "en")
