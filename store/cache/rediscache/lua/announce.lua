-- ARGV: nonce, time to live of the announcement, time to live of a new state (ms)
-- If the announcement cannot be stored, the whole state is deleted: no revision is
-- stored before the quarantine of the next state is over.
local function store(key)
  local _, known, _, expired = lookup(key)
  if not known then
    begin(key)
    redis.call('PEXPIRE', key, ARGV[3])
  end
  redis.call('HDEL', key, 'revision', 'reader', 'asked', unpack(expired))
  redis.call('HSET', key, 'writer:' .. ARGV[1], now + tonumber(ARGV[2]))
end

local function run(key)
  if not pcall(store, key) then
    redis.call('DEL', key)
  end
  return 'done'
end
