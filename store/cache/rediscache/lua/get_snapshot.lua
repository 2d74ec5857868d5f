-- ARGV: revision, time to live, time to live of a claim (ms)
-- Returns the snapshot of the revision, '+' if there is none and the caller should
-- store it, or '' if there is none and another caller is about to. One is kept for each
-- namespace. The new one comes first: a server without spare memory rejects that only
-- as long as the script has deleted nothing.
local function run(key)
  local kept = redis.call('HGET', key, ARGV[1])
  if not kept then
    if type(redis.pcall('HSET', key, ARGV[1], '')) == 'table' then
      return ''
    end
    for _, other in ipairs(redis.call('HKEYS', key)) do
      if other ~= ARGV[1] then
        redis.call('HDEL', key, other)
      end
    end
    redis.call('PEXPIRE', key, ARGV[3])
    return '+'
  end
  if kept ~= '' then
    redis.call('PEXPIRE', key, ARGV[2])
  end
  return kept
end
