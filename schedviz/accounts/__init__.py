"""Accounts, if the operator enables them: an account owns sandboxes on every machine, and has a role.

``models.py``: the account; access records have a digest of its number. ``views.py``: the pages;
``sign_on.py``: single sign-on by OpenID Connect. ``changes.py``: the changes when somebody logs in or out.
``sockets.py``: websockets end with the session. ``admin.py``: Django's admin, in which administrators give
roles. The rest of schedviz uses only :mod:`schedviz.access.account`.
"""
