-- The package around a product kernel: tensor maps, parameters, rules and launch, the same for every kind of tensor core.
local K = use("lib/kernel")
local M = {}

-- Completes a geometry: where the schedule's tables go, and whether all fits.
function M.finish(context, g)
  local plan = context.plan
  if g.shared > context.target.shared_bytes then
    refuse(string.format("%d stages of a %d x %d tile need %d bytes of shared memory, %s has %d.", g.stages, g.tile_m,
                         g.tile_n, g.shared, context.target.name, context.target.shared_bytes), "--plan")
  end
  local table_bytes = #plan.steps * 24 + #plan.fills * (context.deliver and 12 or 8) + #plan.targets * 8 +
    #plan.chains * (4 + 2 * plan.scheme.n * plan.scheme.p)
  g.storage = table_bytes <= 49152 and "__constant__" or "__device__ const"
  return g
end

-- Whether some forms of this operand are blocks that can be multiplied where they lie.
function M.can_be_in_place(plan, operand)
  return not operand.rows_contiguous and operand.type == plan.forms_type and operand.computed < #operand.slots
end

-- context.x_in_place: where the parameter `x_in_place` says so, the only form of X is X itself, m x k with rows `ldx` apart.
local function x_or_form_map(plan, g, box_rows)
  return K.matrix_map("ax", plan.forms_type, "x_in_place ? k : block_k", "x_in_place ? m : block_m", 1, "2 * (x_in_place ? ldx : block_k)",
                      "2 * (x_in_place ? m * ldx : block_k * block_m)", g.tile_k, box_rows, 256)
end
local function operand_map(plan, g, form, box_rows)
  return K.matrix_map(form, plan.forms_type, "block_k", "block_" .. (form == "ax" and "m" or "n") .. " * max(1, forms_" ..
    (form == "ax" and "x" or "y") .. ")", "batch_" .. (form == "ax" and "x" or "y"), "2 * block_k",
    "2 * block_k * block_" .. (form == "ax" and "m" or "n") .. " * max(1, forms_" .. (form == "ax" and "x" or "y") .. ")",
    g.tile_k, box_rows, 256)
end

-- Of what comes before and after a product
local function scalars(prologue, after)
  local all = {}
  for _, part in ipairs({prologue or {scalars = {}}, after}) do
    for _, scalar in ipairs(part.scalars) do all[#all + 1] = scalar end
  end
  return all
end

-- The plan's parameters with the number of ring slots that there are, where it was left open.
local function with_stages(tune, stages)
  local all = {}
  for name, value in pairs(tune) do all[name] = value end
  all.stages = stages
  return all
end

-- `g`: stages; tile_m, tile_n, tile_k of a CTA; cluster (CTAs), cluster_m and cluster_n (rows and columns of the cluster's tiles together); a_rows,
-- b_rows (rows of an operand box), box_columns, box_rows (of an output box), element (bytes), threads, shared, storage; deals_items (optional: a cut last wave has work for
-- more clusters than tiles); exchanges (optional: shared tiles are put together from parts); weights_first (optional: Y is loaded
-- before the kernel before this one has ended); beside (optional: the
-- shape of X's forms if idle warps can make them).
-- context.forms_given: all forms are in memory, nothing is read in place. context.sink: sums do not go to a matrix C but to a
-- small memory of each CTA, and idle warps make something of each finished tile: see kernels/gate_up_swiglu_forms.
-- context.deliver: sums do so too, and the last write to a block delivers C in the type deliver.type, or, where C's place takes
-- something of the sums' type, as_sums. It also does what else comes to C, see addends.cuh.tmpl. The plan is then one that
-- deliver.lua made.
-- context.prologue: consumers make X in the buffer "ax" before their first product, if the argument prologue.wanted says so; idle
-- warps do what prologue.usher says, if prologue.usher_wanted.
-- context.epilogue: consumers make something of a tile's accumulators before they send it (one product only), `fold` columns
-- become one; the result is an operand's block of another product, in the buffer epilogue.out, which is written with its padding.
function M.make(context, template, g)
  local plan, sink, deliver, epilogue = context.plan, context.sink, context.deliver or false, context.epilogue or false
  local prologue = context.prologue or false
  local given = context.forms_given
  local x_plain, y_plain = not given and M.can_be_in_place(plan, plan.x), not given and M.can_be_in_place(plan, plan.y)
  local scheme, beside = plan.scheme, not given and g.beside or nil
  local args = {context.x_in_place and x_or_form_map(plan, g, g.a_rows) or operand_map(plan, g, "ax", g.a_rows)}
  local buffers = {{name = "ax", type = plan.forms_type, role = prologue and "inout" or "in"}}
  local params = {"m", "n", "k", "batch", "block_m", "block_n", "block_k", "forms_x", "forms_y", "batch_x", "batch_y", "cut"}
  local function add(list, ...) for _, item in ipairs({...}) do list[#list + 1] = item end end
  if context.x_in_place and not prologue then add(params, "x_in_place", "ldx") end
  if x_plain then
    add(args, K.matrix_map("x", plan.forms_type, "k", "m", "batch_x", "2 * ldx", "2 * (batch_x > 1 ? stride_x : m * ldx)",
                           g.tile_k, g.a_rows, 256))
    add(params, "stride_x", "x_in_place")
  end
  if x_plain or beside then
    add(buffers, {name = "x", type = plan.x.type, role = "in"})
    add(params, "ldx")
  end
  add(args, operand_map(plan, g, "by", g.b_rows))
  add(buffers, {name = "by", type = plan.forms_type, role = "in"})
  if y_plain then
    add(args, K.matrix_map("y", plan.forms_type, "k", "n", "batch_y", "2 * ldy", "2 * (batch_y > 1 ? stride_y : n * ldy)",
                           g.tile_k, g.b_rows, 256))
    add(buffers, {name = "y", type = plan.forms_type, role = "in"})
    add(params, "ldy", "stride_y", "y_in_place")
  end
  if sink or deliver then
    local line, rows = g.element * g.tile_n, scheme.n * scheme.p * g.tile_m
    add(args, K.matrix_map("sums", plan.c_type, g.tile_n, rows, "sums_tiles", line, line * rows, g.box_columns, g.box_rows, 0))
    add(buffers, {name = "sums", type = plan.c_type, role = "inout"})
  end
  if epilogue then
    local line = string.format("%d * block_n / %d", g.element, g.fold)
    local map = K.matrix_map(epilogue.out, plan.c_type, "block_n / " .. g.fold, "block_m", 1, line, "block_m * " .. line, g.box_columns, g.box_rows, 0)
    map.swizzle = g.box_line .. "B"
    add(args, map)
  elseif not sink then
    add(args, K.matrix_map("c", deliver and deliver.type or plan.c_type, "n", "m", "batch", g.element .. " * ldc",
                           string.format("%d * (batch > 1 ? stride_c : m * ldc)", g.element), g.box_columns, g.box_rows, 0))
    add(buffers, {name = "c", type = deliver and deliver.type or plan.c_type, role = deliver and "inout" or "out"})
    add(params, "ldc", "stride_c")
  end
  for _, value in ipairs({"m", "n", "block_m", "block_n", "block_k", "tiles_m", "tiles_n", "batch", "batch_x > 1",
                          "batch_y > 1"}) do add(args, K.i32(value)) end
  add(args, K.i32("cut"), K.pointer("sync"))
  add(buffers, {name = "sync", type = "u32", role = "inout"})
  if g.exchanges then
    add(args, K.pointer("parts"))
    add(buffers, {name = "parts", type = "f32", role = "inout"})
  end
  if g.weights_first then
    add(args, K.i32("y_ready"))
    add(params, "y_ready")
  end
  if deliver then
    add(args, K.i32("as_sums"), K.f32("alpha"), K.f32("beta"), K.pointer("c"), K.pointer("bias"), K.pointer("residual"),
        K.i64("ldc"), K.i64("stride_c"), K.i64("ldr"), K.i64("stride_r"), K.i32("with"))
    add(buffers, {name = "bias", type = deliver.type, role = "in"}, {name = "residual", type = deliver.type, role = "in"})
    if deliver.ranged then -- the value is the bit that says that C is not finite
      add(args, K.pointer("overflow"))
      add(buffers, {name = "overflow", type = "u32", role = "inout"})
    end
    add(params, "as_sums", "ldr", "stride_r", "with")
  end
  if beside then
    add(args, K.pointer("x"), K.pointer("ax"), K.i64("ldx"), K.i32("k"), K.i32("forms_x"), K.i32("beside_row"))
    add(params, "beside_row")
    if g.starts_early then
      add(args, K.i32("early"))
      add(params, "early")
    end
  end
  if prologue then
    add(args, table.unpack(prologue.args))
    add(buffers, table.unpack(prologue.buffers))
    add(params, table.unpack(prologue.params))
  end
  if x_plain then add(args, K.i32("x_in_place")) end
  if y_plain then add(args, K.i32("y_in_place")) end
  local after = sink or epilogue
  if after then
    add(args, table.unpack(after.args))
    add(buffers, table.unpack(after.buffers))
    add(params, table.unpack(after.params))
  end

  local function multiple(buffer, what, elements)
    return {that = string.format("%s %% %d == 0", what, elements),
            message = string.format("%s: %s must be a multiple of %d elements (16 bytes)", buffer, what, elements)}
  end
  local require = {
    {that = string.format("block_m > 0 && block_m %% %d == 0", g.cluster_m),
     message = "block_m must be a multiple of " .. g.cluster_m},
    {that = string.format("block_n > 0 && block_n %% %d == 0", g.cluster_n),
     message = "block_n must be a multiple of " .. g.cluster_n},
    {that = string.format("block_k > 0 && block_k %% %d == 0", g.tile_k), message = "block_k must be a multiple of " .. g.tile_k},
    {that = string.format("m >= 1 && n >= 1 && k >= 1 && batch >= 1 && m <= %d * block_m && n <= %d * block_n && k <= %d * block_k",
                          scheme.n, scheme.p, scheme.m),
     message = "m, n, k and batch must be at least 1 and the blocks must cover the matrices"},
    {that = "cluster_tiles < 1073741824 && block_m * max(forms_x, n_blocks) < 2147483648 && block_n * max(forms_y, p_blocks) < 2147483648 && block_k * m_blocks < 2147483648",
     message = "the matrices are too large: coordinates have 31 bits"},
  }
  if after then
    add(require, table.unpack(after.require))
  else
    add(require, multiple("c", "ldc", 16 // g.element), multiple("c", "(batch > 1 ? stride_c : 0)", 16 // g.element))
  end
  if prologue then add(require, table.unpack(prologue.require)) end
  if context.x_in_place then
    add(require, {that = "!x_in_place || ldx % 8 == 0", message = "x: rows must start at multiples of 8 elements (16 bytes) to be multiplied where they lie"})
  end
  if beside then
    add(require, {that = string.format("beside_row >= block_m || (beside_row >= 0 && beside_row %% %d == 0 && batch == 1 && ldx %% 8 == 0)", g.tile_m),
                  message = "forms can be made beside only for one matrix with rows that start at multiples of 16 bytes (ldx a multiple of 8), from a whole tile on"})
  end
  if x_plain then add(require, multiple("x", "ldx", 8), multiple("x", "(batch_x > 1 ? stride_x : 0)", 8)) end
  if y_plain then add(require, multiple("y", "ldy", 8), multiple("y", "(batch_y > 1 ? stride_y : 0)", 8)) end

  local let = {
    {"n_blocks", scheme.n}, {"m_blocks", scheme.m}, {"p_blocks", scheme.p},
    {"tiles_m", string.format("block_m / %d", g.cluster_m)},
    {"tiles_n", "block_n / " .. g.cluster_n},
    {"cluster_tiles", "tiles_m * tiles_n * batch"},
    {"clusters", string.format("min(max_clusters, max(1, sms / %d))", g.cluster)}, -- as many as workspaces are made for
    {"ctas", string.format(g.deals_items and "%d * (cut ? clusters : min(clusters, cluster_tiles))" or "%d * min(clusters, cluster_tiles)", g.cluster)},
  }
  if sink or deliver then add(let, {"sums_tiles", M.sums_tiles(sink, g.exchanges) .. " * ctas"}) end
  local manifest = K.manifest(context, after and after.name or "gemm", context.variant, {
    scalars = after and scalars(prologue, after) or deliver and {{name = "alpha", type = "f32"}, {name = "beta", type = "f32"}} or {},
    params = params, buffers = buffers, args = args, require = require,
    let = let,
    launch = {
      grid = {"ctas", 1, 1},
      block = {g.threads, 1, 1}, cluster = {g.cluster, 1, 1}, shared = g.shared, overlap = true,
    },
    numerics = {accumulate = "f32", growth = plan.numerics.growth, forms = plan.forms_type,
                note = "Products are accumulated in f32; every write rounds to " .. plan.c_type .. (deliver and ", the last one to " .. deliver.type or "") .. "."},
    plan = {tune = with_stages(context.tune, g.stages), shared_bytes = g.shared, chain = plan.chain, tile = {g.cluster_m, g.cluster_n, g.tile_k}},
  })
  local text = K.source(template, setmetatable({
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, x_plain = x_plain,
    y_plain = y_plain, sink = sink, prologue = prologue, epilogue = epilogue, deliver = deliver, beside = beside or false, forms_type = plan.forms_type, c_type = plan.c_type, storage = g.storage,
  }, {__index = setmetatable(g, {__index = _G})}))
  return {text = text, manifest = manifest}
end

-- Tiles that each CTA has for sums: two of a sink, which are used in turn, one where C is delivered; and one where sums of shared
-- tiles are added up in memory.
function M.sums_tiles(sink, exchanges) return (sink and 2 or 1) + (exchanges and 0 or 1) end

-- Bytes of the memory in which CTAs leave their parts of shared tiles, two each.
function M.parts_bytes(tile_m, tile_n) return string.format("8 * max(sms, 4) * %d", tile_m * tile_n) end

-- Bytes of the CTAs' memories for sums, `tiles` of each.
function M.sums_bytes(scheme, type, tile_m, tile_n, tiles)
  return string.format("%d * max(sms, 4)", tiles * scheme.n * scheme.p * tile_m * tile_n * K.bytes[type])
end

return M
