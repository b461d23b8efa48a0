"""Comparisons that somebody asked for on the page: kept in Redis for a day, run by the processes that answer
questions."""
