"""``manage.py doctor``: says what is wrong with a server, and what to do. A check is a function that returns
findings; nothing is changed."""
