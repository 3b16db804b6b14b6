-- The activation by itself, as a model server runs it between two products: the control that the fused kernel is measured against.
local K, activations = use("lib/kernel"), use("kernels/gate_up_swiglu_forms/activations")
local THREADS = 256

local function make(context)
  local plan, row = context.plan, activations[context.settings.activation]
  local type = plan.x.type
  local manifest = K.manifest(context, "activation", context.variant, {
    params = {"m", "inner", "ld_sums", "ld_out"},
    buffers = {{name = "sums", type = type, role = "in"}, {name = "out", type = type, role = "out"}},
    let = {{"ctas", string.format("ceil_div(m * (inner / 8), %d)", THREADS)}},
    require = {
      {that = "m >= 1 && inner >= 8 && inner % 8 == 0", message = "inner must be a multiple of 8 elements (16 bytes)"},
      {that = "ld_sums % 8 == 0 && ld_out % 8 == 0", message = "leading dimensions must be multiples of 8 elements (16 bytes)"},
      {that = "ctas < 2147483648", message = "the matrix is too large for one launch"},
    },
    args = {K.pointer("sums"), K.pointer("out"), K.i64("ld_sums"), K.i64("ld_out"), K.i32("m"), K.i32("inner")},
    launch = {grid = {"ctas", 1, 1}, block = {THREADS, 1, 1}, cluster = {1, 1, 1}, shared = 0, overlap = true},
    numerics = {accumulate = "f32", growth = 1, forms = type, note = "One rounding to " .. type .. "."},
    plan = {threads = THREADS, activation = context.settings.activation},
  })
  local text = K.source("kernels/activation/activation.cu.tmpl", {
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, type = type, threads = THREADS,
    row = row, gated = row.gated, name = context.settings.activation,
  })
  return {text = text, manifest = manifest}
end

return {{needs = {"overlap"}, tune = {}, make = make}}
