"""ListOptions: the query parameters of a list or watch request.

Upstream: apimachinery/pkg/apis/meta/internalversion (types.go, defaults.go, validation/validation.go), v1.34.
"""

from typing import Self

import msgspec

from simulator.apiserver.query import Query, boolean_parameter, integer_parameter
from simulator.apiserver.status import Cause, Invalid, forbidden, not_supported

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"


class ListOptions(msgspec.Struct, frozen=True):
    label_selector: str = ""
    field_selector: str = ""
    watch: bool = False
    allow_watch_bookmarks: bool = False
    resource_version: str = ""
    resource_version_match: str = ""
    timeout_seconds: int | None = None
    limit: int = 0
    """Maximum number of objects in a page; 0 = no limit."""
    continue_token: str = ""
    send_initial_events: bool | None = None

    @classmethod
    def of(cls, query: Query) -> Self:
        """Parse the options of a request, and set their defaults. Raises BadRequest or Invalid."""
        options = cls(
            label_selector=query.get("labelSelector", ""),
            field_selector=query.get("fieldSelector", ""),
            watch=boolean_parameter(query, "watch"),
            allow_watch_bookmarks=boolean_parameter(query, "allowWatchBookmarks"),
            resource_version=query.get("resourceVersion", ""),
            resource_version_match=query.get("resourceVersionMatch", ""),
            timeout_seconds=integer_parameter(query, "timeoutSeconds"),
            limit=max(0, integer_parameter(query, "limit") or 0),
            continue_token=query.get("continue", ""),
            send_initial_events=boolean_parameter(query, "sendInitialEvents")
            if "sendInitialEvents" in query
            else None,
        )
        options = options.with_defaults()
        causes = options.faults()
        if causes:
            raise Invalid("ListOptions", "meta.k8s.io", "", causes)
        return options

    def with_defaults(self) -> Self:
        """Set the defaults: a watch without a resourceVersion begins with the existing objects, like one with
        sendInitialEvents (SetListOptionsDefaults)."""
        asked = self.send_initial_events is not None or self.resource_version_match
        if not self.watch or asked or self.resource_version not in ("", "0"):
            return self
        return msgspec.structs.replace(self, send_initial_events=True, resource_version_match=NOT_OLDER_THAN)

    def faults(self) -> list[Cause]:
        field, match = "resourceVersionMatch", self.resource_version_match
        causes = []
        if self.watch:
            if self.send_initial_events is not None and match != NOT_OLDER_THAN:
                detail = f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}"
                causes.append(forbidden(field, detail))
            if match and self.send_initial_events is None:
                detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
                causes.append(forbidden(field, detail))
            if match not in ("", NOT_OLDER_THAN):
                causes.append(not_supported(field, match, [NOT_OLDER_THAN]))
        else:
            if match and not self.resource_version:
                detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
                causes.append(forbidden(field, detail))
            if match not in ("", EXACT, NOT_OLDER_THAN):
                causes.append(not_supported(field, match, [EXACT, NOT_OLDER_THAN, ""], as_given=True))
            if match == EXACT and self.resource_version == "0":
                detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
                causes.append(forbidden(field, detail))
            if self.send_initial_events is not None:
                causes.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
        if match and self.continue_token:
            detail = "resourceVersionMatch is forbidden when continue is provided"
            causes.append(forbidden(field, detail))
        return causes
