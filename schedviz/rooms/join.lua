-- Add a member to a room.
--
-- KEYS  1 the room, 2 its members, 3 their names
-- ARGV  1 name, 2 the name for comparisons, 3 hash of the token, 4 time of now, 5 members at most, 6 when the keys expire (s)
-- Reply {number, name}; number 0: the room is full, -1: there is no such room

if redis.call('HEXISTS', KEYS[1], 'settings') == 0 then return {-1, ''} end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return {0, ''} end
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
for each = 2, 3 do redis.call('EXPIREAT', KEYS[each], ARGV[6]) end
return {number, name}
