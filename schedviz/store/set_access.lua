-- Set the access record of a sandbox, if it still is as the caller read it.
--
-- KEYS  state
-- ARGV  the record as it was read ("" = none), the new record
-- Reply 1 done, 0 it is another one by now, -1 there is no such sandbox

if redis.call('HEXISTS', KEYS[1], 'meta') == 0 then return -1 end
if (redis.call('HGET', KEYS[1], 'access') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'access', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'revision', 1)
return 1
