"""Encoded documents that are expensive to make, kept up to a size."""

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple


class Document(NamedTuple):
    content: bytes
    tag: str
    """What differs where the content differs, by which a client keeps it."""


class KeptDocuments:
    """The documents that were read last. Any thread may use it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = Lock()
        self._documents: OrderedDict[str, Document] = OrderedDict()

    def find(self, tag: str) -> Document | None:
        with self._lock:
            found = self._documents.get(tag)
            if found is not None:
                self._documents.move_to_end(tag)
            return found

    def keep(self, document: Document) -> Document:
        """Keep a document in place of those that were not read for the longest time, and return it."""
        with self._lock:
            if document.tag not in self._documents and len(document.content) <= self._most_bytes:
                self._documents[document.tag] = document
                self._bytes += len(document.content)
            while self._bytes > self._most_bytes:
                _, dropped = self._documents.popitem(last=False)
                self._bytes -= len(dropped.content)
        return document
