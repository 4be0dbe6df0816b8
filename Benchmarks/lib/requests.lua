-- wrk: requests for the paths in a file, one after the other. They are made ahead, so that making them costs nothing.
local requests, turn = {}, 0
function init(arguments)
    for path in io.lines(arguments[1]) do
        requests[#requests + 1] = wrk.format("GET", path)
    end
end
function request()
    turn = turn % #requests + 1
    return requests[turn]
end
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format("RESULT %d %d %d %d\n", summary.requests, summary.duration, failed, summary.bytes))
end
