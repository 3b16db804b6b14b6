-- One operand's forms by themselves: forms_x and forms_y.
local K, O = use("lib/kernel"), use("lib/op")

return function(context, operand)
  local plan, files, s = context.plan, {}, operand.name:lower()
  O.package(files, context.op, "forms", context, {operand = operand})
  local multiples = K.variant("gemm", context.target).multiples(O.gemm_context(context))
  local rows, blocks, multiple = operand.name == "X" and "m" or "n", operand.rows, operand.name == "X" and multiples.m or multiples.n
  local bind = {source = s, out = "forms", forms = #operand.slots, rows = "rows", k = "k", batch = "batch", ld = "ld",
                stride = "stride", block_rows = "block_rows", block_k = "block_k", aligned = "aligned"}
  if not operand.rows_contiguous then bind.part_rows = "block_rows" end
  local inner = operand.rows_contiguous and "rows" or "k"
  files["op.json"] = {
    format = "heptane-op/1", op = context.op, scheme = O.scheme(plan), target = context.target.name, types = O.types(plan),
    options = {rows_contiguous = operand.rows_contiguous, rows = rows},
    params = {
      O.param("rows", rows .. " of the product", 1, 1), O.param("k", "the common dimension", 1, 1),
      O.param("batch", "matrices", 1, 1), O.param("ld", "elements from one line of the matrix to the next", 1, inner),
      O.param("stride", "elements from one matrix to the next", 0, (inner == "k" and "rows" or "k") .. " * ld"),
    },
    scalars = {},
    let = {
      {"block_rows", string.format("round_up(ceil_div(rows, %d), %d)", blocks, multiple)},
      {"block_k", string.format("round_up(ceil_div(k, %d), %d)", operand.cols, multiples.k)},
      {"aligned", string.format("align_%s %% 16 == 0 && ld %% 8 == 0 && (batch == 1 || stride %% 8 == 0)", s)},
    },
    require = {
      {that = "rows >= 1 && k >= 1 && batch >= 1", message = "rows, k and batch must be at least 1"},
      {that = "ld >= " .. inner, message = s .. ": ld is smaller than a line"},
      {that = string.format("align_%s %% 2 == 0", s), message = s .. " must be aligned to its elements (2 bytes)"},
    },
    buffers = {
      {name = s, role = "input", type = operand.type, optional = 0, zero = false,
       bytes = string.format("2 * ((batch - 1) * stride + (%s - 1) * ld + %s)", inner == "k" and "rows" or "k", inner)},
      {name = "forms", role = "output", type = plan.forms_type, optional = 0, zero = false,
       bytes = string.format("2 * %d * block_rows * block_k * batch", #operand.slots)},
    },
    steps = {{package = context.op, phase = "run", when = 1, bind = bind}},
    numerics = {accumulate = "f32", growth = 1, forms = plan.forms_type, note = "One rounding to " .. plan.forms_type .. "."},
  }
  return files
end
