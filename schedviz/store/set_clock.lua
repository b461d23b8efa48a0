-- Set the clock of a sandbox, if it still is as the caller read it.
--
-- KEYS  state
-- ARGV  the clock as it was read ("" = any), the new clock (both JSON), the epoch of the lease that the write needs ("" = none)
-- Reply 1 done, 0 it is another one by now, -1 there is no such sandbox, -2 the lease is over

if redis.call('HEXISTS', KEYS[1], 'meta') == 0 then return -1 end
if ARGV[3] ~= '' and redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[3] then return -2 end
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'clock') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'clock', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'revision', 1)
return 1
