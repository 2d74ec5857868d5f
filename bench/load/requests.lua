-- Sends the requests in a file in turn. Each line is
--   PATH <tab> HEADER LINE <tab> BODY
-- Arguments: the file, and an additional header line for all requests.
local requests, at = {}, 0

local function add(headers, line)
  local name, value = line:match("^([^:]+): (.*)$")
  if name then headers[name] = value end
end

function init(args)
  for line in io.lines(args[1]) do
    local path, header, body = line:match("^(%S+)\t([^\t]*)\t(.*)$")
    local headers = { ["Content-Type"] = "application/json" }
    add(headers, args[2])
    add(headers, header)
    requests[#requests + 1] = wrk.format("POST", path, headers, body)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"Requests":%d,"Microseconds":%d,"P99":%d,"Errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(99),
    e.status + e.connect + e.read + e.write + e.timeout))
end
