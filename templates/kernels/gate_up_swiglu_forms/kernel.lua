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
      declared[#declared + 1] = ", " .. parameter[1] .. (parameter[1]:match("%*$") and "" or " ") .. parameter[2]
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
-- Consumers normalise rows of X before their first product, where the parameter `normalises` says so. context.scales_rows: X can also be
-- multiplied as it is, where `scales_rows` says so; the norm's weight is in that of the product then.
local function normalising(context)
  local plan, type, scales = context.plan, context.plan.x.type, context.scales_rows or false
  local weighted = not scales
  return {
    work = "Before their first product they normalise rows of X, if `normalises`.", scales = scales,
    template = "kernels/gate_up_swiglu_forms/normalise.cuh.tmpl", call = "normalise_rows", wanted = "normalises",
    values = {operand = plan.x, type = type, forms_type = plan.forms_type, chunk = 8, rounding = context.settings.rounding, places = ROW_PLACES, weighted = weighted, scales = scales},
    norm = string.format("{x, residual, %ssum, x_forms, ldx, ldr, lds, eps, %sx_scale, m, hidden, block_m, block_k, true, with_residual != 0}",
                         weighted and "norm, " or "", weighted and "norm_offset, " or ""),
    parameters = string.format("int normalises, %sconst u16 *x, const u16 *residual, %su16 *sum, u16 *x_forms, i64 ldx, i64 ldr, i64 lds, float eps, %sfloat x_scale, int hidden, int with_residual",
                               scales and "int scales_rows, float *row_scales, " or "", weighted and "const u16 *norm, " or "", weighted and "float norm_offset, " or ""),
    args = K.some({K.i32("normalises"), scales and K.i32("scales_rows"), scales and K.pointer("row_scales"), K.pointer("x"), K.pointer("residual"), weighted and K.pointer("norm"),
                   K.pointer("sum"), K.pointer("ax"), K.i64("ldx"), K.i64("ldr"), K.i64("lds"), K.f32("eps"), weighted and K.f32("norm_offset"), K.f32("x_scale"),
                   K.i32("hidden"), K.i32("with_residual")}),
    buffers = K.some({scales and {name = "row_scales", type = "f32", role = "inout"}, {name = "x", type = type, role = "in"},
                      {name = "residual", type = type, role = "in"}, weighted and {name = "norm", type = type, role = "in"}, {name = "sum", type = type, role = "out"}}),
    scalars = K.some({{name = "eps", type = "f32"}, weighted and {name = "norm_offset", type = "f32"}, {name = "x_scale", type = "f32"}}),
    params = K.some({"normalises", scales and "scales_rows", "ldx", "ldr", "lds", "hidden", "with_residual"}),
    require = {{that = "!normalises || (hidden >= 1 && hidden <= block_k && block_k <= " .. LONGEST_ROW .. " && hidden % 8 == 0 && ldx % 8 == 0 && (!with_residual || (ldr % 8 == 0 && lds % 8 == 0)))",
                message = "rows of X, residual and sum must start at multiples of 8 elements and be as long as one, at most " .. LONGEST_ROW}},
  }
end

-- Where a tile is one product, the consumers make activations of their accumulators. context.normalises: they can normalise X too.
local function in_registers(context, gemm)
  local row = activations[context.settings.activation]
  local epilogue = common(context, row, row.gated and 2 or 1)
  epilogue.work = "They make activations of a tile's accumulators before they send it."
  epilogue.template, epilogue.out, epilogue.fold = "kernels/gate_up_swiglu_forms/epilogue.cuh.tmpl", "act", row.gated and 2 or 1
  epilogue.values.turned, epilogue.values.c_type, epilogue.values.plan = context.tune.turned > 0, context.plan.forms_type, context.plan
  epilogue.values.scaled = context.scales_rows or false
  epilogue.take({OVERFLOW, SCALE, INNER}, context.scales_rows and {"scales_rows ? row_scales : nullptr", "x_ready"})
  local plan = setmetatable({c_type = context.plan.forms_type}, {__index = context.plan})
  return gemm.make(setmetatable({plan = plan, prologue = context.normalises and normalising(context), epilogue = epilogue, forms_given = true, variant = gemm}, {__index = context}))
end

-- The variant with a kind of tensor core; `workers`: threads that make activations.
local function variant(gemm, workers)
  local function registers(context) return gemm.exchanges and gemm.exchanges(context) end
  return {
    needs = gemm.needs, tune = gemm.tune, multiples = gemm.multiples,
    make = function(context) return registers(context) and in_registers(context, gemm) or by_workers(context, gemm, workers) end,
    can_normalise = registers, longest_row = LONGEST_ROW,
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
