-- Hopper: one accumulator in the registers of each of two warpgroups, operands from shared memory.
local K = use("lib/kernel")
local TILE_M, TILE_K, CONSUMERS, BOX_BYTES, BOX_ROWS = 128, 64, 2, 8192, 64

local tune = {
  stages = {default = 4, low = 2, high = 8},      -- ring slots
  cluster = {default = 2, values = {1, 2}},       -- CTAs that share B, neighbours in rows
  group = {default = 8, low = 1, high = 1024},    -- cluster rows that are walked together, for L2
  tile_n = {default = 256, values = {64, 128, 256}},
}

-- Everything the template needs to know about sizes, from the plan's parameters.
local function geometry(context)
  local t, plan = context.tune, context.plan
  local element = K.bytes[plan.c_type]
  local boxes = t.tile_n * element // 128
  local g = {
    tile_m = TILE_M, tile_n = t.tile_n, tile_k = TILE_K, stages = t.stages, cluster = t.cluster, group = t.group,
    a_bytes = TILE_M * TILE_K * 2, b_bytes = t.tile_n * TILE_K * 2, box_bytes = BOX_BYTES,
    box_columns = 128 // element, slots = math.min(4, boxes), rounds = math.max(1, boxes // 4),
    element = element, threads = 128 * (1 + CONSUMERS),
  }
  g.shared = g.stages * (g.a_bytes + g.b_bytes) + g.slots * BOX_BYTES + 16 * g.stages + 256 + 1024
  if g.shared > context.target.shared_bytes then
    refuse(string.format("%d stages of a %d x %d tile need %d bytes of shared memory, %s has %d.", g.stages, TILE_M,
                         t.tile_n, g.shared, context.target.name, context.target.shared_bytes), "--plan")
  end
  local table_bytes = #plan.steps * 18 + #plan.fills * 8 + #plan.targets * 8 +
    #plan.chains * (4 + 2 * plan.scheme.n * plan.scheme.p)
  g.storage = table_bytes <= 49152 and "__constant__" or "__device__ const"
  return g
end

-- Whether some forms of this operand are blocks that can be multiplied where they lie.
local function can_be_in_place(plan, operand)
  return not operand.rows_contiguous and operand.type == plan.forms_type and operand.computed < #operand.slots
end

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
local function registers(context, beside, threads)
  local entry = context.target.registers // threads // 8 * 8
  local few = beside and (#beside.used > 6 and 128 or 120) or 72
  local many = (3 * entry - few) // 2 // 8 * 8
  return few, many
end

local function operand_map(plan, form, box_rows)
  return K.matrix_map(form, plan.forms_type, "block_k", "block_" .. (form == "ax" and "m" or "n") .. " * max(1, forms_" ..
    (form == "ax" and "x" or "y") .. ")", "batch_" .. (form == "ax" and "x" or "y"), "2 * block_k",
    "2 * block_k * block_" .. (form == "ax" and "m" or "n") .. " * max(1, forms_" .. (form == "ax" and "x" or "y") .. ")",
    TILE_K, box_rows, 256)
end

local function make(context)
  local plan, g = context.plan, geometry(context)
  local x_plain, y_plain = can_be_in_place(plan, plan.x), can_be_in_place(plan, plan.y)
  local scheme, beside = plan.scheme, forms_beside(context)
  g.few_registers, g.many_registers = registers(context, beside, g.threads)
  local args = {operand_map(plan, "ax", TILE_M)}
  local buffers = {{name = "ax", type = plan.forms_type, role = "in"}}
  local params = {"m", "n", "k", "batch", "block_m", "block_n", "block_k", "forms_x", "forms_y", "batch_x", "batch_y",
                  "ldc", "stride_c", "cut"}
  local function add(list, ...) for _, item in ipairs({...}) do list[#list + 1] = item end end
  if x_plain then
    add(args, K.matrix_map("x", plan.forms_type, "k", "m", "batch_x", "2 * ldx", "2 * (batch_x > 1 ? stride_x : m * ldx)",
                           TILE_K, TILE_M, 256))
    add(params, "stride_x", "x_in_place")
  end
  if x_plain or beside then
    add(buffers, {name = "x", type = plan.x.type, role = "in"})
    add(params, "ldx")
  end
  add(args, operand_map(plan, "by", g.tile_n // g.cluster))
  add(buffers, {name = "by", type = plan.forms_type, role = "in"})
  if y_plain then
    add(args, K.matrix_map("y", plan.forms_type, "k", "n", "batch_y", "2 * ldy", "2 * (batch_y > 1 ? stride_y : n * ldy)",
                           TILE_K, g.tile_n // g.cluster, 256))
    add(buffers, {name = "y", type = plan.forms_type, role = "in"})
    add(params, "ldy", "stride_y", "y_in_place")
  end
  local pitch = g.element .. " * ldc"
  add(args, K.matrix_map("c", plan.c_type, "n", "m", "batch", pitch,
                         string.format("%d * (batch > 1 ? stride_c : m * ldc)", g.element), g.box_columns, BOX_ROWS, 0))
  add(buffers, {name = "c", type = plan.c_type, role = "out"})
  for _, value in ipairs({"m", "n", "block_m", "block_n", "block_k", "tiles_m", "tiles_n", "batch", "batch_x > 1",
                          "batch_y > 1"}) do add(args, K.i32(value)) end
  add(args, K.i32("cut"), K.pointer("sync"))
  add(buffers, {name = "sync", type = "u32", role = "inout"})
  if beside then
    add(args, K.pointer("x"), K.pointer("ax"), K.i64("ldx"), K.i32("k"), K.i32("forms_x"), K.i32("beside_row"))
    add(params, "beside_row")
  end
  if x_plain then add(args, K.i32("x_in_place")) end
  if y_plain then add(args, K.i32("y_in_place")) end

  local function multiple(buffer, what, elements)
    return {that = string.format("%s %% %d == 0", what, elements),
            message = string.format("%s: %s must be a multiple of %d elements (16 bytes)", buffer, what, elements)}
  end
  local require = {
    {that = string.format("block_m > 0 && block_m %% %d == 0", TILE_M * g.cluster),
     message = "block_m must be a multiple of " .. TILE_M * g.cluster},
    {that = string.format("block_n > 0 && block_n %% %d == 0", g.tile_n),
     message = "block_n must be a multiple of " .. g.tile_n},
    {that = string.format("block_k > 0 && block_k %% %d == 0", TILE_K), message = "block_k must be a multiple of " .. TILE_K},
    {that = string.format("m >= 1 && n >= 1 && k >= 1 && batch >= 1 && m <= %d * block_m && n <= %d * block_n && k <= %d * block_k",
                          scheme.n, scheme.p, scheme.m),
     message = "m, n, k and batch must be at least 1 and the blocks must cover the matrices"},
    {that = "cluster_tiles < 1073741824 && block_m * max(forms_x, n_blocks) < 2147483648 && block_n * max(forms_y, p_blocks) < 2147483648 && block_k * m_blocks < 2147483648",
     message = "the matrices are too large: coordinates have 31 bits"},
    multiple("c", "ldc", 16 // g.element), multiple("c", "(batch > 1 ? stride_c : 0)", 16 // g.element),
  }
  if beside then
    add(require, {that = string.format("beside_row >= block_m || (beside_row >= 0 && beside_row %% %d == 0 && batch == 1 && ldx %% 8 == 0 && k %% 8 == 0)", TILE_M),
                  message = "forms can be made beside only for one matrix with rows of whole 16 bytes (k and ldx multiples of 8), from a whole tile on"})
  end
  if x_plain then add(require, multiple("x", "ldx", 8), multiple("x", "(batch_x > 1 ? stride_x : 0)", 8)) end
  if y_plain then add(require, multiple("y", "ldy", 8), multiple("y", "(batch_y > 1 ? stride_y : 0)", 8)) end

  local manifest = K.manifest(context, "gemm", context.variant, {
    params = params, buffers = buffers, args = args, require = require,
    let = {
      {"n_blocks", scheme.n}, {"m_blocks", scheme.m}, {"p_blocks", scheme.p},
      {"tiles_m", string.format("block_m / %d", TILE_M * g.cluster)},
      {"tiles_n", "block_n / " .. g.tile_n},
      {"cluster_tiles", "tiles_m * tiles_n * batch"},
    },
    launch = {
      grid = {string.format("%d * (cut ? max_clusters : min(max_clusters, cluster_tiles))", g.cluster), 1, 1},
      block = {g.threads, 1, 1}, cluster = {g.cluster, 1, 1}, shared = g.shared, overlap = true,
    },
    numerics = {accumulate = "f32", growth = plan.numerics.growth, forms = plan.forms_type,
                note = "Products are accumulated in f32; every write rounds to " .. plan.c_type .. "."},
    plan = {tune = context.tune, shared_bytes = g.shared, chain = plan.chain, tile = {TILE_M, g.tile_n, TILE_K}},
  })
  local text = K.source("kernels/gemm/wgmma.cu.tmpl", setmetatable({
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, x_plain = x_plain,
    y_plain = y_plain, beside = beside, forms_type = plan.forms_type, c_type = plan.c_type, storage = g.storage,
  }, {__index = setmetatable(g, {__index = _G})}))
  return {text = text, manifest = manifest}
end

return {
  needs = {"tma", "mbarrier", "cluster", "wgmma", "setmaxnreg", "overlap"},
  tune = tune, make = make, can_be_in_place = can_be_in_place, forms_beside = forms_beside,
  -- rows of a block that clusters start with, at most: forms of these must be there when the product begins
  first_rows = function(context)
    local t = context.tune
    return string.format("min(block_m, ceil_div(sms / %d, %d * (block_n / %d)) * %d)", t.cluster, t.group, t.tile_n,
                         t.group * TILE_M * t.cluster)
  end,
  -- what the operation must round its blocks up to
  multiples = function(context)
    return {m = TILE_M * context.tune.cluster, n = context.tune.tile_n, k = TILE_K}
  end,
}
