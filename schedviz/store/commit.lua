-- Store commits (schedviz/store/commit.py), each of them all or nothing.
--
-- KEYS  state, versions, log, trace, decisions, lanes, journal, moves, chapters, pages, then one objects hash for each resource written
-- ARGV  what holds for all of them, then the requests, all as MessagePack. For all:
--         objects     {resource: number of its hash in KEYS}
--         limits      {objects, nodes, pods, bytes, commit_bytes, resources, log, log_bytes, trace, decisions, journal, moves}
--         base        the version before the first of them: nobody else may have written since
--         reserve     for how many microseconds nobody else may write from now on (see "Writes that are sent together"); 0 = not any more
--         again       the writer was told to wait
--       A request:
--         create      {meta, clock, access}: create it first       token      epoch of the lease that the write needs
--         cycle       number of the last cycle, in a new sandbox that continues another one
--         edits       number of edits so far, in the same
--         version     the version before the first write, at least, in a new sandbox
--         meta        the new description: the leader loses its lease
--         unchanged   list of {resource, version}                  changes    list of {resource, key, expected, text}; an object
--                                                                             may be in it again, with `expected` 0 if the change before
--                                                                             deleted it and nil if not
--         trace       list of JSON                                 decisions  list of {cycle, JSON}
--         lanes       list of {pod, JSON or false}                 reset_lanes
--         under_way   JSON of the cycle that stands between two points, "" = no cycle does any more
--         journal     JSON of the entry for this commit
--         pipeline    JSON of the state of the leader's informer
--         now, seen   how far the loop has come (seen: see below)
-- Reply {"OK", version, holder of the lease, whether nobody else may write}; {"Wait"}: only the leader may write now; or the name of the
-- precondition that failed, the number of the entry (the first is 1, 0 = none) and the number of the commit. Those before it are stored.
--
-- Objects are opaque here: cjson would turn empty lists into maps. What is counted is their size as JSON, which their text says
-- (schedviz/store/object_text.py).

local state, versions, log, trace, decisions, lanes, journal, moves = unpack(KEYS, 1, 8)
local all = cmsgpack.unpack(ARGV[1])
local limits = all.limits

-- The numbers of the state are read once, and what a commit changes there is written once, after the last.
local numbers = {'epoch', 'version', 'objects', 'bytes', 'log_bytes', 'archive_bytes', 'cycle', 'revision', 'seq', 'entry', 'move', 'reserved_until',
  'waiting', 'waiting_until'}
local stored_numbers = redis.call('HMGET', state, unpack(numbers))
local known, new = {}, {}
for i, field in ipairs(numbers) do
  known[field] = tonumber(stored_numbers[i] or '0')
end
local function set(field, number)
  known[field], new[field] = number, string.format('%.0f', number)
end
local exists = redis.call('HEXISTS', state, 'meta') == 1
local function size_of(text)
  return tonumber(string.match(text, '^(%d+) ') or #text)
end

local function commit(request)
  -- Check everything before the first write: a script that stops in the middle is not rolled back.

  if request.create then
    if exists then return {'SandboxExists'} end
  elseif not exists then
    return {'NoSandbox'}
  end

  if request.token and request.token ~= known.epoch then return {'StaleLease'} end

  for i, read in ipairs(request.unchanged) do
    if tonumber(redis.call('HGET', versions, read[1]) or '0') > read[2] then return {'CollectionChanged', i} end
  end

  local old = {}
  local written = {} -- place -> the text of an earlier change of this commit; false = deleted
  local last = {} -- place -> number of its last change
  local edits = 0
  local grown = 0
  local grown_of = {} -- resource -> growth
  local grown_bytes = 0
  local logged_bytes = 0 -- of the objects that this commit adds to the log
  for i, change in ipairs(request.changes) do
    local place = change.resource .. ' ' .. change.key
    local stored = written[place]
    if not stored then edits = edits + 1 end -- a further change of an object belongs to the one before
    if stored == nil then
      stored = redis.call('HGET', KEYS[all.objects[change.resource]], change.key)
      local space = stored and string.find(stored, ' ', 1, true)
      if space and change.expected and change.expected ~= 0 and change.expected ~= tonumber(string.sub(stored, 1, space - 1)) then
        return {'Conflict', i}
      end
      stored = space and string.sub(stored, space + 1)
    end
    if stored then
      if change.expected == 0 then return {'AlreadyExists', i} end
      old[i] = stored
      grown_bytes = grown_bytes - size_of(old[i])
    elseif change.expected ~= 0 or not change.text then
      return {'NotFound', i}
    end
    written[place] = change.text or false
    last[place] = i
    local more = (change.text and 1 or 0) - (stored and 1 or 0)
    grown_of[change.resource] = (grown_of[change.resource] or 0) + more
    grown = grown + more
    grown_bytes = grown_bytes + (change.text and size_of(change.text) or 0)
    logged_bytes = logged_bytes + size_of(change.text or stored)
    -- One change is always taken: the size of an object is bounded.
    if i > 1 and logged_bytes > limits.commit_bytes then return {'TooManyBytesAtOnce'} end
  end
  local objects = known.objects + grown
  if grown > 0 and objects > limits.objects then return {'TooManyObjects'} end
  for resource, refusal in pairs({nodes = 'TooManyNodes', pods = 'TooManyPods'}) do
    local more = grown_of[resource] or 0
    if more > 0 and limits[resource] > 0 and redis.call('HLEN', KEYS[all.objects[resource]]) + more > limits[resource] then
      return {refusal}
    end
  end
  -- The objects count, and their copies in the log and in the archive. The leader may always change what is there: its controllers
  -- would stop otherwise.
  local bytes = math.max(0, known.bytes + grown_bytes)
  local held = bytes + math.min(known.log_bytes + logged_bytes, limits.log_bytes) + known.archive_bytes
  if grown_bytes > 0 and limits.bytes > 0 and held > limits.bytes and (grown > 0 or not request.token) then
    return {'TooManyBytes'}
  end

  local fresh = {}
  local resources = redis.call('HLEN', versions)
  for i, change in ipairs(request.changes) do
    if not fresh[change.resource] and redis.call('HEXISTS', versions, change.resource) == 0 then
      fresh[change.resource] = true
      resources = resources + 1
      if resources > limits.resources then return {'TooManyResources'} end
    end
  end

  local cycle = known.cycle
  for i, decision in ipairs(request.decisions) do
    if decision[1] <= cycle then return {'CycleRepeats', i} end
    cycle = decision[1]
  end
  if request.cycle then cycle = math.max(cycle, request.cycle) end

  -- Nothing may fail from here on.

  local revision = known.revision + 1
  local before = known.version

  if request.create then
    before = math.max(before, request.version or 0)
    exists = true
    redis.call('PERSIST', state)
    redis.call('HSET', state, 'meta', request.create[1], 'clock', request.create[2], 'access', request.create[3],
      'origin', before, 'origin_seq', known.seq + #request.trace, 'created', revision, 'described', revision)
  end

  if request.meta then
    -- With the new epoch, later writes of the old leader are refused.
    redis.call('HSET', state, 'meta', request.meta, 'described', revision)
    set('epoch', known.epoch + 1)
    redis.call('HDEL', state, 'holder', 'acquired', 'renewed')
    -- Before the first leader there is no term to end, so the trace and the journal have no entry for it.
    if known.entry == 0 then request.trace, request.journal = {}, nil end
  end

  local version = before
  local function is_last(i, change)
    return last[change.resource .. ' ' .. change.key] == i
  end
  -- First, as Redis without memory takes deletions as the first write, and then others of the same script.
  for i, change in ipairs(request.changes) do
    if not change.text and is_last(i, change) then redis.call('HDEL', KEYS[all.objects[change.resource]], change.key) end
  end
  -- Writes of others than the leader are edits: they are counted, and the log marks them with the version of the commit's first write.
  local is_edit = not request.token and not request.create
  for i, change in ipairs(request.changes) do
    version = version + 1
    local kind = 'DELETED'
    if change.text then
      kind = old[i] and 'MODIFIED' or 'ADDED'
      if is_last(i, change) then
        redis.call('HSET', KEYS[all.objects[change.resource]], change.key, version .. ' ' .. change.text)
      end
    end
    redis.call('HSET', versions, change.resource, version)
    local entry = {'type', kind, 'resource', change.resource, 'key', change.key, 'object', change.text or old[i]}
    if is_edit then
      entry[9], entry[10] = 'edit', before + 1
    end
    redis.call('XADD', log, version .. '-0', unpack(entry))
  end

  -- The log is bounded in entries and in bytes. Of a log that is older than this bound, the bytes are counted from then on.
  local log_bytes = known.log_bytes + logged_bytes
  local length = redis.call('XLEN', log)
  -- The last entry stays: by it a reader knows that it missed the others.
  local function is_within()
    return length <= limits.log and (log_bytes <= limits.log_bytes or length <= 1)
  end
  while not is_within() do
    local trimmed
    for _, entry in ipairs(redis.call('XRANGE', log, '-', '+', 'COUNT', 10)) do
      if is_within() then break end
      trimmed = tonumber(string.match(entry[1], '^%d+'))
      length = length - 1
      log_bytes = math.max(0, log_bytes - size_of(entry[2][8]))
    end
    redis.call('XTRIM', log, 'MINID', string.format('%.0f-0', trimmed + 1))
  end

  -- After the changes, as Redis without memory refuses it as the first write, and takes deletions.
  if is_edit and #request.changes > 0 then
    redis.call('HINCRBY', state, 'edits', edits)
  elseif request.create then
    redis.call('HSET', state, 'edits', request.edits or 0)
  end

  local seq = known.seq
  for _, event in ipairs(request.trace) do
    seq = seq + 1
    redis.call('XADD', trace, 'MAXLEN', '~', limits.trace, seq .. '-0', 'event', event)
  end

  for _, decision in ipairs(request.decisions) do
    redis.call('XADD', decisions, 'MAXLEN', '~', limits.decisions, decision[1] .. '-0', 'decision', decision[2])
  end

  if request.journal then
    set('entry', known.entry + 1)
    redis.call('XADD', journal, 'MAXLEN', '~', limits.journal, known.entry .. '-0',
      'entry', request.journal, 'version', version, 'seq', seq, 'cycle', cycle)
  end

  -- The stream of moves has the pods whose places changed; an empty name means that all places were replaced.
  local move = known.move
  local function moved(pod)
    move = move + 1
    redis.call('XADD', moves, 'MAXLEN', '~', limits.moves, move .. '-0', 'pod', pod)
  end

  if request.reset_lanes then
    redis.call('DEL', lanes)
    moved('')
  end
  for _, lane in ipairs(request.lanes) do
    moved(lane[1])
    if lane[2] then
      redis.call('HSET', lanes, lane[1], lane[2])
    else
      redis.call('HDEL', lanes, lane[1])
    end
  end

  set('version', version)
  set('seq', seq)
  set('cycle', cycle)
  set('objects', objects)
  set('bytes', bytes)
  set('log_bytes', log_bytes)
  set('move', move)
  set('revision', revision)
  if request.under_way == '' then
    new.under_way = nil
    redis.call('HDEL', state, 'under_way')
  elseif request.under_way then
    new.under_way = request.under_way
  end
  new.pipeline = request.pipeline or new.pipeline
  new.now = request.now or new.now
  if request.seen then
    -- A writer that had seen all writes before this commit has also seen this one.
    new.seen = request.seen == before and version or request.seen
  end
end

-- Writes that are sent together (schedviz/loop/write_batch.py). A leader that has seen all writes may ask that the sandbox is reserved
-- for it: nobody else writes until it sends its next writes, which it then need not send one by one. Who else would write waits meanwhile,
-- and is counted, so that it comes before the next reservation. All of this has an end in time, as processes may end. What is stored does
-- not depend on it: `base` is checked, too.
local WAITING = 50000 -- microseconds for which a writer that waits is counted
local SINGLY = 10000000 -- microseconds for which a leader writes singly after a refusal that it cannot take in any more
local ROOM = 0.9 -- the share of the limits above which writes may be refused

local function microseconds()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local now = (all.reserve or all.again or known.reserved_until > 0) and microseconds() or 0
local first = cmsgpack.unpack(ARGV[2])
if all.again and known.waiting > 0 then set('waiting', known.waiting - 1) end
if not first.token and known.reserved_until > now then
  local waiting = known.waiting_until > now and known.waiting or 0
  redis.pcall('HSET', state, 'waiting', waiting + 1, 'waiting_until', string.format('%.0f', math.max(known.waiting_until, now + WAITING)))
  return {'Wait'}
end
if all.base and all.base ~= known.version and known.epoch == first.token then return {'Overtaken', 0, 1} end

local reply
local has_seen_all = false
for i = 2, #ARGV do
  local request = i == 2 and first or cmsgpack.unpack(ARGV[i])
  has_seen_all = request.seen == known.version
  local refusal = commit(request)
  if refusal then
    reply = {refusal[1], refusal[2] or 0, i - 1}
    if i > 2 then
      set('waiting', known.waiting + 1)
      set('waiting_until', now + SINGLY)
    end
    break
  end
end

if all.reserve and known.epoch == first.token then
  local may_ask = not reply and all.reserve > 0 and has_seen_all and (known.waiting == 0 or known.waiting_until <= now)
  local held = known.bytes + math.min(known.log_bytes, limits.log_bytes) + known.archive_bytes
  local has_room = known.objects < ROOM * limits.objects and (limits.bytes == 0 or held < ROOM * limits.bytes)
  set('reserved_until', may_ask and has_room and now + all.reserve or 0)
end
local fields = {}
for field, value in pairs(new) do
  fields[#fields + 1], fields[#fields + 2] = field, value
end
if exists and #fields > 0 then redis.call('HSET', state, unpack(fields)) end
return reply or {'OK', known.version, redis.call('HGET', state, 'holder') or '', known.reserved_until > now and 1 or 0}
