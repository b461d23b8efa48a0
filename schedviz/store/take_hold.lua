-- Take the hold of a sandbox for a while, unless a presenter has it already.
--
-- KEYS  string: creation time of the sandbox, a space, the presenter's token, a space, the user
-- ARGV  creation time of the sandbox, token and user, duration (s)
-- Reply 1 the hold is taken, 0 another presenter has it

local hold, born = KEYS[1], ARGV[1] .. ' '
local held = redis.call('GET', hold)

-- A value that begins otherwise is of an older sandbox of the same name.
if held and held:sub(1, #born) == born then return 0 end
redis.call('SET', hold, born .. ARGV[2], 'EX', ARGV[3])
return 1
