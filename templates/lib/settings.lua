-- Settings of the operations of a language model's block: words, given as "activation=geglu,rounding=once".
local M = {}

local schema = {
  activation = {default = "swiglu", values = {"swiglu", "geglu", "geglu_tanh", "silu", "relu_squared"}},
  rounding = {default = "once", values = {"once", "twice"}}, -- of the normalised X, see kernels/rmsnorm_forms
  norm = {default = "rms", values = {"rms", "none"}},        -- none: X is taken as it is
  sums = {default = "f16", values = {"f16", "bf16", "f32"}}, -- of gate and up, where they lie in memory: see kernels/gate_up_swiglu_forms
  bias = {default = "no", values = {"no", "yes"}},           -- of gate and up
}

function M.choose(text)
  local settings = {}
  for name, rule in pairs(schema) do settings[name] = rule.default end
  for pair in text:gmatch("[^,]+") do
    local name, value = pair:match("^%s*([%w_]+)%s*=%s*([%w_]+)%s*$")
    local rule = name and schema[name]
    if not rule then
      local names = {}
      for known in pairs(schema) do names[#names + 1] = known end
      table.sort(names)
      refuse('"' .. pair .. '" is not NAME=VALUE with a name of ' .. table.concat(names, ", ") .. ".", "--with")
    end
    local fits = false
    for _, allowed in ipairs(rule.values) do fits = fits or allowed == value end
    if not fits then refuse(name .. ' can be ' .. table.concat(rule.values, ", ") .. ', not "' .. value .. '".', "--with") end
    settings[name] = value
  end
  return settings
end

return M
