-- Close a chapter of the archive and open the next, and drop the oldest ones where there is no room.
--
-- KEYS  state, chapters, pages
-- ARGV  the request, as MessagePack:
--         token     epoch of the lease that the write needs
--         chapters  list of {number, JSON}, ascending
--         pages     list of names, "<number>:<page>"
--         limit     bytes that all may have
--       then the pages themselves, in the same order
-- Reply "OK", or the name of what was not as it had to be

local state, chapters, pages = unpack(KEYS)
local request = cmsgpack.unpack(ARGV[1])

if redis.call('HEXISTS', state, 'meta') == 0 then return 'NoSandbox' end
if request.token ~= tonumber(redis.call('HGET', state, 'epoch') or '0') then return 'StaleLease' end

for _, chapter in ipairs(request.chapters) do redis.call('HSET', chapters, chapter[1], chapter[2]) end
for i, name in ipairs(request.pages) do redis.call('HSET', pages, name, ARGV[i + 1]) end

local kept, total = {}, 0
for _, json in ipairs(redis.call('HVALS', chapters)) do
  local chapter = cjson.decode(json)
  kept[#kept + 1] = chapter
  total = total + chapter.bytes
end
table.sort(kept, function(a, b) return a.number < b.number end)
for i = 1, #kept - 1 do  -- never the open one
  if total <= request.limit then break end
  total = total - kept[i].bytes
  redis.call('HDEL', chapters, kept[i].number)
  for _, page in ipairs({'objects', 'lanes', 'log', 'journal', 'trace', 'decisions'}) do
    redis.call('HDEL', pages, kept[i].number .. ':' .. page)
  end
end
return 'OK'
