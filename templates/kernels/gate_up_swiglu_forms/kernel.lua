-- The product by gate and up, the activation, and the forms of the activations for the next product, in one kernel: the gemm
-- kernel with another sink. See README.md of this folder.
local K, P, activations = use("lib/kernel"), use("kernels/gemm/package"), use("kernels/gate_up_swiglu_forms/activations")

-- Chunks that a lane asks for before it uses the first: enough to hide L2's latency, in registers that are there; and as many pieces
-- of a tile as there are warps of workers at least.
local WORDS_IN_FLIGHT = 32
local function chunks_ahead(words, chunks, warps)
  local ahead = 1
  while 2 * ahead * words <= WORDS_IN_FLIGHT and chunks % (64 * ahead) == 0 and chunks // (64 * ahead) >= warps do ahead = 2 * ahead end
  return ahead
end

local function make(context, gemm, workers)
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
  local bias = settings.bias == "yes"
  local sink = {
    name = "gate_up_swiglu_forms",
    title = string.format("gate_up_swiglu_forms: activations of X W by a schedule of %d products, as the next product's forms", #plan.steps),
    work = "Make activations of a tile's sums, and their forms, while the next tile is multiplied.",
    template = "kernels/gate_up_swiglu_forms/activate.cuh.tmpl",
    workers = workers,
    values = {operand = plan.x, forms_type = plan.forms_type, sums_type = settings.sums, chunk = chunk, gated = row.gated,
              value = row.value, bias = bias, type = plan.x.type,
              ahead = chunks_ahead((row.gated and 2 or 1) * blocks * chunk * element // 4, gemm.tile_m(t) * active // chunk, workers // 32)},
    parameters = ", const u8 *sums, u16 *forms, u32 *overflow, float scale, int inner, int block_i" ..
      (bias and (row.gated and ", const u16 *gate_bias, const u16 *up_bias" or ", const u16 *up_bias") or ""),
    call = "activate",
    arguments = "{sums, forms, overflow, scale, inner, block_i" .. (bias and (row.gated and ", gate_bias, up_bias" or ", up_bias") or "") .. "}",
    args = {K.pointer("sums"), K.pointer("act"), K.pointer("overflow"), K.f32("scale"), K.i32("inner"), K.i32("block_i")},
    buffers = {{name = "act", type = plan.forms_type, role = "out"}, {name = "overflow", type = "u32", role = "inout"}},
    scalars = {{name = "scale", type = "f32"}},
    params = {"inner", "block_i"},
    require = {
      {that = string.format("batch == 1 && block_i * %d == block_n && block_i %% 64 == 0 && inner >= 1 && inner <= %d * block_i", t.tile_n // active, scheme.n),
       message = "the blocks of the activations do not fit those of the product"},
    },
  }
  if bias then
    for _, name in ipairs(row.gated and {"gate_bias", "up_bias"} or {"up_bias"}) do
      sink.args[#sink.args + 1] = K.pointer(name)
      sink.buffers[#sink.buffers + 1] = {name = name, type = plan.x.type, role = "in"}
    end
  end
  return gemm.make(setmetatable({plan = sums_plan, sink = sink, forms_given = true, variant = gemm}, {__index = context}))
end

-- The variant with a kind of tensor core; `workers`: threads that make activations.
local function variant(gemm, workers)
  return {
    needs = gemm.needs, tune = gemm.tune, multiples = gemm.multiples,
    make = function(context) return make(context, gemm, workers) end,
    activation = function(settings) return activations[settings.activation] end,
    -- bytes of the CTAs' memories for sums
    sums_bytes = function(context)
      return P.sums_bytes(context.plan.scheme, context.settings.sums, gemm.tile_m(context.tune), context.tune.tile_n,
                          P.sums_tiles(true, gemm.exchanges and gemm.exchanges(context)))
    end,
  }
end

-- Hopper has two warps without work; on Blackwell a tile is multiplied in a third of the time, so four more are launched.
return {variant(use("kernels/gemm/wgmma"), 64), variant(use("kernels/gemm/tcgen05"), 128)}
