"""Refusals of a request for its path, its method, its media types, or the version that it asks for."""

from simulator.api import Manifest
from simulator.apiserver.status import Cause, StatusError


class NoSuchPath(StatusError):
    """The request's path does not belong to any resource."""

    code, reason, has_details = 404, "NotFound", True

    def __init__(self, message: str = "the server could not find the requested resource") -> None:
        super().__init__(message)


class NoSuchGroup(NoSuchPath):
    """The request's path is that of an API group that is not served. The response is a text, no Status."""

    text = "404 page not found\n"


class MethodNotAllowed(StatusError):
    code, reason, has_details = 405, "MethodNotAllowed", True

    def __init__(self) -> None:
        super().__init__("the server does not allow this method on the requested resource")


class NotAllowedWhileTerminating(StatusError):
    """The definition of the object that is to be created is being deleted."""

    code, reason = 405, "MethodNotAllowed"

    def __init__(self, resource: str) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(
            "create not allowed while custom resource definition is terminating", kind=plural, group=group
        )


class NotAcceptable(StatusError):
    """The response is not available in any media type of the request's Accept header."""

    code, reason = 406, "NotAcceptable"


class Expired(StatusError):
    """The requested resourceVersion, or the changes since it, are no longer available: the client must list
    again."""

    code, reason = 410, "Expired"


class ContinueExpired(Expired):
    """The resourceVersion of a list's first page is no longer available. ``token`` continues the list with
    the current objects (handleCompactedErrorForPaging in apiserver/pkg/storage/etcd3/errors.go)."""

    def __init__(self, token: str) -> None:
        super().__init__(
            "The provided continue parameter is too old to display a consistent list result. You can start a "
            "new list without the continue parameter, or use the continue token in this response to retrieve "
            "the remainder of the results. Continuing with the provided token results in an inconsistent "
            "list - objects that were created, modified, or deleted between the time the first chunk was "
            "returned and now may show up in the list."
        )
        self.token = token

    def status(self) -> Manifest:
        return {**super().status(), "metadata": {"continue": self.token}}


class TooLarge(StatusError):
    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(StatusError):
    code, reason = 415, "UnsupportedMediaType"


class UnsupportedPatchType(StatusError):
    """A PATCH with a content type that is none of a patch, as the router of kube-apiserver answers it."""

    code, reason = 415, "UnsupportedMediaType"
    has_details = True

    def __init__(self) -> None:
        super().__init__("415: Unsupported Media Type")


class UnprocessablePatch(StatusError):
    """A patch that does not apply to the object. ``detail`` is not in the Status
    (NewGenericServerResponse in apimachinery/pkg/api/errors/errors.go)."""

    code, reason = 422, "Invalid"
    has_details = True

    def __init__(self, detail: str) -> None:
        super().__init__("the server rejected our request due to an error in our request")
        self.detail = detail


class VersionTooLarge(StatusError):
    """The requested resourceVersion is larger than the current one, perhaps that of another store
    (NewTooLargeResourceVersionError in apiserver/pkg/storage/errors.go)."""

    code, reason, retry_after_seconds = 504, "Timeout", 1

    def __init__(self, version: int, current: int) -> None:
        cause = Cause("", "Too large resource version", "ResourceVersionTooLarge")
        super().__init__(
            f"Timeout: Too large resource version: {version}, current: {current}", causes=[cause]
        )
