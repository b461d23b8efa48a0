"""Django's settings. Every value that an operator may change comes from the environment; docs/SETTINGS.md
lists them."""

import secrets
import sys
from pathlib import Path

from platformdirs import user_data_path

from schedviz import account_settings, environment, limit_settings, redis_url
from schedviz.cores import count_cores
from schedviz.languages import find_languages
from schedviz.local_names import is_local
from schedviz.logs import is_fault, without_traceback
from schedviz.page_files import are_made
from schedviz.static_version import static_directory, static_version

BASE_DIR = Path(__file__).resolve().parent.parent
# What is beside the package in the project, and in it in a wheel (pyproject.toml).
_IN_WHEEL = Path(__file__).resolve().parent / "project_files"
FILES_DIR = _IN_WHEEL if _IN_WHEEL.is_dir() else BASE_DIR

REDIS_URL = redis_url.read()
"""The Redis of the store, the broker and the channel layer. Without this setting, `manage.py up` starts an
embedded Redis and sets it for the processes that it starts."""

REDIS_CLUSTER_URLS = redis_url.read_cluster()
"""The URLs of some nodes of the Redis Cluster that has the sandboxes; none = they are on REDIS_URL."""

# Settings of `manage.py up`.
HOST = environment.text("HOST", "127.0.0.1")
PORT = environment.number("PORT", 8000, 1, 65535)
# Each uses one core at most, and the workers need some, too. Only Linux shares the connections of a port out.
WEB_PROCESSES = environment.number(
    "WEB_PROCESSES",
    max(1, count_cores() // 2) if sys.platform == "linux" else 1,
    1,
    64,
    shown="one for each two cores",
)
# Two: when one ends the other leads its sandboxes, and a small machine has two cores.
WORKERS = environment.number("WORKERS", 2, 1, 64)
# The maxmemory of the embedded Redis and of the one in containers. At this limit Redis refuses writes, and
# pages say so; without a limit the kernel would kill a process when the machine has no memory left. 200
# sandboxes with full archives (bounds.py) need 1.6 GB, and a start reads 2 GB in time (embedded_redis.py).
REDIS_MEMORY_MB = environment.number("REDIS_MEMORY_MB", 2048, 64, 1_000_000)
EXTENDER_HOSTS = environment.comma_separated("EXTENDER_HOSTS", "")
DATA_DIR = environment.directory("DATA_DIR", user_data_path("schedviz"), "the user's data directory")
# The lessons of an operator's own: a folder of each (docs/LESSONS.md).
LESSONS_DIR = environment.optional_directory("LESSONS_DIR")
# Who may read /metrics: without a token only programs on the same machine.
METRICS_TOKEN = environment.secret("METRICS_TOKEN", least=16)

ALLOWED_HOSTS = environment.comma_separated("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
# Whether the terminal shows a class the way here; `schedviz workshop` sets it.
WORKSHOP = environment.switch("WORKSHOP")
# Whether people log in. Without accounts nothing of them is loaded, and no database is needed.
ACCOUNTS = environment.switch("ACCOUNTS")
# Whether only programs of this machine reach the server: a proxy on it would ask for another name.
ON_LOOPBACK = all(is_local(host) for host in (HOST, *ALLOWED_HOSTS))
# Who may use a sandbox: everybody who reaches the server, or its owner and those with a link.
ACCESS = environment.choice(
    "ACCESS",
    "open" if ON_LOOPBACK and not ACCOUNTS else "owners",
    ("open", "owners"),
    shown="open on loopback, otherwise owners",
)
if ACCOUNTS and ACCESS == "open":
    raise SystemExit("schedviz: ACCESS must be owners where ACCOUNTS is 1")
# The contexts of the kubeconfig of `manage.py up` that pages may connect; "*" = all. Where others reach the
# server, they would see the cluster of whoever started it.
MIRROR_CONTEXTS = environment.comma_separated(
    "MIRROR_CONTEXTS",
    "*" if ON_LOOPBACK and ACCESS == "open" else "",
    shown="all on loopback without owners, otherwise none",
)

DEBUG = False
# Where everybody may do everything, nothing that this key signs must survive a restart: a random key is the
# safe default. The cookies of owners must survive it. Several web processes must have the same key.
SECRET_KEY = environment.secret("SECRET_KEY", least=32)
HAS_SECRET_KEY = bool(SECRET_KEY)
SECRET_KEY = SECRET_KEY or secrets.token_urlsafe(50)
# Keys that signed before: their signatures are valid, and are replaced.
SECRET_KEY_FALLBACKS = environment.comma_separated("SECRET_KEY_FALLBACKS", "")
CSRF_TRUSTED_ORIGINS = environment.origins("CSRF_TRUSTED_ORIGINS")

LIMITS = limit_settings.limits_for_one_user() if ON_LOOPBACK and ACCESS == "open" else limit_settings.LIMITS
# Sandboxes that nobody has used for so long are deleted; 0 = none is.
SANDBOX_LIFETIME_HOURS = environment.number("SANDBOX_LIFETIME_HOURS", 0, 0, 100_000)
# The header to which proxies add the address of who asked them, and how many proxies of one's own there are.
PROXY_ADDRESS_HEADER = environment.header("PROXY_ADDRESS_HEADER")
PROXIES = environment.number("PROXIES", 1, 1, 10)

# Where a proxy serves the pages by HTTPS. Without HTTPS, a browser would not send secure cookies.
HTTPS = environment.switch("HTTPS")
SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
# A month: a certificate that fails shuts people out for so long.
HSTS_SECONDS = environment.number("HSTS_SECONDS", 2_592_000, 0, 99_999_999)
SECURE_HSTS_SECONDS = HSTS_SECONDS if HTTPS else 0
# A site may share its domain with others: its proxy says what is true of them all.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# A header that the proxy always sets or removes; a client could write it otherwise.
PROXY_SSL_HEADER = environment.header("PROXY_SSL_HEADER")
SECURE_PROXY_SSL_HEADER = (PROXY_SSL_HEADER, "https") if PROXY_SSL_HEADER else None

INSTALLED_APPS = [
    "channels",
    "django.contrib.staticfiles",
    "django_htmx",
    "schedviz.loop",
    "schedviz.up",
    "schedviz.api",
    "schedviz.lessons",
    "schedviz.live",
    "schedviz.web",
]

MIDDLEWARE = [
    "schedviz.operate.request_context.RequestContext",
    "schedviz.operate.request_meter.RequestMeter",
    "schedviz.web.security_headers.SecurityHeaders",
    "schedviz.operate.monitoring.Monitoring",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "schedviz.web.compression.CompressedPages",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "schedviz.web.limits.Limits",
    "schedviz.web.limits.RequestWork",
    "schedviz.web.middleware.BodyTooLarge",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "schedviz.web.middleware.RedisTrouble",
    "schedviz.web.access.Access",
    "schedviz.web.limits.ActionLimits",
    "schedviz.web.lifetime.NoteUse",
    "schedviz.web.middleware.SandboxUnreadable",
    "schedviz.web.middleware.TooOld",
    "schedviz.web.page.live_page.PanelsInPage",
]

if WORKSHOP:
    MIDDLEWARE.insert(0, "schedviz.operate.other_devices.NoteOtherDevices")

ROOT_URLCONF = "schedviz.urls"
ASGI_APPLICATION = "schedviz.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES_DIR / "templates"],
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", ["schedviz.web.template_loader.Loader"])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
            ],
        },
    },
]

# Parts of the page that depend only on the language and the sandbox: two for each of both. They are kept in
# the memory of the process, as templates and translations are read when it starts.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 1000},  # 2 kB each
    }
}

# All state of sandboxes is in Redis. Django's ORM is used for accounts only.
DATABASES: dict[str, object] = {}

DATABASE_URL = account_settings.DATABASE_URL
GUESTS = account_settings.GUESTS
OIDC_ISSUER = account_settings.OIDC_ISSUER
OIDC_CLIENT_ID = account_settings.OIDC_CLIENT_ID
OIDC_CLIENT_SECRET = account_settings.OIDC_CLIENT_SECRET
OIDC_NAME = account_settings.OIDC_NAME
OIDC_ROLE = account_settings.OIDC_ROLE
EMAIL_HOST = account_settings.EMAIL_HOST
EMAIL_PORT = account_settings.EMAIL_PORT
EMAIL_HOST_USER = account_settings.EMAIL_HOST_USER
EMAIL_HOST_PASSWORD = account_settings.EMAIL_HOST_PASSWORD
EMAIL_USE_TLS = account_settings.EMAIL_SECURITY == "starttls"
EMAIL_USE_SSL = account_settings.EMAIL_SECURITY == "tls"
DEFAULT_FROM_EMAIL = account_settings.DEFAULT_FROM_EMAIL
# A mail is sent while somebody waits.
EMAIL_TIMEOUT = 10

if ACCOUNTS:
    account_settings.check()
    INSTALLED_APPS = [*account_settings.APPS, *INSTALLED_APPS]
    # Before the limits, which count for each account.
    _place = MIDDLEWARE.index("schedviz.web.limits.Limits")
    MIDDLEWARE = [*MIDDLEWARE[:_place], *account_settings.MIDDLEWARE, *MIDDLEWARE[_place:]]
    _options: dict[str, list[object]] = TEMPLATES[0]["OPTIONS"]  # type: ignore[assignment]
    _options["context_processors"] += account_settings.CONTEXT_PROCESSORS
    # The admin's templates are in its package.
    _options["loaders"][0][1].append("django.template.loaders.app_directories.Loader")  # type: ignore[index]
    DATABASES = {"default": account_settings.read_database(DATA_DIR)}
    AUTH_USER_MODEL = "accounts.User"
    AUTH_PASSWORD_VALIDATORS = account_settings.PASSWORD_VALIDATORS
    LOGIN_URL = "log-in"
    LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "home"

CHANNEL_LAYERS = {
    "default": {
        # Pub/sub may lose a doorbell, which does no harm (schedviz/loop/doorbell.py), but takes 0.2 ms per
        # message; the core layer takes 5 ms.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, **redis_url.socket_options(REDIS_URL)}],
            "prefix": "schedviz:layer",
        },
    },
}

LANGUAGE_CODE = "en"
LANGUAGES = find_languages(FILES_DIR / "locale")
LOCALE_PATHS = [FILES_DIR / "locale"]
# The Accept-Language header counts unless the user chose a language; the cookie keeps the choice for a year.
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATICFILES_DIRS = [FILES_DIR / "static"]
_packages = ["django_htmx", *(["django.contrib.admin"] if ACCOUNTS else [])]
STATIC_URL = f"static/{static_version([*STATICFILES_DIRS, *map(static_directory, _packages)])}/"
# Whether pages load static/made/ or its sources, after a change of these.
STATIC_FILES_ARE_MADE = are_made(FILES_DIR / "static")
# WhiteNoise serves the files from the apps' directories, so that collectstatic is not needed.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
# Their URLs contain their version.
WHITENOISE_IMMUTABLE_FILE_TEST = ".*"

OTEL_EXPORTER_OTLP_ENDPOINT = environment.text("OTEL_EXPORTER_OTLP_ENDPOINT", "")
LOG_FORMAT = environment.choice("LOG_FORMAT", "text", ("text", "json"), "text")
LOG_LEVEL = environment.choice(
    "LOG_LEVEL", "WARNING", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), "WARNING"
)

# All is logged to the terminal. A response of 404, or of 503 while Redis starts, is not an error.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "faults": {"()": "django.utils.log.CallbackFilter", "callback": is_fault},
        "without_traceback": {
            "()": "django.utils.log.CallbackFilter",
            "callback": without_traceback,
        },
        "repeated": {"()": "schedviz.logs.Repeated"},
        "context": {"()": "schedviz.log_context.AddContext"},
    },
    "formatters": {
        "text": {"()": "schedviz.log_formats.TextFormatter"},
        "json": {"()": "schedviz.log_formats.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["without_traceback", "context"],
        },
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"filters": ["faults"]},
        # Django's own configuration gives it a handler for the development server.
        "django.server": {"handlers": [], "propagate": True},
        # uvicorn's own configuration comes before this one, and this one resets the levels of its loggers.
        "uvicorn": {"handlers": [], "propagate": True, "level": LOG_LEVEL},
        # The addresses of links contain their tokens.
        "uvicorn.access": {"handlers": [], "propagate": False},
        # Two lines for each slice.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.consumer.consumer": {"filters": ["repeated"]},
    },
}

# Bytes of a form without its files: half a megabyte of text (the manifests of a comparison), in which one
# character takes up to nine bytes when it is URL-encoded. schedviz/body_limit.py applies it to whole
# requests.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 << 20

environment.refuse_misspelled()
