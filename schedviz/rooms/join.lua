-- Add a member to a room.
--
-- KEYS  1 the room, 2 its members, 3 their names, 4 hash: address -> its joins
-- ARGV  1 name, 2 the name for comparisons, 3 hash of the token, 4 time of now, 5 members at most, 6 when the keys expire (s),
--       7 address ('' = it does not count), 8 joins of one address at most
-- Reply {number, name}; number 0: the room is full, -1: there is no such room, -2: the address has joined too often

if redis.call('HEXISTS', KEYS[1], 'settings') == 0 then return {-1, ''} end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return {0, ''} end
if ARGV[7] ~= '' then
  if tonumber(redis.call('HGET', KEYS[4], ARGV[7]) or 0) >= tonumber(ARGV[8]) then return {-2, ''} end
  redis.call('HINCRBY', KEYS[4], ARGV[7], 1)
end
-- The first number that is free: the teacher may have removed members.
local number = 1
while redis.call('HEXISTS', KEYS[2], number) == 1 do number = number + 1 end
local name, folded, count = ARGV[1], ARGV[2], 1
while redis.call('HSETNX', KEYS[3], folded, number) == 0 do
  count = count + 1
  name, folded = ARGV[1] .. ' ' .. count, ARGV[2] .. ' ' .. count
end
local member = {number = number, name = name, token = ARGV[3], joined = tonumber(ARGV[4])}
redis.call('HSET', KEYS[2], number, cjson.encode(member))
for each = 2, 4 do redis.call('EXPIREAT', KEYS[each], ARGV[6]) end
return {number, name}
