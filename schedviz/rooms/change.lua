-- Set fields of a room, if it exists.
--
-- KEYS  1 the room
-- ARGV  name and value of each field
-- Reply 1 = they are set, 0 = there is no such room

if redis.call('HEXISTS', KEYS[1], 'settings') == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
