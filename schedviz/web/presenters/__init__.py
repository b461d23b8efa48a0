"""Presenters: functions that make the values which templates print ("views", small frozen structs).

They render no page and write nothing to the store."""
