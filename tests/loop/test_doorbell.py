"""The doorbell of a process that ends at once."""

import asyncio
import os
import socket
import sys

import pytest
from channels.layers import get_channel_layer

from schedviz.loop.doorbell import group
from tests.amounts import long_but_first
from tests.processes import ROOT
from tests.waiting import PATIENCE

RING = """
import django
django.setup()
from schedviz.loop import ring
for name in {names}:
    ring(name)
    ring(name)
"""


async def run_command(names: list[str], redis_url: str) -> tuple[int | None, str]:
    """Run a process that rings for sandboxes and ends: its status and its errors."""
    command = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        RING.format(names=names),
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "schedviz.settings", "REDIS_URL": redis_url},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await command.communicate()
    return command.returncode, errors.decode()


@pytest.mark.parametrize("sandboxes", long_but_first([20, 1]))
async def test_a_process_sends_its_messages_before_it_ends(
    redis_url: str, sandbox_name: str, sandboxes: int
) -> None:
    names = [f"{sandbox_name}-{number}" for number in range(sandboxes)]
    layer = get_channel_layer()
    channel = await layer.new_channel()
    for name in names:
        await layer.group_add(group(name), channel)
    async with asyncio.timeout(PATIENCE):
        assert await run_command(names, redis_url) == (0, "")
        received: set[str] = set()
        while received != {*names}:  # a sandbox has a second message if its first one was sent between both
            message = await layer.receive(channel)
            assert message["type"] == "doorbell"
            received.add(message["sandbox"])


async def test_a_process_ends_though_redis_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        async with asyncio.timeout(PATIENCE):
            assert await run_command(["lost"], url) == (0, "")
