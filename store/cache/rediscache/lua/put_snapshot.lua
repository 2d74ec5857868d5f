-- ARGV: revision, snapshot, time to live (ms)
-- Stores only in the field that get_snapshot.lua has claimed. Fails on a server without
-- spare memory.
local function run(key)
  if redis.call('HEXISTS', key, ARGV[1]) == 1 then
    redis.call('HSET', key, ARGV[1], ARGV[2])
    redis.call('PEXPIRE', key, ARGV[3])
  end
  return 'done'
end
