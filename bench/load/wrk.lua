-- Sends the requests of a file in turn (each is its length on a line, then itself), and says what came back as JSON.
-- Arguments: the file, the first serial number, and "measured" where the statuses are not to be counted.
local mark = "########"
local heads, tails, count, at, number = {}, {}, 0, 0, 0
local worker
statuses = {} -- global, so that the state of Lua that `done` runs in can ask the thread's for it

function setup(thread)
  worker = thread
end

local function add(text)
  count = count + 1
  local from, to = text:find(mark, 1, true)
  heads[count] = from and text:sub(1, from - 1) or text
  tails[count] = from and text:sub(to + 1) or false
end

local function count_status(status)
  statuses[status] = (statuses[status] or 0) + 1
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for length in function() return file:read("*n") end do
    file:read(1)
    add(file:read(length))
  end
  file:close()
  number = tonumber(args[2])
  at = number % count -- so that a warm-up does not begin where the measurement does
  if args[3] ~= "measured" then response = count_status end
end

function request()
  at = at % count + 1
  local tail = tails[at]
  if not tail then return heads[at] end
  number = number + 1
  return heads[at] .. string.format("%08d", number) .. tail
end

function done(summary, latency)
  local errors = summary.errors
  local counted = {}
  for status, times in pairs(worker:get("statuses")) do
    table.insert(counted, string.format('"%s":%d', status, times))
  end
  print(string.format(
    '\nsaid {"answers":%d,"seconds":%f,"p50":%f,"p99":%f,"failed":%d,"statuses":{%s}}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status, table.concat(counted, ",")))
end
