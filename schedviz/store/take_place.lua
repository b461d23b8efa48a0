-- Take one of a bounded number of places for a while, or keep one for longer.
--
-- KEYS  sorted set: who has a place, by when it is given up (µs, by Redis's clock)
-- ARGV  who, for how long (µs), how many places there are
-- Reply 1 it has a place until then, 0 all are taken

local places, who = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

redis.call('ZREMRANGEBYSCORE', places, '-inf', now)
if not redis.call('ZSCORE', places, who) and redis.call('ZCARD', places) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', places, now + ARGV[2], who)
return 1
