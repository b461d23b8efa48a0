-- Take one of a bounded number of places for a while, or extend the place that the holder has.
--
-- In the last part of its time another holder may take a place. Where a group has all its places, the one that ends
-- first of these is taken, among those of whoever has most (a holder counts for the last of its groups).
--
-- KEYS  sorted set: holder -> when its place expires (µs, by Redis's clock); hash: holder -> its groups, as MessagePack
-- ARGV  the request, as MessagePack: holder, duration (µs), replaceable (the last µs of a place in which others may
--       take it), groups ('' = all holders, the first one), at_most (of each group)
-- Reply {0, 0, the holders whose places were taken...}: the holder has a place
--       {number of the group that has all its places, µs until one of them is free}

local places, groups = unpack(KEYS)
local request = cmsgpack.unpack(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local reply = {0, 0}

local function remove(holder)
  redis.call('ZREM', places, holder)
  redis.call('HDEL', groups, holder)
end

for _, holder in ipairs(redis.call('ZRANGEBYSCORE', places, '-inf', now)) do remove(holder) end

if not redis.call('ZSCORE', places, request.holder) then
  local held, sizes = {}, {} -- the places, the first to expire first; the last group of a holder -> its places
  local found = #request.groups > 0 and redis.call('ZRANGE', places, 0, -1, 'WITHSCORES') or {}
  for i = 1, #found, 2 do
    local place = {holder = found[i], expires = tonumber(found[i + 1]), of = {['']= true}, whose = ''}
    for _, group in ipairs(cmsgpack.unpack(redis.call('HGET', groups, found[i]) or '\144')) do
      place.of[group], place.whose = true, group
    end
    sizes[place.whose] = (sizes[place.whose] or 0) + 1
    table.insert(held, place)
  end
  -- The narrow groups are first, so that a holder's own places are taken before those of others.
  for number = #request.groups, 1, -1 do
    local taken, free = {}, {}
    for _, place in ipairs(held) do
      if place.of[request.groups[number]] and not place.replaced then
        table.insert(taken, place)
        if place.expires - request.replaceable <= now then table.insert(free, place) end
      end
    end
    local beyond = #taken + 1 - request.at_most[number]
    table.sort(free, function(a, b)
      if sizes[a.whose] ~= sizes[b.whose] then return sizes[a.whose] > sizes[b.whose] end
      return a.expires < b.expires
    end)
    if #free < beyond then
      local first = taken[beyond]
      reply = {number, first and math.max(0, first.expires - request.replaceable - now) or 0}
    end
    for i = 1, math.min(beyond, #free) do free[i].replaced = true end
  end
  if reply[1] > 0 then return reply end
  for _, place in ipairs(held) do
    if place.replaced then
      remove(place.holder)
      table.insert(reply, place.holder)
    end
  end
  redis.call('HSET', groups, request.holder, cmsgpack.pack(request.groups))
end
redis.call('ZADD', places, now + request.duration, request.holder)
return reply
