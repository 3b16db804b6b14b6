-- C = alpha T + beta C + bias + residual, for what the product's bulk stores cannot do themselves.
local K = use("lib/kernel")
-- CTAS_PER_SM: so few registers that this many fit. With 4 chunks of 16 bytes a thread that is 48 KB on their way to a multiprocessor.
local THREADS, CHUNK, CTAS_PER_SM = 256, 8, 3

local function make(context)
  local plan, type, sums = context.plan, context.plan.c_type, context.plan.sums_type
  local chunks = (K.bytes[type] > 2 or K.bytes[sums] > 2) and 2 or 4 -- per thread
  local manifest = K.manifest(context, "finish", context.variant, {
    params = {"m", "n", "batch", "ldt", "stride_t", "ldc", "stride_c", "ldr", "stride_r", "aligned_c", "aligned_bias",
              "aligned_residual", "with_c", "with_bias", "with_residual"},
    buffers = {
      {name = "t", type = sums, role = "in"}, {name = "c", type = type, role = "inout"},
      {name = "bias", type = type, role = "in"}, {name = "residual", type = type, role = "in"},
    },
    scalars = {{name = "alpha", type = "f32"}, {name = "beta", type = "f32"}},
    let = {{"width", "ceil_div(n, " .. CHUNK .. ")"}, {"ctas", "ceil_div(m * width * batch, " .. THREADS * chunks .. ")"}},
    require = {
      {that = "m >= 1 && n >= 1 && batch >= 1", message = "m, n and batch must be at least 1"},
      {that = "ctas < 2147483648 && m * batch < 2147483648", message = "the matrix is too large for one launch"},
      {that = "ldt % 8 == 0", message = "the workspace's leading dimension must be a multiple of 8 elements"},
    },
    args = {
      K.pointer("t"), K.pointer("c"), K.pointer("bias"), K.pointer("residual"), K.f32("alpha"), K.f32("beta"),
      K.i64("ldt"), K.i64("stride_t"), K.i64("ldc"), K.i64("stride_c"), K.i64("ldr"), K.i64("stride_r"), K.i32("m"),
      K.i32("n"), K.i32("batch"), K.i32("width"), K.i32(THREADS .. " / width"), K.i32(THREADS .. " % width"), -- what a step is in rows
      K.i32("aligned_c"), K.i32("aligned_bias"), K.i32("aligned_residual"), K.i32("with_c"), K.i32("with_bias"), K.i32("with_residual"),
    },
    launch = {grid = {"ctas", 1, 1}, block = {THREADS, 1, 1}, cluster = {1, 1, 1}, shared = 0, overlap = true},
    numerics = {accumulate = "f32", growth = 1, forms = plan.forms_type, note = "One rounding to " .. type .. "."},
    plan = {threads = THREADS, chunks = chunks},
  })
  if context.ranged then -- the bit that says that T is not finite
    table.insert(manifest.buffers, {name = "overflow", type = "u32", role = "inout"})
    table.insert(manifest.args, K.pointer("overflow"))
  end
  local text = K.source("kernels/finish/finish.cu.tmpl", {
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, type = type, sums = sums, ranged = context.ranged or false, sums_scale = context.sums_scale, threads = THREADS,
    chunks = chunks, ctas_per_sm = CTAS_PER_SM,
  })
  return {text = text, manifest = manifest}
end

return {{needs = {"overlap"}, tune = {}, make = make}}
