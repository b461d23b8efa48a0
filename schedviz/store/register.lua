-- Enter a sandbox's name into the registry, if there is room.
--
-- KEYS  registry
-- ARGV  the name, how many there may be
-- Reply 1 it is in, 0 there is no room

if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
return redis.call('SADD', KEYS[1], ARGV[1])
