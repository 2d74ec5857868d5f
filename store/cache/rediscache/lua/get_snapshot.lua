-- ARGV: revision, time to live, time of a claim (ms)
-- The snapshot of the revision; '' where there is none, and somebody else is
-- about to keep it; '+' where the caller is asked to. One is kept for each
-- namespace. The new one comes first: a server without memory to spare refuses
-- that only as long as the script has deleted nothing.
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
