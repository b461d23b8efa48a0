"""Pseudo-random numbers: they replace the random numbers of kube-scheduler and depend on the seed only."""

from hashlib import blake2b


def draw(seed: int, cycle: int, purpose: str, count: int) -> int:
    """Return a number from 0 to ``count`` - 1, evenly distributed. The same arguments always return the same
    number."""
    digest = blake2b(f"{seed}/{cycle}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % count
