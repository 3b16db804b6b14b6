-- Records of targets.
local M = {}

-- The record of another target with some fields changed.
function M.like(name, changes)
  local record = {}
  for key, value in pairs(use("targets/" .. name .. "/target")) do record[key] = value end
  for key, value in pairs(changes) do record[key] = value end
  return record
end

return M
