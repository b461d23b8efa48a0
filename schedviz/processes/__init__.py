"""What the Celery processes of all roles have in common: the role, heartbeats, a queue of their own, and the
check that they take messages. What starts a process again when it ends is outside: ``manage.py up``, or the
container engine."""
