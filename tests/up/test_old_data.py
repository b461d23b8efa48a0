"""A data directory of an earlier release, whose packaged server was Redis 6.2, goes on."""

import gzip
from pathlib import Path

from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, lock

OLD_FILE = Path(__file__).parent / "redis_6_2" / "appendonly-6.2.aof.gz"
"""What Redis 6.2.14 had written of one sandbox: rewritten once, so it begins with a snapshot, and then
written to."""


def names(store: Store) -> set[str]:
    """Return the keys of the sandbox's nodes and pods."""
    sandbox = store.sandbox("kept")
    return {*sandbox.names("nodes"), *sandbox.names("pods")}


def test_the_append_only_file_of_redis_6_is_read_and_kept(tmp_path: Path) -> None:
    (tmp_path / "appendonly.aof").write_bytes(gzip.decompress(OLD_FILE.read_bytes()))
    with lock(tmp_path) as descriptor:
        for _ in ("as Redis 6.2 left it", "as Valkey left it"):
            redis = EmbeddedRedis.start(tmp_path, descriptor)
            store = Store(redis.url)
            try:
                assert names(store) == {"one", "default/before", "default/after"}
            finally:
                store.close()
                redis.stop()
    assert not (tmp_path / "appendonly.aof").exists()
    assert list((tmp_path / "appendonlydir").iterdir())
