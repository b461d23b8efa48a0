"""What Celery processes of every kind have in common, workers and thinkers: heartbeats, a queue of their own,
and the guard of the consumer of their messages."""
