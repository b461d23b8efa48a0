-- Take a token from a bucket, into which they come at a constant rate. A full bucket needs no key.
--
-- KEYS  when the bucket is full again (µs, by Redis's clock)
-- ARGV  µs in which a token comes, µs in which an empty bucket is filled, how many are taken: 1, or 0 to look only
-- Reply the µs until there is a token; 0 = there is one

local interval, size, taken = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + interval
if full > now + size then return full - now - size end
if taken > 0 then
  redis.call('SET', KEYS[1], string.format('%d', full), 'PX', math.ceil((full - now) / 1000))
end
return 0
