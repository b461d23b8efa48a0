"""The account of a person."""

import secrets
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models

from schedviz.access.record import digest_of


def new_number() -> str:
    return secrets.token_urlsafe(18)


class User(AbstractUser):
    """Django's user, with a number of its own. Superusers are administrators; those with the permission
    ``teach`` are teachers; the others are learners."""

    number = models.CharField(max_length=40, unique=True, default=new_number, editable=False)
    """The number of the account. It is random, so that no account gets the sandboxes of another one when a
    database is created again."""
    subject = models.CharField(max_length=500, unique=True, null=True, editable=False)  # noqa: DJ001 (unique)
    """The issuer and the subject of single sign-on; None = the account has a password instead."""

    class Meta(AbstractUser.Meta):
        permissions = [("teach", "Can open rooms and upload lessons")]

    def save(self, *args: Any, **options: Any) -> None:
        """Save the account. Only administrators may use the admin."""
        self.is_staff = self.is_superuser
        super().save(*args, **options)

    @property
    def owner(self) -> str:
        """The owner's name in access records."""
        return digest_of(self.number)
