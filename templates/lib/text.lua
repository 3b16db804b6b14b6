-- Small helpers that make emitted comments and tables read well. Indices of plans count from 0, what people read from 1.
local M = {}

-- 1 -> "", -1 -> "-", 0.5 -> "0.5 "
local function coefficient(weight)
  local size = math.abs(weight)
  return size == 1 and "" or string.format("%.6g ", size)
end

-- "X11 - 0.5 X21"; Y's blocks are named as in Y, not as in its transpose. Long forms are cut short.
function M.form(operand, slot, longest)
  local words = {}
  for i, term in ipairs(slot.terms) do
    if i > (longest or 8) then
      words[#words + 1] = string.format("+ ... (%d terms)", #slot.terms)
      break
    end
    local sign = term.weight < 0 and (i == 1 and "-" or "- ") or (i == 1 and "" or "+ ")
    words[#words + 1] = sign .. coefficient(term.weight) .. M.block(operand, term.row, term.col)
  end
  return table.concat(words, " ")
end

function M.block(operand, row, col)
  if operand.name == "Y" then row, col = col, row end
  local separator = (operand.rows > 9 or operand.cols > 9) and "," or ""
  return string.format("%s%d%s%d", operand.name, row + 1, separator, col + 1)
end

-- "(X11 + X22) Y11": a product in words
function M.product(plan, step, longest)
  local function factor(operand, number)
    local slot = operand.slots[number + 1]
    local text = M.form(operand, slot, longest)
    return #slot.terms > 1 and "(" .. text .. ")" or text
  end
  return factor(plan.x, step.x_slot) .. " " .. factor(plan.y, step.y_slot)
end

-- "Z11 = S, Z21 += -S": the writes of a step in words
function M.writes(plan, step, longest)
  local words = {}
  for f = step.first_fill + 1, step.first_fill + step.fill_count do
    local fill = plan.fills[f]
    local value = (fill.weight < 0 and "-" or "") .. coefficient(fill.weight) .. "S"
    for t = fill.first_target + 1, fill.first_target + fill.target_count do
      if #words >= (longest or 8) then return table.concat(words, ", ") .. ", ..." end
      local target = plan.targets[t]
      local separator = (plan.scheme.n > 9 or plan.scheme.p > 9) and "," or ""
      words[#words + 1] = string.format("Z%d%s%d %s %s", target.row + 1, separator, target.col + 1,
                                        target.add and "+=" or "=", value)
    end
  end
  return table.concat(words, ", ")
end

-- The weight of a fill: its name and type in C. Where all weights are 1 or -1 it is the sign bits to invert, of both halves of a word.
function M.weight(plan)
  if plan.unit_weights then return "flip", "u32" end
  return "weight", "float"
end
-- Whether every fill has the weight 1.
function M.all_ones(plan)
  for _, fill in ipairs(plan.fills) do
    if fill.weight ~= 1 then return false end
  end
  return true
end
-- The weight of a fill, as C: `text` reads it from the tables.
function M.weight_of(plan, text)
  if M.all_ones(plan) then return plan.unit_weights and "0" or "1.0f" end
  return text .. "." .. M.weight(plan)
end
-- The weight times a float.
function M.weighed(plan, value)
  if M.all_ones(plan) then return value end
  return plan.unit_weights and "__uint_as_float(__float_as_uint(" .. value .. ") ^ (flip & 0x80000000))" or "weight * " .. value
end

-- A double as a C float literal that reads back as the nearest f32.
function M.float(value)
  local text = string.format("%.9g", value)
  if not text:find("[.e]") then text = text .. ".0" end
  return text .. "f"
end

return M
