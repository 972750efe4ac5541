"""Short descriptions of a model.

Invariant: sizes are decimal: 1 GB is 1000 MB, as with disks and network speeds.
"""

from app.language.words import decimal, tr
from engine.api import Activity, ModelEntry, ModelProgress, Origin, Presence

_GIGABYTE = 1000  # megabytes


def size(megabytes: float) -> str:
    """148 MB, 2.5 GB."""
    if megabytes < _GIGABYTE:
        return tr("{size} MB", size=decimal(megabytes, 0))
    return tr("{size} GB", size=decimal(megabytes / _GIGABYTE, 1))


def facts(entry: ModelEntry) -> str:
    """Size, licence and memory, as far as they are known."""
    found = [size(entry.megabytes)] if entry.megabytes else []
    own = entry.origin in (Origin.ADDED, Origin.SERVER)
    found.append(entry.attribution if own else tr("licence: {licence}", licence=entry.licence))
    if entry.memory_mb:
        found.append(tr("needs about {size} of memory", size=size(entry.memory_mb)))
    return " · ".join(found)


def remarks(entry: ModelEntry) -> str:
    """What else one should know before using it; usually empty."""
    short = "" if entry.fits else tr("That is more memory than this computer has to spare.")
    half = ""
    if entry.state is Presence.PARTIAL:
        half = tr("{size} of it are here; it goes on from there.", size=size(entry.megabytes_here))
    said = (entry.notice, entry.obstacle, short, half, entry.measured)
    return " ".join(each for each in said if each)


def progress(event: ModelProgress) -> str:
    """The progress in words."""
    match event.activity:
        case Activity.WAITING:
            return tr("Waiting for its turn…")
        case Activity.VERIFYING:
            doing = tr("Verifying")
        case _:
            doing = tr("Fetching")
    done, total = event.done_bytes / 1e6, event.total_bytes / 1e6
    return (
        tr("{doing}: {done} of {total}", doing=doing, done=size(done), total=size(total))
        if total
        else f"{doing}…"
    )
