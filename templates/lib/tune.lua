-- Plan parameters: defaults and ranges live with a kernel variant, overrides come as "stages=3,cluster=1".
local M = {}

-- schema: name -> {default = integer, values = {...}} or {default = integer, low = integer, high = integer}
function M.choose(schema, overrides)
  local tune = {}
  for name, rule in pairs(schema) do tune[name] = rule.default end
  for pair in overrides:gmatch("[^,]+") do
    local name, value = pair:match("^%s*([%w_]+)%s*=%s*(%-?%d+)%s*$")
    if not name then refuse('"' .. pair .. '" is not NAME=INTEGER.', "--plan") end
    local rule = schema[name]
    if not rule then
      local names = {}
      for known in pairs(schema) do names[#names + 1] = known end
      refuse('There is no plan parameter "' .. name .. '"; there are ' .. table.concat(names, ", ") .. ".", "--plan")
    end
    value = math.tointeger(tonumber(value))
    if not value then refuse('"' .. pair .. '" is not NAME=INTEGER.', "--plan") end -- beyond 64 bits
    local allowed = rule.low and value >= rule.low and value <= rule.high
    for _, candidate in ipairs(rule.values or {}) do allowed = allowed or candidate == value end
    if not allowed then
      local range = rule.low and rule.low .. " to " .. rule.high or table.concat(rule.values, ", ")
      refuse(string.format("%s can be %s, not %d.", name, range, value), "--plan")
    end
    tune[name] = value
  end
  return tune
end

return M
