-- Store chapters of the archive and their pages, and drop the oldest ones.
--
-- KEYS  state, chapters, pages, journal
-- ARGV  the request, as MessagePack:
--         token     epoch of the lease that the write needs
--         chapters  list of {number, JSON}
--         pages     list of names, "<number>:<page>"
--         gone      list of numbers of chapters
--         lost      list of names of pages
--         bytes     size of all pages that are stored then
--         journal   number of the last journal entry that chapters have and nobody reads from the stream
--       then the pages themselves, in the same order
-- Reply "OK", or the name of the precondition that failed

local state, chapters, pages, journal = unpack(KEYS)
local request = cmsgpack.unpack(ARGV[1])

if redis.call('HEXISTS', state, 'meta') == 0 then return 'NoSandbox' end
if request.token ~= tonumber(redis.call('HGET', state, 'epoch') or '0') then return 'StaleLease' end

for _, number in ipairs(request.gone) do redis.call('HDEL', chapters, number) end
for _, name in ipairs(request.lost) do redis.call('HDEL', pages, name) end
for _, chapter in ipairs(request.chapters) do redis.call('HSET', chapters, chapter[1], chapter[2]) end
for i, name in ipairs(request.pages) do redis.call('HSET', pages, name, ARGV[i + 1]) end
redis.call('HSET', state, 'archive_bytes', request.bytes)
redis.call('XTRIM', journal, 'MINID', '~', string.format('%.0f-0', request.journal + 1))
return 'OK'
