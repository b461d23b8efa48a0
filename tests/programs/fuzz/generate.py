"""A request from its number."""

from random import Random

from msgspec.structs import replace

from tests.programs.fuzz import CLIENTS, kubernetes, pages
from tests.programs.fuzz.request import Request

NOT_AWAITED = 0.01
"""The share of requests whose answer is not awaited."""


def sandbox_of(number: int) -> str:
    """The sandbox that a request goes to."""
    return f"fuzz-{number % CLIENTS}"


def request(seed: int, number: int) -> Request:
    """Always the same for the same seed and number."""
    rng = Random(f"{seed}/{number}")
    make = rng.choices((kubernetes.request, pages.request, pages.socket), (78, 20, 2))[0]
    made = make(rng, number, f"/s/{sandbox_of(number)}")
    if made.answer == "whole" and rng.random() < NOT_AWAITED:
        return replace(made, answer="none")
    return made
