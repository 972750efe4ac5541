"""Parsers of documents. They run only in the sandboxed process, started by parse.py."""
