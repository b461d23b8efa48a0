"""Django's settings. Every value that an operator may change comes from the environment; docs/SETTINGS.md
lists them."""

import secrets
from pathlib import Path

from platformdirs import user_data_path

from schedviz import environment

BASE_DIR = Path(__file__).resolve().parent.parent

REDIS_URL = environment.matching(
    "REDIS_URL",
    "redis://127.0.0.1:6379/0",
    r"(rediss?|unix)://.+",
    "a URL such as redis://127.0.0.1:6379/0",
)
"""The store, the broker and the channel layer. `manage.py up` sets it for its children to its embedded Redis,
unless it was given."""

# What `manage.py up` starts.
HOST = environment.text("HOST", "127.0.0.1")
PORT = environment.number("PORT", 8000, 1, 65535)
# Two: when one dies the other takes over at once, and the machine of a workshop has two cores.
WORKERS = environment.number("WORKERS", 2, 1, 64)
EXTENDER_HOSTS = environment.words("EXTENDER_HOSTS", "")
DATA_DIR = environment.directory("DATA_DIR", user_data_path("schedviz"), "the user's data directory")

DEBUG = False
# Nothing outlives a restart that this key signs (there are no logins): a fresh one each start is the safe
# default. Several web processes must share one.
SECRET_KEY = environment.text("SECRET_KEY", "") or secrets.token_urlsafe(50)
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS", "")

INSTALLED_APPS = [
    "channels",
    "django.contrib.staticfiles",
    "django_htmx",
    "schedviz.loop",
    "schedviz.up",
    "schedviz.api",
    "schedviz.live",
    "schedviz.web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "schedviz.web.middleware.ContentSecurityPolicy",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "schedviz.web.middleware.RedisAway",
    "schedviz.web.middleware.TooOld",
]

ROOT_URLCONF = "schedviz.urls"
ASGI_APPLICATION = "schedviz.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
            ],
        },
    },
]

# All state is in Redis; Django's ORM is not used.
DATABASES: dict[str, object] = {}

CHANNEL_LAYERS = {
    "default": {
        # Pub/sub: a doorbell may be lost (the streams in the store are the truth), but it rings in 0.2 ms,
        # not 5.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "schedviz:layer"},
    },
}

LANGUAGE_CODE = "en"
# By the names that stand on the button: the top bar has little room.
LANGUAGES = [("en", "EN"), ("zh-hans", "中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
# The browser's language is asked for, unless somebody chose one: a choice is remembered for a year.
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# No collect step before the first start: whitenoise serves each app's files from where they lie.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

# Faults are said on the terminal. That an answer was 404, or 503 while all starts, is no fault.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "faults": {"()": "django.utils.log.CallbackFilter", "callback": lambda record: bool(record.exc_info)},
    },
    "formatters": {"plain": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"django.request": {"filters": ["faults"]}},
}

# A manifest may hold many documents; the guard in simulator.apiserver turns larger input away with its own
# message.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
