"""The packages of the runtime have wheels for the machines that README names."""

import re

from tests import wheels


def test_the_record_of_wheels_is_that_of_the_lock() -> None:
    assert wheels.locked_pins()
    assert wheels.RECORD.read_text() == wheels.record(wheels.locked_pins()), "run make lock"


def test_every_line_of_the_lock_is_a_pin_that_the_record_has() -> None:
    lines = [
        line for line in wheels.LOCK.read_text().splitlines() if re.match(r"[a-z0-9]", line, re.IGNORECASE)
    ]
    assert sorted(line.removesuffix(" \\") for line in lines) == wheels.locked_pins()
