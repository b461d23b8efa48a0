-- Take one of a bounded number of places for a while, or extend the place that the holder has.
--
-- KEYS  sorted set: holder -> when its place expires (µs, by Redis's clock)
-- ARGV  holder, duration (µs), number of places
-- Reply 1 the holder has a place, 0 all places are taken

local places, holder = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

redis.call('ZREMRANGEBYSCORE', places, '-inf', now)
if not redis.call('ZSCORE', places, holder) and redis.call('ZCARD', places) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', places, now + ARGV[2], holder)
return 1
