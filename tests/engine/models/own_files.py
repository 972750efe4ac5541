"""Files that look like models from outside."""

from pathlib import Path


def gguf(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF" + bytes(2_000_000))
    return path


def whisper(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes(bytes(1_000_000))
    return folder
