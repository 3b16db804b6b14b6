-- Operand forms: linear combinations of the blocks of one operand, K-major and padded to whole blocks with zeros.
-- See README.md of this folder.
local K = use("lib/kernel")
local CHUNK = 8               -- elements that a thread holds of each block: 16 bytes
local MOST_IN_REGISTERS = 16  -- blocks
local MOST_WRITTEN_OUT = 256  -- terms; beyond either the kernel loops over a table

-- The blocks that occur, numbered in order, and how the kernel is built for them.
local function shape(context)
  local operand = context.operand
  local used, number, terms = {}, {}, 0
  for _, slot in ipairs(operand.slots) do
    for _, term in ipairs(slot.terms) do number[term.row * operand.cols + term.col] = true end
    terms = terms + #slot.terms
  end
  for row = 0, operand.rows - 1 do
    for col = 0, operand.cols - 1 do
      local key = row * operand.cols + col
      if number[key] then
        used[#used + 1] = {row = row, col = col}
        number[key] = #used - 1
      end
    end
  end
  local s = {used = used, terms = terms, cols = operand.cols, number = function(term) return number[term.row * operand.cols + term.col] end}
  s.written_out = #used <= MOST_IN_REGISTERS and terms <= MOST_WRITTEN_OUT
  s.threads, s.shared, s.tile_bytes = operand.rows_contiguous and 512 or 256, 0, operand.rows_contiguous and 64 * 66 * 2 or 0
  s.staged = false
  if not s.written_out then
    -- each thread keeps its chunks of all blocks in shared memory; with too many blocks it reads them again instead
    local smallest = operand.rows_contiguous and 512 or 32
    local threads = s.threads
    while threads > smallest and #used * threads * 16 > context.target.shared_bytes // 2 - 1024 do threads = threads // 2 end
    local bytes = #used * threads * 16 + s.tile_bytes
    if bytes <= context.target.shared_bytes then s.threads, s.shared, s.staged = threads, bytes, true end
  end
  if s.shared == 0 then s.shared = s.tile_bytes end
  s.storage = terms * 8 + #operand.slots * 4 <= 49152 and "__constant__" or "__device__ const"
  return s
end

local function make(context)
  local plan, operand, s = context.plan, context.operand, shape(context)
  local tiles = operand.rows_contiguous and "(block_rows / 64) * (block_k / 64) * batch"
    or string.format("ceil_div(block_rows * (block_k / %d) * batch, %d)", CHUNK, s.threads)
  local args, buffers = {K.pointer("source")}, {{name = "source", type = operand.type, role = "in"}}
  if operand.paired then -- rows of two matrices of the same shape take turns, `paired` of each
    args[#args + 1] = K.pointer("second")
    buffers[#buffers + 1] = {name = "second", type = operand.type, role = "in"}
  end
  args[#args + 1], args[#args + 2], args[#args + 3] = K.pointer("out"), K.i64("ld"), K.i64("stride")
  buffers[#buffers + 1] = {name = "out", type = plan.forms_type, role = "out"}
  if not operand.rows_contiguous then args[#args + 1] = K.i64("block_rows * batch") end
  for _, value in ipairs({"rows", "k", "block_rows", "block_k", "forms", "aligned"}) do args[#args + 1] = K.i32(value) end
  local manifest = K.manifest(context, "forms", context.variant, {
    symbol = "heptane_forms_" .. operand.name:lower(),
    params = {"rows", "k", "batch", "ld", "stride", "block_rows", "block_k", "forms", "aligned"},
    buffers = buffers,
    let = {{"ctas", tiles}},
    require = {
      {that = "rows >= 1 && k >= 1 && batch >= 1", message = "rows, k and batch must be at least 1"},
      {that = "block_rows % 64 == 0 && block_k % 64 == 0", message = "the block's sizes must be multiples of 64"},
      {that = "forms <= " .. #operand.slots, message = "there are only " .. #operand.slots .. " forms"},
      {that = "ctas < 2147483648 && block_rows * " .. operand.rows .. " < 2147483648 && block_k * " .. operand.cols .. " < 2147483648",
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
    symbol = manifest.symbol, version = context.version, target = context.target, plan = plan, operand = operand, shape = s,
  })
  return {text = text, manifest = manifest}
end

return {{needs = {"overlap"}, tune = {}, make = make}}
