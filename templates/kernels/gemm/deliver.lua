-- For kernels that deliver C in another type than its sums have: which write to an output block is its last. In a tile that is
-- done whole that is the last one in the order of steps; in a tile whose chains are cut and dealt, the last one of the last
-- chain, in the order of chains. Such a target leaves the fill that it shared, as other numbers are staged for it.
local WHOLE, CUT = 1, 2 -- bits of fill.last

local function targets_of(plan, step, visit)
  for f = step.first_fill + 1, step.first_fill + step.fill_count do
    local fill = plan.fills[f]
    for t = fill.first_target + 1, fill.first_target + fill.target_count do visit(plan.targets[t], t) end
  end
end

-- From the number of a target to its bits.
local function last_writes(plan)
  local whole, cut, bits = {}, {}, {}
  local function note(last, step)
    targets_of(plan, step, function(target, t) last[target.row * plan.scheme.p + target.col] = t end)
  end
  for turn = 1, #plan.steps do note(whole, plan.steps[(plan.turns and plan.turns[turn] or turn - 1) + 1]) end
  for _, chain in ipairs(plan.chains) do
    for s = chain.first_step + 1, chain.first_step + chain.steps do note(cut, plan.steps[s]) end
  end
  for _, t in pairs(whole) do bits[t] = WHOLE end
  for _, t in pairs(cut) do bits[t] = (bits[t] or 0) | CUT end
  return bits
end

return function(plan)
  local bits, steps, fills, targets = last_writes(plan), {}, {}, {}
  local function put(fill, last, chosen)
    if #chosen == 0 then return end
    fills[#fills + 1] = {weight = fill.weight, last = last, first_target = #targets, target_count = #chosen}
    for _, target in ipairs(chosen) do targets[#targets + 1] = target end
  end
  for s, step in ipairs(plan.steps) do
    local first = #fills
    for f = step.first_fill + 1, step.first_fill + step.fill_count do
      local fill, shared = plan.fills[f], {}
      for t = fill.first_target + 1, fill.first_target + fill.target_count do
        if not bits[t] then shared[#shared + 1] = plan.targets[t] end
      end
      put(fill, 0, shared)
      for t = fill.first_target + 1, fill.first_target + fill.target_count do
        if bits[t] then put(fill, bits[t], {plan.targets[t]}) end
      end
    end
    steps[s] = setmetatable({first_fill = first, fill_count = #fills - first}, {__index = step})
  end
  return setmetatable({steps = steps, fills = fills, targets = targets}, {__index = plan})
end
