"""The repository of releases for updates: who signs what, and for how long.

    python -m installer.signing --help

The ceremony, once, and again whenever a key changes (each root key on a machine of its own, which
is never connected):

 1. On each of three machines: `key root-1` (root-2, root-3). Keep the file in a safe place and its
    passphrase in another; take `root-1.pub` to the machine of the releases.
 2. There: `key targets` and `key online`.
 3. There: `root REPOSITORY --root root-1.pub root-2.pub root-3.pub --targets targets.pub
    --online online.pub` writes metadata/N.root.json without signatures.
 4. Carry N.root.json to two of the three machines: `sign N.root.json root-1`, and back. Where keys
    change, two of the old root keys have to sign the new root as well.
 5. `check REPOSITORY`, then put 1.root.json into resources/updates/root.json and the address into
    resources/updates/address.txt: from that release on updates are on.

For each release: `publish REPOSITORY --targets targets --online online --linux FOLDER` (one that
`python -m installer.bundle` made; --windows and --macos alike), then copy REPOSITORY to any static
host, timestamp.json last. Every few days: `renew REPOSITORY --online online`, or clients report
that the offer is too old.

Invariant: a private key is written once, encrypted and readable only by its owner, and read only to
sign.
"""
