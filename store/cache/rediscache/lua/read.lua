-- ARGV: nonce, lease, quarantine, time to live (ms)
-- The revision behind '=', or where to find it: 'fill' is to ask the database and
-- tell by fill.lua, 'ask' to ask it and keep that to oneself, 'lost' the same
-- where there is no state.
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
