-- What every script about a state begins with: the state of a key of the service as
-- this server has it. A state that an earlier life of this server wrote (and kept on
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

-- lookup returns the state, whether it is known, and of the writers that have
-- announced themselves whether one is still under way, and those that are over.
local function lookup(key)
  local state, writing, expired = {}, false, {}
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 7) ~= 'writer:' then
      state[all[i]] = all[i + 1]
    elseif tonumber(all[i + 1]) > now then
      writing = true
    else
      expired[#expired + 1] = all[i]
    end
  end
  -- Nor is it known when the clock was set back behind its beginning.
  return state, state.life == life and tonumber(state.since) <= now, writing, expired
end

-- within tells whether less than the time has passed since the instant. Not when
-- the clock was set back: then nobody knows.
local function within(instant, time)
  local passed = now - tonumber(instant)
  return passed >= 0 and passed < tonumber(time)
end

local function begin(key)
  redis.call('DEL', key)
  redis.call('HSET', key, 'life', life, 'since', now)
end
