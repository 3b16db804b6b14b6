-- The product by gate and up, the activation, and the forms of the activations for the next product, in one kernel: the gemm
-- kernel with something else at its ends. See README.md of this folder.
local K, P, activations = use("lib/kernel"), use("kernels/gemm/package"), use("kernels/gate_up_swiglu_forms/activations")

local GROUP = 8 -- columns of the product that stay together in the tensor core's results

-- Chunks that a lane asks for before it uses the first: enough to hide L2's latency, in registers that are there; and as many pieces
-- of a tile as there are warps of workers at least.
local WORDS_IN_FLIGHT = 32
local function chunks_ahead(words, chunks, warps)
  local ahead = 1
  while 2 * ahead * words <= WORDS_IN_FLIGHT and chunks % (64 * ahead) == 0 and chunks // (64 * ahead) >= warps do ahead = 2 * ahead end
  return ahead
end

-- A parameter in C
local function declare(c_type, name) return c_type .. (c_type:match("%*$") and "" or " ") .. name end

-- Arguments, buffers and rules that both ways of making activations have. `columns`: of a tile for each of its activations.
local function common(context, row, columns)
  local scheme, settings, type = context.plan.scheme, context.settings, context.plan.x.type
  local bias = settings.bias == "yes"
  local after = {
    name = "gate_up_swiglu_forms",
    title = string.format("gate_up_swiglu_forms: activations of X W by a schedule of %d products, as the next product's forms", #context.plan.steps),
    call = "activate",
    args = {},
    buffers = {{name = "act", type = context.plan.forms_type, role = "out"}, {name = "overflow", type = "u32", role = "inout"}},
    scalars = {{name = "scale", type = "f32"}},
    params = {"inner", "block_i"},
    require = {
      {that = string.format("batch == 1 && block_i * %d == block_n && block_i %% 64 == 0 && inner >= 1 && inner <= %d * block_i", columns, scheme.n),
       message = "the blocks of the activations do not fit those of the product"},
    },
  }
  local names = not bias and {} or row.gated and {"gate_bias", "up_bias"} or {"up_bias"}
  for _, name in ipairs(names) do after.buffers[#after.buffers + 1] = {name = name, type = type, role = "in"} end
  after.values = {row = row, gated = row.gated, bias = bias, type = type}
  -- completes it with the kernel's parameters: {type, name, argument}, then the biases; `more`: what the function takes besides
  function after.take(parameters, more)
    local declared, given = {}, {}
    for _, name in ipairs(names) do parameters[#parameters + 1] = {"const u16 *", name, K.pointer(name)} end
    for _, parameter in ipairs(parameters) do
      declared[#declared + 1] = ", " .. declare(parameter[1], parameter[2])
      given[#given + 1] = parameter[2]
      after.args[#after.args + 1] = parameter[3]
    end
    for _, argument in ipairs(more or {}) do given[#given + 1] = argument end
    after.parameters, after.arguments = table.concat(declared), "{" .. table.concat(given, ", ") .. "}"
  end
  return after
end

local OVERFLOW, SCALE, INNER = {"u32 *", "overflow", K.pointer("overflow")}, {"float", "scale", K.f32("scale")}, {"int", "inner", K.i32("inner")}

-- Workers make activations of a tile's sums in memory.
local function by_workers(context, gemm, workers)
  local plan, settings, t = context.plan, context.settings, context.tune
  local scheme, row = plan.scheme, activations[settings.activation]
  if scheme.n ~= scheme.m or scheme.n ~= scheme.p then
    refuse(string.format("The scheme is %d x %d x %d: an activation tile in every block of the product must be one in every block of the next product's X, so only n x n x n schemes do.",
                         scheme.n, scheme.m, scheme.p))
  end
  local blocks = scheme.n * scheme.p
  if scheme.n > 4 then refuse("A worker holds a piece of every block in registers; more than 4 x 4 blocks are too many.") end
  local sums_plan = setmetatable({c_type = settings.sums}, {__index = plan})
  local element, active = K.bytes[settings.sums], t.tile_n // (row.gated and 2 or 1)
  local chunk = (blocks <= 4 and 8 or blocks <= 9 and 4 or 2) // (element == 4 and 2 or 1)
  chunk = math.max(2, chunk)
  local sink = common(context, row, t.tile_n // active)
  sink.work = "Make activations of a tile's sums, and their forms, while the next tile is multiplied."
  sink.template, sink.workers = "kernels/gate_up_swiglu_forms/activate.cuh.tmpl", workers
  for name, value in pairs({operand = plan.x, forms_type = plan.forms_type, sums_type = settings.sums, chunk = chunk,
                            ahead = chunks_ahead((row.gated and 2 or 1) * blocks * chunk * element // 4, gemm.tile_m(t) * active // chunk, workers // 32)}) do
    sink.values[name] = value
  end
  sink.take({{"const u8 *", "sums", K.pointer("sums")}, {"u16 *", "forms", K.pointer("act")}, OVERFLOW, SCALE, INNER, {"int", "block_i", K.i32("block_i")}})
  return gemm.make(setmetatable({plan = sums_plan, sink = sink, forms_given = true, variant = gemm}, {__index = context}))
end

local ROW_PLACES = 8 -- chunks of 8 numbers of a row that each of 128 threads holds
local LONGEST_ROW = 128 * 8 * ROW_PLACES
-- X is normalised by this kernel. Before the first product by the consumers, where the parameter `normalises` says so; or, with
-- context.scales_rows, which takes the norm's weight to be in that of the product, after it, where `x_in_place` says so.
local function normalising(context)
  local plan, type, scales = context.plan, context.plan.x.type, context.scales_rows or false
  local weighted = not scales
  local prologue = {
    work = "Before their first product they normalise rows of X, if `normalises`.", scales = scales,
    template = "kernels/gate_up_swiglu_forms/normalise.cuh.tmpl", call = "normalise_rows", wanted = "normalises",
    values = {operand = plan.x, type = type, forms_type = plan.forms_type, chunk = 8, rounding = context.settings.rounding, places = ROW_PLACES, weighted = weighted, scales = scales},
    norm = string.format("{x, residual, %ssum, x_forms, ldx, ldr, lds, eps, %sx_scale, m, hidden, block_m, block_k, true, with_residual != 0}",
                         weighted and "norm, " or "", weighted and "norm_offset, " or ""),
    args = {}, buffers = {}, scalars = {}, params = {},
    require = K.some(
      {that = "!normalises || (hidden >= 1 && hidden <= block_k && block_k <= " .. LONGEST_ROW .. " && hidden % 8 == 0 && ldx % 8 == 0 && (!with_residual || (ldr % 8 == 0 && lds % 8 == 0)))",
       message = "rows of X, residual and sum must start at multiples of 8 elements and be as long as one, at most " .. LONGEST_ROW},
      scales and {that = "!x_in_place || (!normalises && !with_residual && hidden >= 1 && hidden <= block_k && hidden % 8 == 0)",
                  message = "X as it is: rows of whole chunks of 8 without a residual, which are normalised after the product"}
    ),
  }
  prologue.usher = string.format("usher(%s, sync, x_ready, taken)", scales and prologue.norm .. ", row_scales, x_in_place != 0" or "block_m")
  prologue.usher_wanted = scales and "normalises || x_in_place" or "normalises"
  local declared = {}
  local function add(list, entry) list[#list + 1] = entry end
  for _, row in ipairs(K.some( -- type and name in C, the argument, what a buffer is to the kernel
    {"int", "normalises", K.i32("normalises")},
    scales and {"int", "x_in_place", K.i32("x_in_place")},
    scales and {"float *", "row_scales", K.pointer("row_scales"), "inout", "f32"},
    {"const u16 *", "x", K.pointer("x"), "in", type},
    {"const u16 *", "residual", K.pointer("residual"), "in", type},
    weighted and {"const u16 *", "norm", K.pointer("norm"), "in", type},
    {"u16 *", "sum", K.pointer("sum"), "out", type},
    {"u16 *", "x_forms", K.pointer("ax")},
    {"i64", "ldx", K.i64("ldx")}, {"i64", "ldr", K.i64("ldr")}, {"i64", "lds", K.i64("lds")},
    {"float", "eps", K.f32("eps")}, weighted and {"float", "norm_offset", K.f32("norm_offset")}, {"float", "x_scale", K.f32("x_scale")},
    {"int", "hidden", K.i32("hidden")}, {"int", "with_residual", K.i32("with_residual")}
  )) do
    local c_type, name, argument, role, kind = table.unpack(row)
    add(declared, declare(c_type, name))
    add(prologue.args, argument)
    if role then add(prologue.buffers, {name = name, type = kind, role = role}) end
    if argument.type == "f32" then add(prologue.scalars, {name = name, type = "f32"}) end
    if argument.type == "i32" or argument.type == "i64" then add(prologue.params, name) end
  end
  prologue.parameters = table.concat(declared, ", ")
  return prologue
end

-- Where a tile is one product, the consumers make activations of their accumulators. context.normalises: X is normalised too.
local function in_registers(context, gemm)
  local row = activations[context.settings.activation]
  local epilogue = common(context, row, row.gated and 2 or 1)
  epilogue.work = "They make activations of a tile's accumulators before they send it."
  epilogue.template, epilogue.out, epilogue.fold = "kernels/gate_up_swiglu_forms/epilogue.cuh.tmpl", "act", row.gated and 2 or 1
  epilogue.values.turned, epilogue.values.c_type, epilogue.values.plan = context.tune.turned > 0, context.plan.forms_type, context.plan
  -- X as it is: what it would have been multiplied by comes to the product's rows, or, without a norm, to all of it
  epilogue.values.scaled = context.scales_rows and "rows" or context.x_in_place and "all" or false
  local parameters = {OVERFLOW, SCALE, INNER}
  if epilogue.values.scaled == "all" then
    parameters[#parameters + 1] = {"float", "x_scale", K.f32("x_scale")}
    epilogue.scalars[#epilogue.scalars + 1] = {name = "x_scale", type = "f32"}
  end
  epilogue.take(parameters, context.scales_rows and {"x_in_place ? row_scales : nullptr", "x_ready"})
  local plan = setmetatable({c_type = context.plan.forms_type}, {__index = context.plan})
  return gemm.make(setmetatable({plan = plan, prologue = context.normalises and normalising(context), epilogue = epilogue, forms_given = true, variant = gemm}, {__index = context}))
end

-- The variant with a kind of tensor core; `workers`: threads that make activations.
local function variant(gemm, workers)
  local function registers(context) return gemm.exchanges and gemm.exchanges(context) end
  return {
    needs = gemm.needs, tune = gemm.tune, multiples = gemm.multiples,
    make = function(context) return registers(context) and in_registers(context, gemm) or by_workers(context, gemm, workers) end,
    in_registers = registers, longest_row = LONGEST_ROW,
    activation = function(settings) return activations[settings.activation] end,
    -- rows of gate that stand side by side in the prepared weight, before as many of up
    together = function(context) return registers(context) and GROUP or context.tune.tile_n // 2 end,
    -- bytes of the CTAs' memories for sums; nil if there are none
    sums_bytes = function(context)
      if registers(context) then return nil end
      return P.sums_bytes(context.plan.scheme, context.settings.sums, gemm.tile_m(context.tune), context.tune.tile_n,
                          P.sums_tiles(true, false))
    end,
  }
end

-- Hopper has two warps without work; on Blackwell a tile is multiplied in a third of the time, so four more are launched.
return {variant(use("kernels/gemm/wgmma"), 64), variant(use("kernels/gemm/tcgen05"), 128)}
