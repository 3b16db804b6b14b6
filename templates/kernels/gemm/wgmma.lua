-- Hopper: one accumulator in the registers of each of two warpgroups, operands from shared memory.
local K, P, last_writes = use("lib/kernel"), use("kernels/gemm/package"), use("kernels/gemm/deliver")
local TILE_M, TILE_K, CONSUMERS, HALF = 128, 64, 2, 64 -- HALF: rows of the tensor core's first operand

local FEWEST_STAGES, MOST_STAGES = 2, 12
local stage_counts = {0}
for count = FEWEST_STAGES, MOST_STAGES do stage_counts[#stage_counts + 1] = count end

local tune = {
  stages = {default = 0, values = stage_counts},  -- ring slots; 0: as many as shared memory holds, up to the last
  cluster = {default = 2, values = {1, 2, 4}},    -- CTAs that share Y, neighbours in rows; turned: that share X, neighbours in columns
  group = {default = 8, low = 1, high = 1024},    -- cluster rows that are walked together, for L2
  tile_n = {default = 256, values = {64, 128, 256}},
  -- Few rows of X would leave most of a tile of 128 empty. Not 0: roles are turned, the tensor core's rows are columns of the
  -- output (rows of the weight), its columns are so many rows of X.
  turned = {default = 0, values = {0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256}},
  deliver = {default = 0, values = {0, 1}},       -- 1: C in another type than its sums without a finishing pass, see README.md
}

local function tile_m(t) return t.turned > 0 and t.turned or TILE_M end
-- Rows and columns of a cluster's tiles together
local function cluster_m(t) return tile_m(t) * (t.turned > 0 and 1 or t.cluster) end
local function cluster_n(t) return t.tile_n * (t.turned > 0 and t.cluster or 1) end

-- Whether idle warps can make forms of X: there must be something to make, and few enough blocks for the few registers of its warpgroup.
local MOST_BLOCKS_BESIDE, MOST_TERMS_BESIDE, MOST_TERMS_IN_PAIRS = 16, 256, 16
local function forms_beside(context)
  local plan = context.plan
  if plan.x.rows_contiguous or plan.x.computed == 0 then return nil end
  local shape = use("kernels/forms/shape")({operand = plan.x, target = context.target})
  if not shape.written_out or #shape.used > MOST_BLOCKS_BESIDE or shape.terms > MOST_TERMS_BESIDE then return nil end
  shape.in_flight = #shape.used <= 4 and shape.terms <= MOST_TERMS_IN_PAIRS and 3 or 1 -- chunks of each block
  return shape
end

-- Registers per thread after setmaxnreg: of the warpgroup that moves data, of the two that multiply. A CTA has what it was
-- launched with, the most that is even for all threads; asking for more in total would wait for ever.
local function registers(context, beside, sink, threads)
  local entry = context.target.registers // threads // 8 * 8
  local few = beside and (#beside.used > 6 and 128 or 120) or sink and 112 or 72
  local many = (3 * entry - few) // 2 // 8 * 8
  return few, many
end

-- Rows of the boxes of turned results: a multiple of 16, as stmatrix stores them, that divides the tile's rows. At most 112,
-- so that larger tiles have two boxes and one is filled while the other is sent; but 176 and 208 rows are one box, as nothing divides them.
local function turned_box_rows(rows)
  for box = 112, 32, -16 do
    if rows % box == 0 then return box end
  end
  return rows
end

-- The boxes in which a consumer's results go out: rows of 128 bytes in the 128-byte swizzle, or of 64 where it has no more columns.
-- They lie side by side; turned, they lie below one another first. `slots` of them are staged at a time, in at most MOST_STAGED
-- bytes. `fold`: columns of the product that become one of the result.
local MOST_STAGED = 32 * 1024
local function boxes(t, element, fold)
  local turned = t.turned > 0
  local rows = turned and turned_box_rows(t.turned) or HALF
  local row = (turned and HALF or t.tile_n) // fold * element
  local line = math.min(128, row)
  local count = row // line * (turned and t.turned // rows or 1)
  local slots = math.min(4, count, math.max(1, MOST_STAGED // (line * rows)))
  while count % slots > 0 do slots = slots - 1 end
  return {box_rows = rows, box_bytes = line * rows, box_line = line, box_columns = line // element, slots = slots, rounds = count // slots}
end

-- Whether a shared tile is put together from parts, which are whole accumulators: there must be but one sum to put together. Otherwise
-- there may be a cut wave (deal.cuh.tmpl).
local function exchanges(context) return #context.plan.steps == 1 end

-- Ring slots of so many bytes in what is left of shared memory. At least the fewest that there can be: P.finish refuses what does not fit.
local BARRIERS = 16 -- bytes for a slot's mbarriers
local function stages(t, slot, left)
  if t.stages > 0 then return t.stages end
  return math.max(FEWEST_STAGES, math.min(MOST_STAGES, left // (slot + BARRIERS)))
end

-- Everything the template needs to know about sizes, from the plan's parameters.
local function geometry(context)
  local t, plan = context.tune, context.plan
  local element, rows = K.bytes[plan.c_type], tile_m(t)
  if t.turned > 0 and t.tile_n ~= CONSUMERS * HALF then
    refuse(string.format("turned=%d needs tile_n=%d: each of two warpgroups takes 64 rows of the weight.", t.turned, CONSUMERS * HALF), "--plan")
  end
  local g = {
    cluster_m = cluster_m(t), cluster_n = cluster_n(t),
    a_rows = t.turned > 0 and rows // t.cluster or rows, b_rows = t.turned > 0 and t.tile_n or t.tile_n // t.cluster,
    tile_m = rows, tile_n = t.tile_n, tile_k = TILE_K, cluster = t.cluster, group = t.group,
    a_bytes = rows * TILE_K * 2, b_bytes = t.tile_n * TILE_K * 2, turned = t.turned > 0, wide = t.turned > 0 and t.turned or t.tile_n,
    element = element, deals_items = true, starts_early = true, threads = 128 * (1 + CONSUMERS), beside = not context.forms_given and forms_beside(context) or nil,
  }
  g.weights_first = context.forms_given or false
  g.exchanges = exchanges(context)
  g.cut_wave = not g.exchanges
  g.fold = context.epilogue and context.epilogue.fold or 1
  for name, value in pairs(boxes(t, element, g.fold)) do g[name] = value end
  g.few_registers, g.many_registers = registers(context, g.beside, context.sink, g.threads)
  local slot, rest = g.a_bytes + g.b_bytes, g.slots * g.box_bytes + 256 + 1024
  g.stages = stages(t, slot, context.target.shared_bytes - rest)
  g.shared = g.stages * (slot + BARRIERS) + rest
  return P.finish(context, g)
end

return {
  needs = {"tma", "mbarrier", "cluster", "wgmma", "setmaxnreg", "overlap"},
  tune = tune, can_be_in_place = P.can_be_in_place, forms_beside = forms_beside, exchanges = exchanges, starts_early = true, tile_m = tile_m,
  make = function(context)
    local own = setmetatable({plan = context.deliver and last_writes(context.plan) or context.plan}, {__index = context})
    return P.make(own, "kernels/gemm/wgmma.cu.tmpl", geometry(own))
  end,
  -- rows of a block that clusters start with, at most: forms of these must be there when the product begins
  first_rows = function(context)
    local t = context.tune
    return string.format("min(block_m, ceil_div(sms / %d, %d * (block_n / %d)) * %d)", t.cluster, t.group, cluster_n(t), t.group * cluster_m(t))
  end,
  -- what the operation must round its blocks up to
  multiples = function(context)
    return {m = cluster_m(context.tune), n = cluster_n(context.tune), k = TILE_K}
  end,
}
