"""Uploaded lessons in Redis: their names, their number, and the time for which they are kept."""

import pytest

from schedviz.lessons import uploads
from schedviz.lessons.catalogue import lesson_in, lessons
from schedviz.lessons.kept import Full
from schedviz.lessons.mistakes import LessonError
from schedviz.lessons.start import start_lesson
from schedviz.lessons.uploads import KEPT_SECONDS, Uploads, is_upload
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis

from .uploaded import FILES


def test_an_uploaded_lesson_is_found_by_its_name_alone(store: Store) -> None:
    known = Uploads(store.redis)
    first, second = known.add(FILES, store.wall()), known.add(FILES, store.wall())
    assert is_upload(first.name)
    assert first.name != second.name
    assert lessons()[first.name].steps == lessons()["pending"].steps
    assert first.name in lessons()
    assert first.name not in [*lessons()]
    assert f"upload-{'a' * 24}" not in lessons()
    assert "upload-" not in lessons()


def test_a_sandbox_of_it_is_one_of_the_lesson(store: Store) -> None:
    lesson = Uploads(store.redis).add(FILES, store.wall())
    store.redis.expire(f"schedviz:{{lessons}}:{lesson.name}", 100)
    sandbox = start_lesson(store, lesson, [f"lesson-{lesson.name}-0123456789ab"])
    try:
        found = lesson_in(sandbox.meta())
        assert found
        assert found.name == lesson.name
        assert store.redis.ttl(f"schedviz:{{lessons}}:{lesson.name}") > 100, "it was used"
    finally:
        store.delete(sandbox.name)


def test_a_lesson_with_mistakes_is_not_stored(store: Store) -> None:
    wrong = {**FILES, "lesson.yaml": FILES["lesson.yaml"].replace(b"minutes: 4", b"minutes: 0")}
    before = store.redis.zcard("schedviz:{lessons}:index")
    with pytest.raises(LessonError, match=r"^lesson.yaml:4: minutes: must be at least 1$"):
        Uploads(store.redis).add(wrong, store.wall())
    assert store.redis.zcard("schedviz:{lessons}:index") == before


def test_beyond_the_bound_the_lesson_that_was_used_longest_ago_is_deleted(
    own_redis: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LESSONS_AT_MOST", 2)
    store = Store(own_redis.url)
    known, now, day = Uploads(store.redis), store.wall(), 24 * 3600
    first, second = known.add(FILES, now), known.add(FILES, now + 1)
    with pytest.raises(Full):
        known.add(FILES, now + day - 1)
    known.note_used(first.name, now + day - 1)
    third = known.add(FILES, now + day + 2)
    assert known.find(second.name) is None
    assert known.find(first.name)
    assert known.find(third.name)
    # After KEPT_SECONDS a place is free again; Redis deletes the lesson itself.
    known.add(FILES, now + day + KEPT_SECONDS)
    assert store.redis.zcard("schedviz:{lessons}:index") == 2
    assert 0 < store.redis.ttl(f"schedviz:{{lessons}}:{third.name}") <= KEPT_SECONDS
    store.close()
