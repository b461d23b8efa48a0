"""The URLs of accounts."""

from django.contrib.auth.views import LogoutView, PasswordResetDoneView
from django.urls import path

from schedviz.accounts import views

urlpatterns = [
    path("account/", views.account, name="account"),
    path("account/log-in/", views.LogIn.as_view(), name="log-in"),
    path("account/log-out/", LogoutView.as_view(), name="log-out"),
    path("account/sign-on/", views.begin_sign_on, name="sign-on"),
    path("account/signed-on/", views.end_sign_on, name="signed-on"),
    path("account/password/", views.ChangePassword.as_view(), name="change-password"),
    path("account/reset/", views.ResetPassword.as_view(), name="reset-password"),
    path(
        "account/reset/sent/",
        PasswordResetDoneView.as_view(template_name="accounts/reset_sent.html"),
        name="reset-sent",
    ),
    path("account/reset/<slug:uidb64>/<slug:token>/", views.ChoosePassword.as_view(), name="choose-password"),
]
