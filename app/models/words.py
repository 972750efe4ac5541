"""What is said of a model, in short.

Invariant: sizes are told in units of ten: 1 GB is 1000 MB, as on the disk and the line.
"""

from engine.api import Activity, ModelEntry, ModelProgress, Origin, Presence

_GIGABYTE = 1000  # megabytes


def size(megabytes: float) -> str:
    """148 MB, 2.5 GB."""
    if megabytes < _GIGABYTE:
        return f"{megabytes:.0f} MB"
    return f"{megabytes / _GIGABYTE:.1f} GB"


def facts(entry: ModelEntry) -> str:
    """Size, licence and need of memory, where they are known."""
    found = [size(entry.megabytes)] if entry.megabytes else []
    own = entry.origin in (Origin.ADDED, Origin.SERVER)
    found.append(entry.attribution if own else f"licence: {entry.licence}")
    if entry.memory_mb:
        found.append(f"needs about {size(entry.memory_mb)} of memory")
    return " · ".join(found)


def remarks(entry: ModelEntry) -> str:
    """What else is to be known before it is used; empty when nothing."""
    short = "" if entry.fits else "That is more memory than this computer has to spare."
    half = ""
    if entry.state is Presence.PARTIAL:
        half = f"{size(entry.megabytes_here)} of it are here; it goes on from there."
    return " ".join(each for each in (entry.obstacle, short, half, entry.measured) if each)


def progress(event: ModelProgress) -> str:
    """How far it is."""
    match event.activity:
        case Activity.WAITING:
            return "Waiting for its turn…"
        case Activity.VERIFYING:
            doing = "Verifying"
        case _:
            doing = "Fetching"
    done, total = event.done_bytes / 1e6, event.total_bytes / 1e6
    return f"{doing}: {size(done)} of {size(total)}" if total else f"{doing}…"
