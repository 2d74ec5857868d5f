-- What every script begins with: the state of one key of the service as this
-- server has it. A state that an earlier life of this server wrote (and kept on
-- disk), or another server (whose replica this one was), is none: nobody can say
-- what has been missed since.
--
-- The scripts delete before they set: a server without memory to spare refuses
-- only what would be the first change of a script, and a state is small.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local life = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not life then
  return redis.error_reply('GUIDON the server does not tell its run_id')
end

local state, writing, over = {}, false, {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if string.sub(all[i], 1, 7) ~= 'writer:' then
    state[all[i]] = all[i + 1]
  elseif tonumber(all[i + 1]) > now then
    writing = true
  else
    over[#over + 1] = all[i]
  end
end
-- Nor is it one when the clock was set back behind its beginning.
local known = state.life == life and tonumber(state.since) <= now

-- within tells whether less than the time has passed since the instant. Not when
-- the clock was set back: then nobody knows.
local function within(instant, time)
  local passed = now - tonumber(instant)
  return passed >= 0 and passed < tonumber(time)
end

local function begin()
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'life', life, 'since', now)
end
