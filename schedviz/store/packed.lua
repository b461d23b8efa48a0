-- Read, with the whole answer as one MessagePack: a client takes in a thousand entries of it in the time of one.
--
-- KEYS  what is read
-- ARGV  the command, and its arguments after the key
-- Reply the command's reply, packed

return cmsgpack.pack(redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2)))
