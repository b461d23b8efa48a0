-- Note that the loop of a sandbox failed, or that it runs again.
--
-- KEYS  state
-- ARGV  the failure (JSON), "" = it runs; the epoch of the lease that the write needs ("" = none)
-- Reply 1 done, 0 it was noted already, -1 there is no such sandbox, -2 the lease is over

local state = KEYS[1]
if redis.call('HEXISTS', state, 'meta') == 0 then return -1 end
if ARGV[2] ~= '' and redis.call('HGET', state, 'epoch') ~= ARGV[2] then return -2 end
if (redis.call('HGET', state, 'failure') or '') == ARGV[1] then return 0 end
if ARGV[1] == '' then
  redis.call('HDEL', state, 'failure')
else
  redis.call('HSET', state, 'failure', ARGV[1])
end
redis.call('HINCRBY', state, 'revision', 1)
return 1
