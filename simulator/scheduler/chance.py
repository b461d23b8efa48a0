"""Where the real scheduler draws lots, here the sandbox's seed decides: same inputs, same choice."""

from hashlib import blake2b


def draw(seed: int, cycle: int, purpose: str, count: int) -> int:
    """A number from 0 up to, not including, ``count``: evenly spread, and always the same for the same
    arguments."""
    digest = blake2b(f"{seed}/{cycle}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % count
