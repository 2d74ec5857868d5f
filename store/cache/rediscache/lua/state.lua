-- The start of every script on states: the state of a key as this server has it. A
-- state that was written by an earlier life of this server (and kept on disk), or by
-- another server (whose replica this one was), does not count: it is unknown which
-- writes it has missed since.
--
-- The scripts delete before they set: a server without spare memory rejects a write
-- only if it is the first of a script, and a state is small.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local life = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not life then
  return redis.error_reply('GUIDON server does not report its run_id')
end

-- lookup returns the state, whether it is known, whether an announced write is in
-- progress, and the fields of the announcements that have expired.
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
  -- It is unknown, too, if the clock was set back to before the start of the state.
  return state, state.life == life and tonumber(state.since) <= now, writing, expired
end

-- within reports whether less than the time has passed since the instant. It does not
-- if the clock was set back, since that is then unknown.
local function within(instant, time)
  local passed = now - tonumber(instant)
  return passed >= 0 and passed < tonumber(time)
end

local function begin(key)
  redis.call('DEL', key)
  redis.call('HSET', key, 'life', life, 'since', now)
end
