-- Operand forms: linear combinations of the blocks of one operand, K-major and padded to whole blocks with zeros.
-- See README.md of this folder.
local K = use("lib/kernel")
local shape = use("kernels/forms/shape")

local function make(context)
  local plan, operand, s = context.plan, context.operand, shape(context)
  local row_unit = operand.rows_contiguous and 64 or 16 -- what is transposed is transposed by 64 x 64
  local tiles = operand.rows_contiguous and "(block_rows / 64) * (block_k / 64) * batch"
    or string.format("ceil_div(part_rows * (block_k / %d) * batch, %d)", s.width, s.threads)
  local args, buffers = {K.pointer("source")}, {{name = "source", type = operand.type, role = "in"}}
  if operand.paired then -- rows of two matrices of the same shape take turns, `paired` of each
    args[#args + 1] = K.pointer("second")
    buffers[#buffers + 1] = {name = "second", type = operand.type, role = "in"}
  end
  if operand.normed then -- columns are multiplied by a norm's weight and its offset
    if not s.written_out or operand.rows_contiguous or operand.rows * operand.cols > 1 then refuse("Only a weight of one block takes in a norm's weight.") end
    args[#args + 1], args[#args + 2] = K.pointer("norm"), K.f32("norm_offset")
    buffers[#buffers + 1] = {name = "norm", type = operand.type, role = "in"}
  end
  args[#args + 1], args[#args + 2], args[#args + 3] = K.pointer("out"), K.i64("ld"), K.i64("stride")
  buffers[#buffers + 1] = {name = "out", type = plan.forms_type, role = "out"}
  local sizes, params = {"rows", "k", "block_rows", "block_k"}, {"rows", "k", "batch", "ld", "stride", "block_rows", "block_k", "forms", "aligned"}
  if not operand.rows_contiguous then
    args[#args + 1] = {type = "u32", value = "part_rows * batch"}
    sizes[#sizes + 1], params[#params + 1] = "part_rows", "part_rows"
  end
  for _, value in ipairs(sizes) do args[#args + 1] = K.i32(value) end
  args[#args + 1], args[#args + 2] = K.i32("forms"), K.i32("aligned")
  if operand.ranged then -- scaled by a power of two; the value is the bit of `overflow` that says what left the range
    args[#args + 1], args[#args + 2] = K.f32("scale"), K.pointer("overflow")
    buffers[#buffers + 1] = {name = "overflow", type = "u32", role = "inout"}
  end
  local manifest = K.manifest(context, "forms", context.variant, {
    symbol = "heptane_forms_" .. operand.name:lower(),
    params = params,
    buffers = buffers,
    scalars = K.some(operand.normed and {name = "norm_offset", type = "f32"}, operand.ranged and {name = "scale", type = "f32"}),
    let = {{"ctas", tiles}},
    require = {
      {that = "rows >= 1 && k >= 1 && batch >= 1", message = "rows, k and batch must be at least 1"},
      {that = string.format("block_rows %% %d == 0 && block_k %% 64 == 0", row_unit),
       message = string.format("the block's sizes must be multiples of %d rows and 64 along K", row_unit)},
      {that = "forms <= " .. #operand.slots, message = "there are only " .. #operand.slots .. " forms"},
      {that = "ctas * " .. s.threads .. " < 4294967296 && block_rows * batch < 4294967296 && block_rows * " .. operand.rows .. " < 2147483648 && block_k * " .. operand.cols .. " < 2147483648",
       message = "the matrix is too large for one launch"},
      {that = "!aligned || (ld % 8 == 0 && (batch == 1 || stride % 8 == 0))",
       message = "aligned reads need a leading dimension and a stride that are multiples of 8 elements"},
    },
    args = args,
    skip = "forms == 0",
    launch = {grid = {"max(1, ctas)", 1, 1}, block = {s.threads, 1, 1}, cluster = {1, 1, 1}, shared = s.shared, overlap = true},
    numerics = {accumulate = "f32", growth = 1, forms = plan.forms_type,
                note = "Each form is computed in f32 and rounded once to " .. plan.forms_type .. "."},
    plan = {operand = operand.name, slots = #operand.slots, computed = operand.computed, threads = s.threads,
            how = s.written_out and "written out" or s.staged and "table, blocks in shared memory" or "table, blocks read again"},
  })
  local text = K.source("kernels/forms/forms.cu.tmpl", {
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, operand = operand, shape = s, prepares = context.prepares or false,
  })
  return {text = text, manifest = manifest}
end

return {{needs = {"overlap"}, tune = {}, make = make}}
