"""A proxy in front of Redis that counts the round trips of its clients."""

import asyncio
import threading
from contextlib import suppress
from typing import Self

READ_AT_ONCE = 1 << 16


class CountingProxy:
    """``with CountingProxy(redis_port) as proxy``. Has a thread and an event loop of its own.

    A round trip is what a client sends until Redis answers: a pipeline is one, and so is a read that waits.
    """

    def __init__(self, redis_port: int) -> None:
        self.round_trips = 0
        self.connections = 0
        self.port = 0
        self._redis_port = redis_port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="counting proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        serving = asyncio.all_tasks(self._loop)
        for task in serving:
            task.cancel()
        # Their sockets are closed here: one that is left open fails the test in which it is collected.
        self._loop.run_until_complete(asyncio.gather(*serving, return_exceptions=True))
        self._loop.close()

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            redis, to_redis = await asyncio.open_connection("127.0.0.1", self._redis_port)
        except OSError:
            to_client.close()
            return
        self.connections += 1
        asking = False

        async def requests() -> None:
            nonlocal asking
            while data := await client.read(READ_AT_ONCE):
                if not asking:
                    self.round_trips += 1
                    asking = True
                to_redis.write(data)
                await to_redis.drain()
            to_redis.close()

        async def answers() -> None:
            nonlocal asking
            while data := await redis.read(READ_AT_ONCE):
                asking = False
                to_client.write(data)
                await to_client.drain()
            to_client.close()

        try:
            with suppress(OSError):
                await asyncio.gather(requests(), answers())
        finally:
            self.connections -= 1
            for writer in (to_redis, to_client):
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
