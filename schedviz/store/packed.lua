-- Run a reading command and reply with MessagePack, which a client decodes much faster than a reply of a thousand entries.
--
-- KEYS  the key that is read
-- ARGV  the command, and its arguments after the key
-- Reply the command's reply, packed

return cmsgpack.pack(redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2)))
