-- Delete a sandbox. Its counters are kept for a while: a new sandbox of the same name continues them.
--
-- KEYS  state, versions, log, trace, decisions, lanes, journal, moves, chapters, pages, then the objects hash of each resource the caller knows of
-- ARGV  seconds to keep the counters
-- Reply {1, its access record} deleted, {0} there is none, {-1} there are resources that the caller did not name: it must read them and call again

local state, versions = KEYS[1], KEYS[2]
if redis.call('HEXISTS', state, 'meta') == 0 then return {0} end
if redis.call('HLEN', versions) ~= #KEYS - 10 then return {-1} end

local access = redis.call('HGET', state, 'access') or ''
local kept = redis.call('HMGET', state, 'version', 'seq', 'epoch', 'move', 'revision')
for _, key in ipairs(KEYS) do redis.call('UNLINK', key) end
redis.call('HSET', state, 'version', kept[1] or 0, 'seq', kept[2] or 0, 'epoch', (kept[3] or 0) + 1,
  'move', kept[4] or 0, 'revision', (kept[5] or 0) + 1)
redis.call('EXPIRE', state, ARGV[1])
return {1, access}
