-- Return the sizes of objects as JSON (schedviz/store/object_text.py).
--
-- KEYS  the objects hash of each
-- ARGV  the key of each in it
-- Reply a list of sizes, 0 = there is none

local sizes = {}
for i, key in ipairs(ARGV) do
  local stored = redis.call('HGET', KEYS[i], key)
  local size = stored and string.match(stored, '^%d+ (%d+) ')
  sizes[i] = stored and tonumber(size or #stored - string.find(stored, ' ', 1, true)) or 0
end
return sizes
