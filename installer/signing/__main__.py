"""Keys, roots and releases of the update repository; the ceremony is told in installer/signing."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from installer import signing
from installer.bundle import SYSTEMS
from installer.commands import SetupError
from installer.release.changes import changes
from installer.signing import keys
from installer.signing.repository import Repository, add_signature


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except SetupError as error:
        print(f"signing: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m installer.signing",
        description=signing.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    key = commands.add_parser("key", help="make a key and its public half")
    key.add_argument("path", type=Path)
    key.set_defaults(command=lambda o: print(keys.make(o.path).keyid))
    root = commands.add_parser("root", help="write the next root, for two root keys to sign")
    root.add_argument("repository", type=Path)
    root.add_argument("--root", type=Path, nargs=3, required=True, metavar="PUB")
    root.add_argument("--targets", type=Path, required=True, metavar="PUB")
    root.add_argument("--online", type=Path, required=True, metavar="PUB")
    root.set_defaults(command=_root)
    sign = commands.add_parser("sign", help="add a signature to a root")
    sign.add_argument("metadata", type=Path)
    sign.add_argument("key", type=Path)
    sign.set_defaults(command=_sign)
    publish = commands.add_parser("publish", help="offer a release")
    publish.add_argument("repository", type=Path)
    publish.add_argument("--targets", type=Path, required=True, metavar="KEY")
    publish.add_argument("--online", type=Path, required=True, metavar="KEY")
    for system in SYSTEMS:
        publish.add_argument(f"--{system}", type=Path, metavar="FOLDER", help="of installer.bundle")
    publish.set_defaults(command=_publish)
    renew = commands.add_parser("renew", help="say again that this is the newest")
    renew.add_argument("repository", type=Path)
    renew.add_argument("--online", type=Path, required=True, metavar="KEY")
    renew.set_defaults(command=lambda o: Repository(o.repository).renew(keys.signer(o.online)))
    check = commands.add_parser("check", help="whether every signature is as it should be")
    check.add_argument("repository", type=Path)
    check.set_defaults(command=lambda o: Repository(o.repository).check())
    return parser


def _root(options: argparse.Namespace) -> None:
    roots = [keys.public(path) for path in options.root]
    targets, online = keys.public(options.targets), keys.public(options.online)
    print(Repository(options.repository).new_root(roots, targets, online))


def _sign(options: argparse.Namespace) -> None:
    count = add_signature(options.metadata, keys.signer(options.key))
    print(f"{options.metadata} has {count} signatures.")


def _publish(options: argparse.Namespace) -> None:
    given = {system: getattr(options, system) for system in SYSTEMS}
    payloads = {system: folder for system, folder in given.items() if folder is not None}
    if not payloads:
        raise SetupError("Give the folder of at least one system.")
    signers = keys.signer(options.targets), keys.signer(options.online)
    repository = Repository(options.repository)
    repository.publish(payloads, changes(), *signers)
    repository.check()


if __name__ == "__main__":
    sys.exit(main())
