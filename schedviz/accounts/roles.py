"""The groups that give roles."""

from typing import Final

from django.contrib.auth.models import Group, Permission

from schedviz.access.account import TEACH

TEACHERS: Final = "teachers"


def make_groups(**_: object) -> None:
    """Make the group of teachers after the first migration. What an administrator changed in it stays."""
    group, is_new = Group.objects.get_or_create(name=TEACHERS)
    if is_new:
        app, codename = TEACH.split(".")
        group.permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
