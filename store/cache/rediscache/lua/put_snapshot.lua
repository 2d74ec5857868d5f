-- ARGV: revision, snapshot, time to live (ms)
-- Only in the place that get_snapshot.lua has made. A server without memory to spare
-- refuses.
local function run(key)
  if redis.call('HEXISTS', key, ARGV[1]) == 1 then
    redis.call('HSET', key, ARGV[1], ARGV[2])
    redis.call('PEXPIRE', key, ARGV[3])
  end
  return 'done'
end
