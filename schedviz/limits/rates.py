"""The limits of how often something is asked for. Each raises LimitExceeded."""

import unicodedata
from typing import Final

from django.conf import settings

from schedviz.access.record import digest_of, read_record
from schedviz.limit_settings import LimitName
from schedviz.limits.buckets import BURST_SECONDS, Buckets
from schedviz.limits.requester import Requester
from schedviz.limits.shared_buckets import SharedBuckets
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded

BUCKETS: Final[dict[LimitName, Buckets | SharedBuckets]] = {
    name: Buckets() if "PER_SECOND" in name else SharedBuckets(name)
    for name in (
        "MAX_LOGINS_PER_MINUTE_PER_ACCOUNT",
        "MAX_LOGINS_PER_MINUTE_PER_ADDRESS",
        "MAX_WRONG_CODES_PER_MINUTE_PER_ADDRESS",
        "MAX_REQUESTS_PER_SECOND",
        "MAX_REQUESTS_PER_SECOND_PER_SANDBOX",
        "MAX_REQUESTS_PER_SECOND_PER_OWNER",
        "MAX_REQUESTS_PER_SECOND_PER_ADDRESS",
        "MAX_QUESTIONS_PER_MINUTE",
        "MAX_QUESTIONS_PER_MINUTE_PER_SANDBOX",
        "MAX_QUESTIONS_PER_MINUTE_PER_OWNER",
        "MAX_QUESTIONS_PER_MINUTE_PER_ADDRESS",
        "MAX_SANDBOXES_PER_MINUTE_PER_ADDRESS",
        "MAX_UPLOADS_PER_DAY_PER_ADDRESS",
    )
}
"""Requests are counted by each process, as a count in Redis would need a round trip for each."""

MINUTE: Final = 60.0
DAY: Final = 86_400.0
ALL: Final = "all"


def count_request(requester: Requester, sandbox: str) -> None:
    """Count a request. sandbox: the one that the request is for, "" = none."""
    _take("MAX_REQUESTS_PER_SECOND_PER_OWNER", requester.owner)
    _take("MAX_REQUESTS_PER_SECOND_PER_ADDRESS", requester.address)
    if requester.counts:
        _take("MAX_REQUESTS_PER_SECOND_PER_SANDBOX", sandbox)
        _take("MAX_REQUESTS_PER_SECOND", ALL)


def count_question(requester: Requester, sandbox: str) -> None:
    """Count a question. sandbox: the one that the question is about, "" = none."""
    _take("MAX_QUESTIONS_PER_MINUTE_PER_OWNER", requester.owner, MINUTE)
    _take("MAX_QUESTIONS_PER_MINUTE_PER_ADDRESS", requester.address, MINUTE)
    if requester.counts:
        _take("MAX_QUESTIONS_PER_MINUTE_PER_SANDBOX", sandbox, MINUTE)
        _take("MAX_QUESTIONS_PER_MINUTE", ALL, MINUTE)


def count_creation(requester: Requester) -> None:
    """Count a sandbox that is about to be created, in one round trip for those whose sandboxes count."""
    _take("MAX_SANDBOXES_PER_MINUTE_PER_ADDRESS", requester.address, MINUTE)
    source = requester.source and digest_of(requester.source)
    if not requester.owner and not source:
        return
    records = [read_record(access) for access in default_store().access_records().values()]
    owned = sum(record.owner == requester.owner for record in records if record.owner)
    from_here = sum(record.address == source for record in records if record.address)
    counts: dict[LimitName, int] = {
        "MAX_SANDBOXES_PER_OWNER": owned,
        "MAX_SANDBOXES_PER_ADDRESS": from_here,
    }
    for limit, created in counts.items():
        at_most = settings.LIMITS[limit]
        if at_most and created >= at_most:
            raise LimitExceeded(limit, at_most)


def count_upload(requester: Requester) -> None:
    """Count a lesson that is about to be stored."""
    _take("MAX_UPLOADS_PER_DAY_PER_ADDRESS", requester.address or requester.owner, DAY)


def count_log_in(requester: Requester, name: str) -> None:
    """Count an attempt to log in, or a request for a mail. name: of the account, as it was typed."""
    _take("MAX_LOGINS_PER_MINUTE_PER_ADDRESS", requester.address, MINUTE)
    # As Django's UsernameField does it, so that no other way to write a name has a bucket of its own.
    name = unicodedata.normalize("NFKC", name).strip().casefold()
    _take("MAX_LOGINS_PER_MINUTE_PER_ACCOUNT", digest_of(name), MINUTE)


def check_codes(requester: Requester) -> None:
    """Refuse the code of a room, be it right or wrong, after too many wrong ones."""
    _take("MAX_WRONG_CODES_PER_MINUTE_PER_ADDRESS", requester.address, MINUTE, tokens_taken=0.0)


def count_wrong_code(requester: Requester) -> None:
    """Count the code of a room that does not exist."""
    _take("MAX_WRONG_CODES_PER_MINUTE_PER_ADDRESS", requester.address, MINUTE)


def _take(limit: LimitName, key: str, seconds: float = 1.0, tokens_taken: float = 1.0) -> None:
    """Take a token from the bucket of a key. seconds: the time for which the limit is stated. Nothing counts
    for an empty key."""
    at_most = settings.LIMITS[limit]
    if not key or not at_most:
        return
    burst = max(1.0, at_most * max(1.0, BURST_SECONDS / seconds))
    if wait := BUCKETS[limit].take(key, at_most / seconds, burst, tokens_taken):
        raise LimitExceeded(limit, at_most, wait)
