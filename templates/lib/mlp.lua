-- The parts of a language model's MLP block as packages, buffers and steps, from which the operations rmsnorm_forms,
-- gate_up_swiglu_forms, down and mlp are put together. Everything a part needs in op.json has the same name in all of them:
--   m rows (tokens), hidden and inner (the intermediate size); blocks block_m x block_h of the normalised X, block_m x block_i of
--   the activations, block_n of the gate/up product's columns, block_o of the output's columns.
local K, O, tune, settings, gemm = use("lib/kernel"), use("lib/op"), use("lib/tune"), use("lib/settings"), use("kernels/gemm/package")
local M = {}

-- What all parts share, from the context that operations get.
function M.open(context)
  local plan, scheme = context.plan, context.plan.scheme
  if scheme.n ~= scheme.m or scheme.n ~= scheme.p then
    refuse(string.format("%s needs an n x n x n scheme: what a CTA computes of one product must be a tile of each form of the next one's X. This one is %d x %d x %d.",
                         context.op, scheme.n, scheme.m, scheme.p))
  end
  if plan.x.rows_contiguous or plan.y.rows_contiguous then
    refuse(context.op .. " takes X as M x K and weights as N x K, as models store them.", "--trans-x")
  end
  local fused = K.variant("gate_up_swiglu_forms", context.target)
  local product = K.variant("gemm", context.target)
  local b = {context = context, plan = plan, files = {}, buffers = {}, steps = {}, require = {}, scalars = {}, params = {}, let = {}}
  b.settings = settings.choose(context.settings)
  b.tune = tune.choose(product.tune, context.overrides)
  b.fused = setmetatable({variant = fused, tune = b.tune, settings = b.settings}, {__index = context})
  b.product = O.summing(setmetatable({variant = product, tune = b.tune, forms_given = true,
                                        ranged = plan.sums_type ~= plan.c_type and 8 or nil}, {__index = context}))
  b.row = fused.activation(b.settings)
  b.fused.normalises = context.op == "mlp" and b.settings.norm == "rms" and fused.in_registers(b.fused) or false
  -- With one product X may be multiplied where it lies. What normalises a row of X may come after the product, if the norm's weight is
  -- in that of gate and up: the same numbers, but for roundings, in the convention that has none between.
  b.fused.x_in_place = context.op == "mlp" and fused.in_registers(b.fused) and gemm.can_be_in_place(plan, plan.x)
    and (b.settings.norm == "none" or b.settings.rounding == "once")
  b.fused.scales_rows = b.fused.x_in_place and b.settings.norm == "rms"
  b.type = plan.x.type
  local size, n = product.multiples(b.product), scheme.n
  local per_tile = size.n // (b.row.gated and 2 or 1)
  M.param(b, "m", "rows of X: tokens", 1, 1)
  M.let(b, "block_m", string.format("round_up(ceil_div(m, %d), %d)", n, size.m))
  b.widths = {
    hidden = function() M.let(b, "block_h", string.format("round_up(ceil_div(hidden, %d), %d)", n, size.k)) end,
    inner = function()
      M.let(b, "block_i", string.format("round_up(ceil_div(inner, %d), %d)", n, math.max(size.k, per_tile)))
      M.let(b, "block_n", string.format("%d * block_i", b.row.gated and 2 or 1))
    end,
    out = function() M.let(b, "block_o", string.format("round_up(ceil_div(hidden, %d), %d)", n, size.n)) end,
  }
  return b
end

function M.let(b, name, formula) O.append(b.let, {name, formula}) end
function M.param(b, name, help, min, default) O.append(b.params, O.param(name, help, min, default)) end
function M.buffer(b, name, role, type, bytes, optional, zero)
  O.append(b.buffers, {name = name, role = role, type = type, bytes = bytes, optional = optional or 0, zero = zero or false})
end
function M.cut(b)
  if b.has_cut then return end
  b.has_cut = true
  M.param(b, "cut", "the last wave of a product is shared out over the GPU where that is faster: 0 never, 1 so that results stay the same bit by bit, 2 in any order", 0, 1)
end
function M.rule(b, that, message) O.append(b.require, {that = that, message = message}) end

local function matrix(rows, ld, columns) return string.format("2 * ((%s - 1) * %s + %s)", rows, ld, columns) end
local function aligned(buffer) return string.format("align_%s %% 16 == 0", buffer) end
-- The output that says whether something left the range of its type: bit 0 forms of X, 1 the activations, 2 a weight (or a norm's in it), 3 the
-- sums of C, where they have another type than C. The caller clears it. Scales are powers of two, each with its inverse: x_scale gate_up_scale = 1, act_scale down_scale = 1.
local function overflow(b)
  if b.has_overflow then return end
  b.has_overflow = true
  M.buffer(b, "overflow", "output", "u32", 4, 1)
end

-- Not needed where X is multiplied where it lies.
local function x_forms(b, role)
  local bytes = string.format("2 * %d * block_m * block_h", #b.plan.x.slots)
  if b.fused.x_in_place then
    M.buffer(b, "x_forms", role, b.plan.forms_type, "x_in_place ? 0 : " .. bytes, "x_in_place")
  else
    M.buffer(b, "x_forms", role, b.plan.forms_type, bytes)
  end
end

-- X as it is -> forms of X
local function forms_of_x(b, role)
  local plan, slots = b.plan, #b.plan.x.slots
  O.package(b.files, "forms_x", "forms", b.context, {operand = setmetatable({ranged = 1}, {__index = plan.x})})
  O.append(b.scalars, {name = "x_scale", default = 1.0})
  overflow(b)
  M.param(b, "ldx", "elements from one row of X to the next", 1, "hidden")
  M.buffer(b, "x", "input", b.type, matrix("m", "ldx", "hidden"))
  local rows_aligned, when = aligned("x") .. " && ldx % 8 == 0", 1
  if b.fused.x_in_place then
    M.let(b, "x_in_place", rows_aligned)
    when = "!x_in_place"
  end
  x_forms(b, role)
  M.rule(b, "ldx >= hidden", "x: ldx is smaller than a row")
  M.rule(b, "align_x % 2 == 0", "x must be aligned to its elements (2 bytes)")
  O.append(b.steps, {package = "forms_x", phase = "run", when = when, bind = {
    source = "x", out = "x_forms", scale = "x_scale", overflow = "overflow", forms = slots, rows = "m", k = "hidden", batch = 1, ld = "ldx", stride = 0, block_rows = "block_m",
    part_rows = "block_m", block_k = "block_h", aligned = rows_aligned,
  }})
end

local MOST_FUSED = 1024 -- tokens for which a kernel of its own takes longer than rows before the first product, see tests/bench/NOTES.md
-- X, optionally with a residual to add first -> forms of the normalised X, in `forms`
function M.rmsnorm(b, role)
  if b.settings.norm == "none" then return forms_of_x(b, role) end
  local plan, slots, folded = b.plan, #b.plan.x.slots, b.fused.scales_rows
  O.package(b.files, "rmsnorm_forms", "rmsnorm_forms", setmetatable({settings = b.settings, folded = folded}, {__index = b.context}))
  M.param(b, "ldx", "elements from one row of X to the next", 1, "hidden")
  M.param(b, "ldr", "elements from one row of the residual to the next", 1, "hidden")
  M.param(b, "lds", "elements from one row of the sum to the next", 1, "hidden")
  O.append(b.scalars, {name = "eps", default = 1e-6}, {name = "norm_offset", default = 0.0}, {name = "x_scale", default = 1.0})
  M.buffer(b, "x", "input", b.type, matrix("m", "ldx", "hidden"))
  M.buffer(b, "residual", "input", b.type, matrix("m", "ldr", "hidden"), 1)
  M.buffer(b, "sum", "output", b.type, "has_residual ? " .. matrix("m", "lds", "hidden") .. " : 0", "!has_residual")
  M.buffer(b, "norm", "input", b.type, "2 * hidden")
  overflow(b)
  M.let(b, "norm_aligned", table.concat(K.some(aligned("x"), not folded and aligned("norm"), "ldx % 8 == 0",
        "(!has_residual || (" .. aligned("residual") .. " && " .. aligned("sum") .. " && ldr % 8 == 0 && lds % 8 == 0))"), " && "))
  M.rule(b, "ldx >= hidden", "x: ldx is smaller than a row")
  M.rule(b, "!has_residual || (ldr >= hidden && lds >= hidden)", "residual, sum: the leading dimension is smaller than a row")
  M.rule(b, "align_x % 2 == 0 && align_norm % 2 == 0 && align_residual % 2 == 0 && align_sum % 2 == 0", "x, norm, residual and sum must be aligned to their elements (2 bytes)")
  local when = {}
  if b.fused.normalises then
    M.param(b, "fuse_norm", "where X is normalised: 0 by a kernel of its own, 1 by the product by gate and up where that is faster, 2 by that product wherever it can", 0, 1)
    M.let(b, "fusible", "fuse_norm && norm_aligned && hidden % 8 == 0")
    if folded then
      M.let(b, "x_in_place", "fusible && !has_residual")
      M.buffer(b, "row_scales", "workspace", "f32", "x_in_place ? 4 * block_m : 0", "!x_in_place")
      O.append(when, "!x_in_place")
    end
    M.let(b, "normalises", string.format("fusible && %sblock_h <= %d && (fuse_norm > 1 || m <= %d)", folded and "!x_in_place && " or "", b.fused.variant.longest_row, MOST_FUSED))
    O.append(when, "!normalises")
  end
  x_forms(b, role)
  O.append(b.steps, {package = "rmsnorm_forms", phase = "run", when = #when > 0 and table.concat(when, " && ") or 1, bind = {
    x = "x", residual = "residual", weight = not folded and "norm" or nil, sum = "sum", forms = "x_forms", overflow = "overflow", eps = "eps",
    weight_offset = not folded and "norm_offset" or nil, scale = "x_scale", m = "m", hidden = "hidden", ldx = "ldx", ldr = "ldr", lds = "lds",
    block_m = "block_m", block_k = "block_h", aligned = "norm_aligned", with_residual = "has_residual",
  }})
end

-- Forms of a weight, made once. `sources`: the names of its one or two matrices, rows x columns as stored. `normed`: columns are
-- multiplied by the norm's weight.
local function weight_forms(b, name, sources, rows, columns, block_rows, block_k, paired, normed)
  local plan, s = b.plan, sources[1]
  local operand = setmetatable({paired = paired, ranged = 4, normed = normed}, {__index = plan.y})
  O.append(b.scalars, {name = name .. "_scale", default = 1.0})
  overflow(b)
  O.package(b.files, name, "forms", b.context, {operand = operand, prepares = true})
  M.param(b, "ld_" .. name, "elements from one row of the weight to the next", 1, columns)
  local given, even = {}, {}
  for _, source in ipairs(sources) do
    M.buffer(b, source, "input", plan.y.type, matrix(rows, "ld_" .. name, columns), 1)
    O.append(given, "has_" .. source)
    O.append(even, aligned(source))
    M.rule(b, string.format("align_%s %% 2 == 0", source), source .. " must be aligned to its elements (2 bytes)")
  end
  if normed then O.append(even, aligned("norm")) end
  M.rule(b, string.format("ld_%s >= %s", name, columns), name .. ": ld_" .. name .. " is smaller than a row")
  M.buffer(b, name .. "_forms", "prepared", plan.forms_type, string.format("2 * %d * %s * %s", #plan.y.slots, block_rows, block_k))
  local bind = {source = s, second = sources[2], out = name .. "_forms", scale = name .. "_scale", overflow = "overflow", forms = #plan.y.slots, rows = rows, k = columns, batch = 1,
                ld = "ld_" .. name, stride = 0, block_rows = block_rows, part_rows = block_rows, block_k = block_k,
                aligned = string.format("%s && ld_%s %% 8 == 0", table.concat(even, " && "), name)}
  if normed then bind.norm, bind.norm_offset = "norm", "norm_offset" end
  O.append(b.steps, {package = name, phase = "prepare", when = table.concat(given, " && "), bind = bind})
end

-- Counters of a product: see kernels/gemm/sync.cuh.tmpl.
local function sync_bytes(plan, more) return string.format("256 + 4 * max(sms, 4) * %d", more + O.counters(plan.scheme)) end

-- Both products use it in turn: the second one touches it when the first has ended.
local function parts(b)
  if b.has_parts or not O.exchanges(b.product) then return end
  b.has_parts = true
  O.append(b.buffers, O.parts_buffer(b.product))
end
-- What the kernels of both products take besides. `follows`: the operation has prepared the weight. The kernel before may be any, even the one
-- that prepares: that lets nobody start early, so the weight is there when this kernel starts, and may be loaded before that one has ended.
local function bind_product(b, bind, follows)
  if O.exchanges(b.product) then bind.parts = "parts" end
  if b.product.variant.exchanges then bind.y_ready = follows and 1 or 0 end
end

-- Forms of X -> forms of the activations
function M.gate_up(b, x_role, act_role)
  local plan, slots = b.plan, #b.plan.x.slots
  local gated = b.row.gated
  weight_forms(b, "gate_up", gated and {"gate", "up"} or {"up"}, "inner", "hidden", "block_n", "block_h", gated and b.fused.variant.together(b.fused) or nil, b.fused.scales_rows)
  local made = b.fused.variant.make(b.fused)
  b.files["gate_up_swiglu_forms/kernel.cu"], b.files["gate_up_swiglu_forms/manifest.json"] = made.text, made.manifest
  O.append(b.scalars, {name = "act_scale", default = 1.0})
  if x_role then x_forms(b, x_role) end
  M.buffer(b, "act_forms", act_role, plan.forms_type, string.format("2 * %d * block_m * block_i", slots))
  local sums = b.fused.variant.sums_bytes(b.fused)
  if sums then M.buffer(b, "sums", "workspace", b.settings.sums, sums) end
  M.buffer(b, "sync_gate_up", "workspace", "u32", sync_bytes(plan, 1), 0, true)
  parts(b)
  M.cut(b)
  overflow(b)
  local bind = {
    ax = "x_forms", by = "gate_up_forms", sums = sums and "sums", sync = "sync_gate_up", act = "act_forms", overflow = "overflow", scale = "act_scale",
    -- n counts whole columns of the product, of which the last tiles may be padding
    m = "m", n = "block_n * " .. plan.scheme.p, k = "hidden", batch = 1, block_m = "block_m", block_n = "block_n",
    block_k = "block_h", forms_x = slots, forms_y = #plan.y.slots, batch_x = 1, batch_y = 1, cut = "cut", inner = "inner", block_i = "block_i",
  }
  if b.settings.bias == "yes" then
    for _, name in ipairs(gated and {"gate_bias", "up_bias"} or {"up_bias"}) do
      M.buffer(b, name, "input", b.type, "2 * inner")
      bind[name] = name
    end
  end
  bind_product(b, bind, not x_role)
  if b.fused.normalises then
    local folded = b.fused.scales_rows
    for _, name in ipairs(K.some("normalises", "x", "residual", "sum", "ldx", "ldr", "lds", "eps", "x_scale", "hidden", not folded and "norm",
                                  not folded and "norm_offset", folded and "row_scales")) do bind[name] = name end
    bind.with_residual = "has_residual"
  end
  if not b.fused.x_in_place then
    O.append(b.steps, {package = "gate_up_swiglu_forms", phase = "run", when = 1, bind = bind})
    return
  end
  local uniform = not b.fused.scales_rows -- what multiplies X does so in this kernel, if it has not been done
  bind.ldx = "ldx"
  for _, in_place in ipairs({true, false}) do
    local own = {}
    for name, value in pairs(bind) do own[name] = value end
    own.x_in_place, own.ax = in_place and 1 or 0, in_place and "x" or "x_forms"
    if uniform then own.x_scale = in_place and "x_scale" or 1 end
    O.append(b.steps, {package = "gate_up_swiglu_forms", phase = "run", when = in_place and "x_in_place" or "!x_in_place", bind = own})
  end
end

-- Forms of the activations -> C, optionally with bias and residual
function M.down(b, act_role)
  local plan, slots, element = b.plan, #b.plan.x.slots, K.bytes[b.plan.c_type]
  weight_forms(b, "down", {"down"}, "hidden", "inner", "block_o", "block_i")
  local made = b.product.variant.make(b.product)
  b.files["gemm/kernel.cu"], b.files["gemm/manifest.json"] = made.text, made.manifest
  O.package(b.files, "finish", "finish", b.context, {ranged = b.product.ranged, sums_scale = b.product.sums_scale})
  M.param(b, "ldc", "elements from one row of C to the next", 1, "hidden")
  M.param(b, "ld_add", "elements from one row of the matrix that is added to C to the next", 1, "hidden")
  M.cut(b)
  if act_role then M.buffer(b, "act_forms", act_role, plan.forms_type, string.format("2 * %d * block_m * block_i", slots)) end
  local c = string.format("%d * ((m - 1) * ld%%s + hidden)", element)
  M.buffer(b, "c", "output", plan.c_type, c:format("c"))
  M.buffer(b, "down_bias", "input", plan.c_type, element .. " * hidden", 1)
  M.buffer(b, "add", "input", plan.c_type, c:format("_add"), 1)
  local names = {sums = "down_sums", bias = "down_bias", residual = "add", ldr = "ld_add", stride_r = 0, alpha = 1, beta = 0,
                 no_c = 1, plain = 1}
  M.let(b, "c_aligned", O.aligned_rows("c", "ldc", nil, plan.c_type))
  M.let(b, "direct", O.direct(b.product, "c_aligned", names))
  M.let(b, "ldt", "round_up(hidden, 64)")
  M.buffer(b, "product", "workspace", plan.sums_type, string.format("direct ? 0 : %d * m * ldt", K.bytes[plan.sums_type]), "direct")
  if b.product.deliver then M.buffer(b, "down_sums", "workspace", plan.sums_type, O.sums_bytes(b.product)) end
  M.buffer(b, "sync", "workspace", "u32", sync_bytes(plan, 0), 0, true)
  parts(b)
  M.rule(b, "ldc >= hidden", "c: ldc is smaller than a row")
  M.rule(b, "!has_add || ld_add >= hidden", "add: ld_add is smaller than a row")
  M.rule(b, string.format("align_c %% %d == 0", element), "c must be aligned to its elements")
  for _, direct in ipairs({true, false}) do
    local bind = {
      ax = "act_forms", by = "down_forms", c = direct and "c" or "product", sync = "sync", m = "m", n = "hidden", k = "inner", batch = 1,
      block_m = "block_m", block_n = "block_o", block_k = "block_i", forms_x = slots, forms_y = #plan.y.slots, batch_x = 1, batch_y = 1,
      ldc = direct and "ldc" or "ldt", stride_c = 0, cut = "cut",
    }
    if b.product.deliver then O.bind_delivery(bind, direct, names) end
    bind_product(b, bind, not act_role)
    if b.product.deliver and b.product.ranged then bind.overflow = "overflow" end
    O.append(b.steps, {package = "gemm", phase = "run", when = direct and "direct" or "!direct", bind = bind})
  end
  O.append(b.steps, {package = "finish", phase = "run", when = "!direct", bind = {
    t = "product", c = "c", bias = "down_bias", residual = "add", m = "m", n = "hidden", batch = 1, ldt = "ldt", stride_t = 0, ldc = "ldc",
    stride_c = 0, ldr = "ld_add", stride_r = 0, aligned_c = "c_aligned", aligned_bias = "align_down_bias % 16 == 0",
    aligned_residual = O.aligned_rows("add", "ld_add", nil, plan.c_type), with_c = 0, with_bias = "has_down_bias", with_residual = "has_add",
    alpha = 1, beta = 0, overflow = b.product.ranged and "overflow",
  }})
end

function M.close(b)
  local plan, context = b.plan, b.context
  M.rule(b, "m >= 1", "m is 0: there are no tokens")
  b.files["op.json"] = {
    format = "heptane-op/1", op = context.op, scheme = O.scheme(plan), target = context.target.name, types = O.types(plan),
    options = {chain = plan.chain.method, tune = b.tune, settings = b.settings, gated = b.row.gated}, params = b.params,
    scalars = b.scalars, let = b.let, require = b.require, buffers = b.buffers, steps = b.steps,
    numerics = {accumulate = "f32", growth = plan.numerics.growth, forms = plan.forms_type, expected = plan.numerics.expected,
                bound = 2 * plan.numerics.bound + (b.type == "bf16" and 2^-7 or 2^-10),
                note = "Bound is a relative Frobenius error for X and sums of gate and up like N(0,1): two products in turn, and roundings between."},
  }
  return b.files
end

return M
