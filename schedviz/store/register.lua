-- Add the name of a sandbox to the registry, unless it is full.
--
-- KEYS  registry
-- ARGV  the name, the maximum number of names
-- Reply 1 the registry has it, 0 the registry is full

if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
return redis.call('SADD', KEYS[1], ARGV[1])
