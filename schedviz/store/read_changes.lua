-- Read the changes of a sandbox since a reader's position, as of one revision.
--
-- KEYS  state, log, trace, decisions, lanes, moves, hold
-- ARGV  the reader's position, as MessagePack:
--         {revision, version, seq, move, cycle}, and the bounds {log, trace, moves}: the largest number of entries that are read as changes
-- Reply as MessagePack: {outcome, wall, hold (absent = none)} and, by the outcome:
--         "same"     nothing was written
--         "gone"     there is no such sandbox
--         "anew"     the changes do not follow the position (trimmed, created anew, or the store lost its last second), or are more than the bound
--         "changes"  the new position and the changes. The clock, the lease and the other single values are as they are now;
--                    an absent value is not set. trace begins later than the position where it was trimmed, or where there is more than the bound.

local state, log, trace, decisions, lanes, moves, hold = unpack(KEYS)
local known = cmsgpack.unpack(ARGV[1])
local time = redis.call('TIME')
local wall = string.format('%d.%06d', time[1], time[2])
local held = redis.call('GET', hold) or nil

local heads = redis.call('HMGET', state, 'meta', 'revision', 'version', 'seq', 'move', 'cycle', 'created', 'described')
local meta = heads[1]
if not meta then return cmsgpack.pack({outcome = 'gone', wall = wall, hold = held}) end
local head = {}
for i, counter in ipairs({'revision', 'version', 'seq', 'move', 'cycle', 'created', 'described'}) do
  head[counter] = tonumber(heads[i + 1] or '0')
end

if head.revision == known.revision then return cmsgpack.pack({outcome = 'same', wall = wall, hold = held}) end

local anew = cmsgpack.pack({outcome = 'anew', wall = wall, hold = held})
-- A counter of the reader that is ahead of the store was read before the store lost its last second.
for _, counter in ipairs({'revision', 'version', 'seq', 'move', 'cycle'}) do
  if known[counter] > head[counter] then return anew end
end
if known.revision < head.created then return anew end
if head.version - known.version > known.bounds.log then return anew end

local reply = {outcome = 'changes', wall = wall, hold = held, position = {
  revision = head.revision, version = head.version, seq = head.seq, move = head.move, cycle = head.cycle}}

if head.version > known.version then
  reply.log = redis.call('XRANGE', log, '(' .. known.version .. '-0', '+')
  if #reply.log ~= head.version - known.version then return anew end
end

if head.seq > known.seq then
  local after = math.max(known.seq, head.seq - known.bounds.trace)
  reply.trace = redis.call('XRANGE', trace, '(' .. after .. '-0', '+')
end

if head.cycle > known.cycle then
  local last = redis.call('XREVRANGE', decisions, '+', '-', 'COUNT', 1)
  if last[1] then reply.decision = last[1][2][2] end
end

if head.move > known.move then
  local whole = head.move - known.move > known.bounds.moves
  local moved = {}
  if not whole then
    local entries = redis.call('XRANGE', moves, '(' .. known.move .. '-0', '+')
    whole = #entries ~= head.move - known.move
    local listed = {}
    for _, entry in ipairs(entries) do
      local pod = entry[2][2]
      -- An empty name means that all places were replaced.
      whole = whole or pod == ''
      if not listed[pod] then
        listed[pod] = true
        moved[#moved + 1] = pod
      end
    end
  end
  if whole then
    reply.lanes = redis.call('HGETALL', lanes)
  else
    reply.moved = {}
    for _, pod in ipairs(moved) do
      reply.moved[#reply.moved + 1] = {pod, redis.call('HGET', lanes, pod) or ''}
    end
  end
end

if head.described > known.revision then reply.meta = meta end
local fields = {'clock', 'holder', 'epoch', 'acquired', 'renewed', 'under_way', 'pipeline', 'failure', 'edits', 'access'}
for i, value in ipairs(redis.call('HMGET', state, unpack(fields))) do
  if value then reply[fields[i]] = value end
end
return cmsgpack.pack(reply)
