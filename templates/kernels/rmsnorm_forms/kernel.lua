-- RMSNorm that writes the forms of its result instead of the result. See README.md of this folder. context.folded: the norm's weight
-- is in that of the next product.
local K = use("lib/kernel")

local function make(context)
  local plan = context.plan
  local operand, type = plan.x, plan.x.type
  if operand.rows > 4 or operand.cols > 4 then
    refuse(string.format("rmsnorm_forms holds a piece of every block in registers; %d x %d blocks are too many (4 x 4 at most).",
                         operand.rows, operand.cols))
  end
  local most_threads = operand.rows * operand.cols == 1 and 1024 or 512 -- with up to 64 or 128 registers each
  local chunk = operand.rows * operand.cols <= 4 and 8 or operand.rows * operand.cols <= 9 and 4 or 2
  local weighted = not context.folded
  local manifest = K.manifest(context, "rmsnorm_forms", context.variant, {
    params = {"m", "hidden", "ldx", "ldr", "lds", "block_m", "block_k", "aligned", "with_residual"},
    buffers = K.some(
      {name = "x", type = type, role = "in"}, {name = "residual", type = type, role = "in"},
      weighted and {name = "weight", type = type, role = "in"}, {name = "sum", type = type, role = "out"},
      {name = "forms", type = plan.forms_type, role = "out"}, {name = "overflow", type = "u32", role = "inout"}
    ),
    scalars = K.some({name = "eps", type = "f32"}, weighted and {name = "weight_offset", type = "f32"}, {name = "scale", type = "f32"}),
    -- so many threads that all have equally many places of a row, one if possible
    let = {{"places", "block_k / " .. chunk}, {"turns", "ceil_div(places, " .. most_threads .. ")"},
           {"threads", "round_up(ceil_div(places, turns), 32)"}},
    require = {
      {that = "m >= 1 && hidden >= 1", message = "m and hidden must be at least 1"},
      {that = "block_k % 64 == 0 && block_m >= 1", message = "the block's width must be a multiple of 64"},
      {that = string.format("m <= %d * block_m && hidden <= %d * block_k", operand.rows, operand.cols), message = "the blocks must cover X"},
      {that = "!aligned || (ldx % 8 == 0 && (!with_residual || (ldr % 8 == 0 && lds % 8 == 0)))",
       message = "aligned reads need leading dimensions that are multiples of 8 elements"},
    },
    args = K.some(
      K.pointer("x"), K.pointer("residual"), weighted and K.pointer("weight"), K.pointer("sum"), K.pointer("forms"), K.pointer("overflow"),
      K.f32("eps"), weighted and K.f32("weight_offset"), K.f32("scale"), K.i64("ldx"), K.i64("ldr"), K.i64("lds"), K.i32("m"), K.i32("hidden"),
      K.i32("block_m"), K.i32("block_k"), K.i32("aligned"), K.i32("with_residual")
    ),
    launch = {grid = {"block_m", 1, 1}, block = {"threads", 1, 1}, cluster = {1, 1, 1}, shared = 0, overlap = true},
    numerics = {accumulate = "f32", growth = 1, forms = plan.forms_type, note = "Statistics in f32; each form is rounded once to " .. plan.forms_type .. "."},
    plan = {chunk = chunk, rounding = context.settings.rounding},
  })
  local text = K.source("kernels/rmsnorm_forms/rmsnorm.cu.tmpl", {
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, operand = operand, type = type,
    threads = most_threads, chunk = chunk, rounding = context.settings.rounding, weighted = weighted,
  })
  return {text = text, manifest = manifest}
end

return {{needs = {"overlap"}, tune = {}, make = make}}
