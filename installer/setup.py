"""Set Rubato up and start it: `python3 installer/setup.py run | demo | llm | test`.

Invariant: this file runs on any Python 3 until it has found a suitable one; all other files of the
installer may use Python 3.11. When everything is set up already, it only checks that.
"""

import os
import shutil
import subprocess
import sys

OLDEST, TOO_NEW = (3, 11), (3, 14)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.abspath(__file__)


def main(arguments):  # no annotations: see the invariant
    """Return the exit code; with 'run' and 'demo' that of the assistant."""
    if not OLDEST <= sys.version_info < TOO_NEW:
        return with_another_python(arguments)
    sys.path[0] = ROOT  # instead of this file's folder
    from installer.commands import SetupError, say
    from installer.plan import Goal
    from installer.steps import offer_models, set_up, show_in_desktop

    names = [goal.value for goal in Goal]
    if not arguments or arguments[0] not in names:
        say("Usage: python3 installer/setup.py " + " | ".join(names))
        return 2
    goal = Goal(arguments[0])
    try:
        environment = set_up(goal)
        if goal is Goal.RUN:
            offer_models(environment)
            show_in_desktop(environment)
    except SetupError as error:
        say("\nSetup stopped. %s" % error)
        return 1
    except KeyboardInterrupt:
        say("\nSetup was interrupted; the same command continues from here.")
        return 130
    if goal not in (Goal.RUN, Goal.DEMO):
        return 0
    rubato = str(environment.program("rubato"))
    return start([rubato, *(["demo"] if goal is Goal.DEMO else []), *arguments[1:]])


def with_another_python(arguments):
    """Run this file with a suitable Python of this machine, or report that none was found."""
    for minor in range(TOO_NEW[1] - 1, OLDEST[1] - 1, -1):
        name, *options = ["py", "-3.%d" % minor] if os.name == "nt" else ["python3.%d" % minor]
        python = shutil.which(name)
        asking = "import sys; sys.exit(sys.version_info[:2] != (3, %d))" % minor
        # tried, because version managers leave commands that do not run
        if python and not subprocess.call(
            [python, *options, "-I", "-c", asking], stderr=subprocess.DEVNULL
        ):
            return start([python, *options, HERE, *arguments])
    print(
        "Rubato needs Python 3.11, 3.12 or 3.13; this is Python %d.%d and none of them was found. "
        "Install one (Debian, Ubuntu: sudo apt-get install python3.11; Fedora: sudo dnf install "
        "python3.13; macOS: brew install "
        "python@3.13; Windows: the installer from python.org) and run the same command again."
        % sys.version_info[:2]
    )
    return 1


def start(command):
    """Replace this process by the command if possible, otherwise run it; return its exit code."""
    sys.stdout.flush()
    if os.name == "nt":  # there execv returns to the shell while the program still runs
        return subprocess.call(command)
    return os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
