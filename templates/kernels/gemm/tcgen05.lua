-- Blackwell: pairs of CTAs multiply as one; two accumulators in tensor memory, used in turn.
local K, P = use("lib/kernel"), use("kernels/gemm/package")
local TILE_M, TILE_K, PAIR, BOX_ROWS, BOXES = 256, 64, 2, 128, 2

local tune = {
  stages = {default = 6, low = 2, high = 12},   -- ring slots
  group = {default = 8, low = 1, high = 1024},  -- rows of tiles that are walked together, for L2
  tile_n = {default = 256, values = {64, 128, 256}},
}

local function geometry(context)
  local t, plan = context.tune, context.plan
  local element = K.bytes[plan.c_type]
  local g = {
    tile_m = TILE_M // PAIR, tile_n = t.tile_n, tile_k = TILE_K, stages = t.stages, group = t.group,
    cluster = PAIR, cluster_m = TILE_M, a_rows = TILE_M // PAIR, b_rows = t.tile_n // PAIR,
    box_rows = BOX_ROWS, box_columns = 128 // element, box_bytes = BOX_ROWS * 128, slots = BOXES,
    element = element, threads = 256 + (context.sink and context.sink.workers or 0),
  }
  g.shared = g.stages * (g.a_rows + g.b_rows) * TILE_K * 2 + BOXES * g.box_bytes + 16 * g.stages + 256 + 1024
  return P.finish(context, g)
end

return {
  needs = {"tma", "mbarrier", "cluster", "tcgen05", "overlap"},
  tune = tune, can_be_in_place = P.can_be_in_place,
  make = function(context) return P.make(context, "kernels/gemm/tcgen05.cu.tmpl", geometry(context)) end,
  -- what the operation must round its blocks up to
  multiples = function(context) return {m = TILE_M, n = context.tune.tile_n, k = TILE_K} end,
}
