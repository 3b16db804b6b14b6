-- Blackwell: pairs of CTAs multiply as one; two accumulators in tensor memory, used in turn.
local K, P, last_writes = use("lib/kernel"), use("kernels/gemm/package"), use("kernels/gemm/deliver")
local TILE_M, TILE_K, PAIR, BOX_ROWS, BOXES = 256, 64, 2, 128, 2

local tune = {
  stages = {default = 6, low = 2, high = 12},   -- ring slots
  group = {default = 8, low = 1, high = 1024},  -- rows of tiles that are walked together, for L2
  tile_n = {default = 256, values = {64, 128, 256}},
  deliver = {default = 0, values = {0, 1}},     -- 1: C in another type than its sums without a finishing pass, see README.md
}

-- The plan with the steps of each chain side by side; `turns` is the order in which a whole tile's steps are done.
local function by_chain(plan)
  local members, steps, turns, chains = {}, {}, {}, {}
  for turn, step in ipairs(plan.steps) do
    members[step.chain + 1] = members[step.chain + 1] or {}
    table.insert(members[step.chain + 1], turn)
  end
  for c, list in ipairs(members) do
    chains[c] = {first_step = #steps, steps = #list}
    for _, turn in ipairs(list) do
      turns[turn] = #steps
      steps[#steps + 1] = plan.steps[turn]
    end
  end
  table.sort(chains, function(a, b) return a.steps > b.steps or (a.steps == b.steps and a.first_step < b.first_step) end)
  return setmetatable({steps = steps, turns = turns, chains = chains}, {__index = plan})
end

local forms_beside = use("kernels/gemm/wgmma").forms_beside -- what idle warps can hold is the same

local function geometry(context)
  local t, plan = context.tune, context.plan
  local element = K.bytes[plan.c_type]
  local beside = not context.forms_given and forms_beside(context) or nil
  local helpers = context.sink and context.sink.workers // 32 or beside and 4 or 0 -- warps
  local g = {
    tile_m = TILE_M // PAIR, tile_n = t.tile_n, tile_k = TILE_K, stages = t.stages, group = t.group,
    cluster = PAIR, cluster_m = TILE_M, cluster_n = t.tile_n, a_rows = TILE_M // PAIR, b_rows = t.tile_n // PAIR,
    box_rows = BOX_ROWS, box_columns = 128 // element, box_bytes = BOX_ROWS * 128, slots = BOXES,
    element = element, deals_items = true, beside = beside, helpers = helpers, threads = 256 + 32 * helpers,
  }
  g.shared = g.stages * (g.a_rows + g.b_rows) * TILE_K * 2 + BOXES * g.box_bytes + 16 * g.stages + 256 + 1024
  return P.finish(context, g)
end

return {
  needs = {"tma", "mbarrier", "cluster", "tcgen05", "overlap"},
  tune = tune, can_be_in_place = P.can_be_in_place, tile_m = function() return TILE_M // PAIR end, -- of a CTA
  forms_beside = forms_beside,
  make = function(context)
    local plan = by_chain(context.plan)
    local own = setmetatable({plan = context.deliver and last_writes(plan) or plan}, {__index = context})
    return P.make(own, "kernels/gemm/tcgen05.cu.tmpl", geometry(own))
  end,
  -- rows of a block that pairs start with, at most: forms of these must be there when the product begins
  first_rows = function(context)
    local t = context.tune
    return string.format("min(block_m, ceil_div(sms / %d, %d * (block_n / %d)) * %d)", PAIR, t.group, t.tile_n, t.group * TILE_M)
  end,
  -- what the operation must round its blocks up to
  multiples = function(context) return {m = TILE_M, n = context.tune.tile_n, k = TILE_K} end,
}
