"""A TCP proxy that can stall the connections on which a given word was sent: nothing passes on them any more,
and neither side gets a message, as when a machine between them drops its state."""

import select
import socket
import threading
from contextlib import suppress


class Proxy:
    def __init__(self, port: int, word: bytes) -> None:
        """port: of the server, on loopback."""
        self._target = ("127.0.0.1", port)
        self._word = word
        self._said: set[socket.socket] = set()
        self._lost: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def lose(self) -> None:
        """Lose the connections on which the word was said so far."""
        self._lost |= self._said

    def close(self) -> None:
        """When the clients have ended."""
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                thread = threading.Thread(target=self._pass_on, args=(client,))
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(self._target) as server:
            other = {client: server, server: client}
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    if source is client and self._word in data:
                        self._said.add(client)
                    if client not in self._lost:
                        other[source].sendall(data)
