-- ARGV: nonce, for how long to believe it, time to live of a new state (ms)
-- Where it cannot be stored all the same, the whole state goes: nobody fills before
-- the quarantine of the next one is over.
local function store()
  if not known then
    begin()
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
  end
  redis.call('HDEL', KEYS[1], 'revision', 'reader', 'asked', unpack(over))
  redis.call('HSET', KEYS[1], 'writer:' .. ARGV[1], now + tonumber(ARGV[2]))
end
if not pcall(store) then
  redis.call('DEL', KEYS[1])
end
return 'done'
