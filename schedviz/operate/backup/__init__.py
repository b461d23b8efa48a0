"""``manage.py backup`` and ``manage.py restore``: everything that is stored, as a file."""
