"""Accounts in Django's admin."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from schedviz.accounts.models import User


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]  # not generic when it runs
    list_display = ("username", "email", "is_superuser", "is_active", "last_login")
    list_filter = ("is_superuser", "is_active", "groups")
