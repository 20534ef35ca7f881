-- SPDX-License-Identifier: GPL-2.0-only
-- A closed loop over a given list of paths; each request is exactly REQUEST_BYTES long.
-- Arguments after wrk's `--`: FILE_WITH_PATHS REQUEST_BYTES
-- At the end, it prints the word `cellbed-wrk/1` and then one line of JSON.

local requests, position = {}, 0

local function request_text(path, bytes)
   local head = "GET " .. path .. " HTTP/1.1\r\nHost: cellbed\r\nX-Fill: "
   return head .. string.rep("x", bytes - #head - 4) .. "\r\n\r\n"
end

function init(args)
   local bytes = tonumber(args[2])
   for path in io.lines(args[1]) do
      requests[#requests + 1] = request_text(path, bytes)
   end
end

function request()
   position = position % #requests + 1
   return requests[position]
end

function done(summary)
   local errors = summary.errors
   io.write(string.format(
      'cellbed-wrk/1 {"duration_us": %d, "answered": %d, "received_bytes": %d, ' ..
      '"connect_errors": %d, "read_errors": %d, "write_errors": %d, "status_errors": %d, ' ..
      '"slow": %d}\n',
      summary.duration, summary.requests, summary.bytes,
      errors.connect, errors.read, errors.write, errors.status,
      errors.timeout))
end
