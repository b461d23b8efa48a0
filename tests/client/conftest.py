"""A server whose sandboxes have owners."""

from tests.access.conftest import owners_server

__all__ = ["owners_server"]
