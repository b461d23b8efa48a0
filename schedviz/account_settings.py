"""The settings of accounts: their database, mail, single sign-on, and what Django needs for them. They count
only where ACCOUNTS is on."""

from pathlib import Path
from typing import Any, Final

from schedviz import environment

DATABASE_URL = environment.secret("DATABASE_URL")
# The URL has a password, so the message does not repeat it.
_WRONG_DATABASE: Final = (
    "schedviz: DATABASE_URL must be postgres://USER:PASSWORD@HOST/NAME or sqlite:////PATH"
)
if DATABASE_URL and not DATABASE_URL.startswith(("postgres://", "postgresql://", "sqlite:///")):
    raise SystemExit(_WRONG_DATABASE)
# What visitors without an account may do: create sandboxes, or only join rooms.
GUESTS = environment.choice("GUESTS", "join", ("create", "join"), "join")

# Without EMAIL_HOST nobody can reset a password by mail.
EMAIL_HOST = environment.text("EMAIL_HOST", "")
EMAIL_PORT = environment.number("EMAIL_PORT", 587, 1, 65535)
EMAIL_HOST_USER = environment.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = environment.secret("EMAIL_HOST_PASSWORD")
EMAIL_SECURITY = environment.choice("EMAIL_SECURITY", "starttls", ("starttls", "tls", "none"), "starttls")
DEFAULT_FROM_EMAIL = environment.text("DEFAULT_FROM_EMAIL", "schedviz@localhost")

# Without OIDC_ISSUER there is no single sign-on.
OIDC_ISSUER = environment.text("OIDC_ISSUER", "").rstrip("/")
OIDC_CLIENT_ID = environment.text("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = environment.secret("OIDC_CLIENT_SECRET")
OIDC_NAME = environment.text("OIDC_NAME", "single sign-on")
OIDC_ROLE = environment.choice("OIDC_ROLE", "learner", ("learner", "teacher"), "learner")

APPS: Final = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "schedviz.accounts",
]
MIDDLEWARE: Final = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "schedviz.accounts.middleware.DatabaseTrouble",
    "django.contrib.messages.middleware.MessageMiddleware",
]
CONTEXT_PROCESSORS: Final = [
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
    "schedviz.accounts.context.add_account",
]
PASSWORD_VALIDATORS: Final = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ENGINES: Final = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
"""The databases with which accounts are tested. Django has more, whose packages are not installed."""
KEPT_SECONDS: Final = 60
"""Seconds for which a process keeps an unused connection to the database."""


def read_database(directory: Path) -> dict[str, Any]:
    """Return the database of DATABASE_URL; without one, a file of SQLite in the directory."""
    # Imported here: a server without accounts needs none of it.
    import dj_database_url  # noqa: PLC0415

    url = DATABASE_URL or f"sqlite:///{directory / 'accounts.sqlite3'}"
    try:
        found: dict[str, Any] = dict(
            dj_database_url.parse(url, conn_max_age=KEPT_SECONDS, conn_health_checks=True)
        )
    except ValueError:
        found = {}
    if found.get("ENGINE") not in ENGINES:
        raise SystemExit(_WRONG_DATABASE)
    if found["ENGINE"] == "django.db.backends.sqlite3":
        # Readers do not wait for a writer, and a writer waits for another one.
        found["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL;"}
    return found


def check() -> None:
    """Check the settings of single sign-on. Raises SystemExit if only some of them are set."""
    if OIDC_ISSUER and not (OIDC_CLIENT_ID and OIDC_CLIENT_SECRET):
        raise SystemExit("schedviz: OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET")
