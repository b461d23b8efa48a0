-- Take one of a bounded number of places for a while, or extend the place that the holder has.
--
-- KEYS  sorted set: holder -> when its place expires (µs, by Redis's clock); hash: holder -> its groups, as MessagePack
-- ARGV  the request, as MessagePack: holder, duration (µs), groups ('' = all holders), at_most (of each group)
-- Reply {0, 0} the holder has a place; {number of the group that has all its places, µs until one of them expires}

local places, groups = unpack(KEYS)
local request = cmsgpack.unpack(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

for _, holder in ipairs(redis.call('ZRANGEBYSCORE', places, '-inf', now)) do
  redis.call('ZREM', places, holder)
  redis.call('HDEL', groups, holder)
end

if not redis.call('ZSCORE', places, request.holder) then
  local taken = {} -- group -> when its places expire, the first one first
  for i = 1, #request.groups do taken[i] = {} end
  local held = redis.call('ZRANGE', places, 0, -1, 'WITHSCORES')
  for i = 1, #request.groups > 0 and #held or 0, 2 do
    local of = {['']= true}
    for _, group in ipairs(cmsgpack.unpack(redis.call('HGET', groups, held[i]) or '\144')) do of[group] = true end
    for number, group in ipairs(request.groups) do
      if of[group] then table.insert(taken[number], held[i + 1]) end
    end
  end
  for number, expiries in ipairs(taken) do
    local beyond = #expiries - request.at_most[number]
    if beyond >= 0 then return {number, (expiries[beyond + 1] or now) - now} end
  end
  redis.call('HSET', groups, request.holder, cmsgpack.pack(request.groups))
end
redis.call('ZADD', places, now + request.duration, request.holder)
return {0, 0}
