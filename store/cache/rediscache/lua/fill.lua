-- ARGV: nonce, time to live (ms), revision
-- The revision is as old as the nonce: what came before the answer of the database
-- counts.
if not known then
  begin()
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
elseif state.reader == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'reader')
  redis.call('HSET', KEYS[1], 'revision', ARGV[3])
end
return 'done'
