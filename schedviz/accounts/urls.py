"""The URLs of accounts."""

from typing import Final

from django.contrib.auth.views import LogoutView, PasswordResetDoneView

from schedviz.access.account import Role
from schedviz.accounts import views
from schedviz.limits.counts import log_in_by
from schedviz.routes import PUBLIC, Route

urlpatterns: Final = [
    Route("account/", views.account, "account", read=PUBLIC, role=Role.LEARNER),
    Route(
        "account/log-in/",
        views.LogIn.as_view(),
        "log-in",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=log_in_by("username"),
    ),
    Route("account/log-out/", LogoutView.as_view(), "log-out", write=PUBLIC, changes=False),
    # Where one is sent from the provider of single sign-on, which proves who it is.
    Route("account/sign-on/", views.begin_sign_on, "sign-on", read=PUBLIC),
    Route("account/signed-on/", views.end_sign_on, "signed-on", read=PUBLIC),
    Route(
        "account/password/",
        views.ChangePassword.as_view(),
        "change-password",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        role=Role.LEARNER,
    ),
    Route(
        "account/reset/",
        views.ResetPassword.as_view(),
        "reset-password",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=log_in_by("email"),
    ),
    Route(
        "account/reset/sent/",
        PasswordResetDoneView.as_view(template_name="accounts/reset_sent.html"),
        "reset-sent",
        read=PUBLIC,
    ),
    # The mail's address has a token.
    Route(
        "account/reset/<slug:uidb64>/<slug:token>/",
        views.ChoosePassword.as_view(),
        "choose-password",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
    ),
]
