-- ARGV: revision, snapshot, time to live (ms)
-- Only in the place that take.lua has made. A server without memory to spare
-- refuses.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 'done'
