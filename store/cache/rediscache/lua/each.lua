-- The end of every script: the replies for its keys, in their order.
local answers = {}
for i, key in ipairs(KEYS) do
  answers[i] = run(key)
end
return answers
