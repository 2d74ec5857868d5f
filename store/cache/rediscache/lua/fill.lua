-- ARGV: nonce, time to live (ms), revision
-- The age of the revision counts from the nonce, which was left before the database
-- was queried.
local function run(key)
  local state, known = lookup(key)
  if not known then
    begin(key)
    redis.call('PEXPIRE', key, ARGV[2])
  elseif state.reader == ARGV[1] then
    redis.call('HDEL', key, 'reader')
    redis.call('HSET', key, 'revision', ARGV[3])
  end
  return 'done'
end
