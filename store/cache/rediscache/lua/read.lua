-- ARGV: nonce, lease, quarantine, time to live (ms)
-- Returns '=' and the revision, or how to get it from the database: 'fill' is to store
-- it by fill.lua afterwards, 'ask' is not to store it. 'lost' means that there is no
-- state, which fill.lua then creates without the revision.
local function run(key)
  local state, known, writing, expired = lookup(key)
  if not known then
    return 'lost'
  end
  if writing then
    return 'ask'
  end
  if state.revision and within(state.asked, ARGV[2]) then
    return '=' .. state.revision
  end
  if now - tonumber(state.since) < tonumber(ARGV[3]) then
    return 'ask'
  end
  if state.reader and within(state.asked, ARGV[2]) then
    return 'ask'
  end
  redis.call('HDEL', key, 'revision', unpack(expired))
  redis.call('HSET', key, 'reader', ARGV[1], 'asked', now)
  redis.call('PEXPIRE', key, ARGV[4])
  return 'fill'
end
