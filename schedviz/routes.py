"""The table of routes: what holds for each URL. Its parts are the ``urlpatterns`` of the packages."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver, get_resolver, resolve
from django.urls.resolvers import RegexPattern, RoutePattern
from django.views.decorators.http import require_http_methods

from schedviz.access.account import Role, guests_create
from schedviz.access.rights import Right
from schedviz.limits.counts import Count
from schedviz.limits.requester import requester_of
from schedviz.store.places import Share
from simulator.apiserver.bounds import MAX_BYTES

View = Callable[..., HttpResponseBase]

SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")

PUBLIC: Final = Right.NONE
"""No right is needed: the URL is of no sandbox, or its view proves a token of its own."""
VIEW: Final = Right.VIEW
EDIT: Final = Right.EDIT
OWN: Final = Right.OWN

PAGE_BYTES: Final = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
"""Maximum body of a form."""


@dataclass(eq=False, repr=False)
class Route(URLPattern):
    """One URL. A page answers GET and HEAD requests if it has ``read``, and POST requests if it has
    ``write``."""

    path: str
    """As in Django's ``path()``; a regular expression if it begins with ``^``."""
    view: View
    name: str
    _: KW_ONLY
    read: Right | None = None
    """The right on the sandbox in the path that GET and HEAD requests need; None = they are not answered."""
    write: Right | None = None
    """The right that all other requests need; None = they are not answered."""
    changes: bool | Collection[str] | None = None
    """Whether a ``write`` changes the sandbox in the path, or its clock. A collection: only these acts do.
    While a presenter hides the answers of Predict, changes are refused (:mod:`schedviz.web.predict.hold`).
    The acts of a room's teacher end that."""
    acts: Mapping[str, Right] = field(default_factory=dict)
    """The rights that acts need, where that is not ``write``. An act is the first word of the field ``do`` of
    a POST request."""
    counts: Count | Mapping[str, Count] | None = None
    """What a POST request counts against; a mapping: only these acts count."""
    teacher: bool = False
    """Whether only the teacher of the room in the path may request it."""
    role: Role = Role.GUEST
    """The least role that is needed, where there are accounts."""
    creates: str = ""
    """The field of a POST request that names a new sandbox. Only a room may have some names."""
    copies: str = ""
    """The field of a POST request that names a sandbox which is read: ``sandbox:NAME``."""
    code: str = ""
    """The field of the query with the code of a room, if it is not in the path."""
    body_bytes: int = PAGE_BYTES
    """Maximum size of a body."""
    ends: bool = False
    """Whether a POST request ends when its client has disconnected. An act of a page is carried out whole:
    its visitor has perhaps only gone to the next page."""

    def __post_init__(self) -> None:
        if self.read is None and self.write is None:
            raise ImproperlyConfigured(f"the route {self.name} has neither read= nor write=")
        if self.write is not None and self.changes is None:
            raise ImproperlyConfigured(f"the route {self.name} has write=, and does not say changes=")
        kind = RegexPattern if self.path.startswith("^") else RoutePattern
        pattern = kind(self.path, name=self.name, is_endpoint=True)
        super().__init__(pattern, self.respond(), name=self.name)

    def respond(self) -> View:
        """Return the view with the check of the method."""
        read = ("GET", "HEAD") if self.read is not None else ()
        write = ("POST",) if self.write is not None else ()
        checked: View = require_http_methods([*read, *write])(self.view)
        return checked

    def act(self, request: HttpRequest) -> str:
        """Return the act of a request; "" = it has none, or the route makes no difference between acts."""
        differs = self.acts or isinstance(self.changes, Collection) or isinstance(self.counts, Mapping)
        if not differs or request.method != "POST":
            return ""
        return str(request.POST.get("do", "")).partition(" ")[0]

    def right(self, request: HttpRequest) -> Right:
        """Return the right that a request needs on the sandbox in the path; PUBLIC = there is none in it."""
        if self.read is not None and request.method in SAFE_METHODS:
            return self.read
        if self.write is None:
            return max(EDIT, self.read) if self.read else PUBLIC
        return self.acts.get(self.act(request), self.write)

    def is_change(self, request: HttpRequest) -> bool:
        """Whether a request changes the sandbox in the path, or those of the room in it."""
        if request.method in SAFE_METHODS or not self.changes:
            return False
        return self.changes is True or self.act(request) in self.changes

    def count(self, request: HttpRequest) -> Count | None:
        """Return what a request counts against; None = nothing."""
        if request.method != "POST":
            return None
        return self.counts.get(self.act(request)) if isinstance(self.counts, Mapping) else self.counts

    def least_role(self, request: HttpRequest) -> Role:
        """Return the least role that a request needs; GUEST = it needs no account."""
        count = self.count(request)
        needs_account = count is not None and count.creates and not guests_create()
        return max(Role.LEARNER, self.role) if needs_account else self.role


@dataclass(eq=False, repr=False)
class ApiRoute(Route):
    """A URL of an API. Its view answers all methods, and its errors are a Status."""

    body_bytes: int = MAX_BYTES
    ends: bool = True

    def respond(self) -> View:
        return self.view


@cache
def routes() -> Mapping[str, Route]:
    """Return all routes by name. Those of Django's admin are none."""
    groups = [each.url_patterns for each in get_resolver().url_patterns if isinstance(each, URLResolver)]
    return {each.name: each for group in groups for each in group if isinstance(each, Route)}


def find_route(match: ResolverMatch | None) -> Route | None:
    return None if match is None or match.namespaces else routes().get(match.url_name or "")


def route_of(request: HttpRequest) -> Route | None:
    """Return the route of a request; None = its path has none."""
    if request.resolver_match is None:
        with suppress(Resolver404):
            request.resolver_match = resolve(request.path_info)
    return find_route(request.resolver_match)


def is_of_api(request: HttpRequest) -> bool:
    """Whether the errors of a request are a Status."""
    route = route_of(request)
    return isinstance(route, ApiRoute) if route else request.path_info.startswith("/api/")


def shares_of(request: HttpRequest) -> list[Share]:
    """Return the shares of the pool of a request's route, of which the view takes a place."""
    route = route_of(request)
    count = route and route.count(request)
    return count.pool.shares(requester_of(request)) if count and count.pool else []
