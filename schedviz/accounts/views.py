"""The pages of accounts: log in and out, the own account, and passwords."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

from schedviz.access.account import role_of
from schedviz.accounts import sign_on

NEXT = "sign_on_next"
"""The page to which the session returns from the provider of single sign-on."""


class LogIn(auth.LoginView):
    template_name = "accounts/log_in.html"

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        name = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return super().get_context_data(**given, provider=name)


class ChangePassword(auth.PasswordChangeView):
    template_name = "accounts/change_password.html"
    success_url = reverse_lazy("account")


class ResetPassword(auth.PasswordResetView):
    """Sends a mail with a link. The response is the same for addresses that no account has."""

    template_name = "accounts/reset_password.html"
    email_template_name = "accounts/reset_mail.txt"
    subject_template_name = "accounts/reset_subject.txt"
    success_url = reverse_lazy("reset-sent")

    def dispatch(self, request: HttpRequest, *args: Any, **named: Any) -> Any:
        if not settings.EMAIL_HOST:
            raise Http404
        return super().dispatch(request, *args, **named)


class ChoosePassword(auth.PasswordResetConfirmView):
    template_name = "accounts/choose_password.html"
    success_url = reverse_lazy("log-in")


def account(request: HttpRequest) -> HttpResponse:
    """Render the page of the visitor's account."""
    return render(request, "accounts/account.html", {"role": role_of(request).name.lower()})


def begin_sign_on(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider of single sign-on. Query parameter ``next``: the page to return to."""
    if not settings.OIDC_ISSUER:
        raise Http404
    request.session[NEXT] = request.GET.get("next", "")
    answer: HttpResponse
    try:
        answer = sign_on.provider().authorize_redirect(
            request, request.build_absolute_uri(reverse("signed-on"))
        )
    except sign_on.failures() as error:
        return _failed(request, error)
    return answer


def end_sign_on(request: HttpRequest) -> HttpResponse:
    """Return from the provider, and log in."""
    if not settings.OIDC_ISSUER:
        raise Http404
    try:
        claims = sign_on.read_claims(request)
    except sign_on.failures() as error:
        return _failed(request, error)
    user = sign_on.find_user(claims)
    if not user.is_active:
        return _failed(request, None)
    target = str(request.session.pop(NEXT, ""))
    login(request, user, "django.contrib.auth.backends.ModelBackend")
    is_own = url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure())
    return redirect(target if is_own else "home")


def _failed(request: HttpRequest, error: Exception | None) -> HttpResponse:
    """Render the page to log in, with what went wrong."""
    sign_on.log.warning("single sign-on: %s", error or "the account is not active")
    text = gettext("%(provider)s did not log you in. Try again.") % {"provider": settings.OIDC_NAME}
    return render(request, "accounts/not_signed_on.html", {"text": text}, status=403)
