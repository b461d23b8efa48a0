-- Take, renew or release the lease of a sandbox, or break the watch of its holder, by compare-and-swap.
-- To take or to release it is a new revision of the sandbox. To renew it is not: no reader shows that.
--
-- KEYS  state
-- ARGV  what ("take", "renew", "release", "break"), the epoch of the lease as the caller read it ("" = there was none),
--       the holder
-- Reply {epoch, wall seconds, acquired, clock, version, breaks}, or an empty list: the lease is another one by now, or there is no such sandbox

local state = KEYS[1]
local what, known, holder = unpack(ARGV)
local time = redis.call('TIME')
local wall = string.format('%d.%06d', time[1], time[2])
if redis.call('HEXISTS', state, 'meta') == 0 then return {} end
local held = redis.call('HEXISTS', state, 'holder') == 1
local epoch = tonumber(redis.call('HGET', state, 'epoch') or '0')
if held then
  if epoch ~= tonumber(known) then return {} end
elseif known ~= '' then
  return {}
end

if what == 'take' then
  epoch = epoch + 1
  redis.call('HSET', state, 'epoch', epoch, 'holder', holder, 'acquired', wall, 'renewed', wall, 'breaks', 0)
  redis.call('HINCRBY', state, 'revision', 1)
elseif what == 'renew' then
  redis.call('HSET', state, 'renewed', wall)
elseif what == 'break' then
  redis.call('HINCRBY', state, 'breaks', 1)
else
  redis.call('HDEL', state, 'holder', 'acquired', 'renewed')
  redis.call('HINCRBY', state, 'revision', 1)
end
return {epoch, wall, unpack(redis.call('HMGET', state, 'acquired', 'clock', 'version', 'breaks'))}
