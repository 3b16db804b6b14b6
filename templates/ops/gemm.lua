-- gemm: C = alpha X Y + beta C + bias + residual, X is M x K, Y is K x N, with batches.
-- prepare: the forms of Y, kept by the caller. run: the forms of X, the product, and if needed a finishing pass.
local K, O = use("lib/kernel"), use("lib/op")

-- What comes to a delivering product, see lib/op.lua.
local NAMES = {sums = "sums", bias = "bias", residual = "residual", ldr = "ldr", stride_r = "stride_r", alpha = "alpha", beta = "beta",
               no_c = "zero_beta", plain = "one_alpha && zero_beta"}

local function params(plan)
  local P = O.param
  local ldx, columns_x = plan.x.rows_contiguous and "m" or "k", plan.x.rows_contiguous and "k" or "m"
  local ldy, columns_y = plan.y.rows_contiguous and "n" or "k", plan.y.rows_contiguous and "k" or "n"
  return {
    P("m", "rows of X and C", 1, 1), P("n", "columns of Y and C", 1, 1), P("k", "columns of X, rows of Y", 1, 1),
    P("batch", "products in the batch", 1, 1),
    P("ldx", "elements from one row of X as stored to the next", 1, ldx),
    P("ldy", "elements from one row of Y as stored to the next", 1, ldy),
    P("ldc", "elements from one row of C to the next", 1, "n"),
    P("stride_x", "elements from one X of the batch to the next; 0: all use the same", 0, columns_x .. " * ldx"),
    P("stride_y", "elements from one Y of the batch to the next; 0: all use the same", 0, columns_y .. " * ldy"),
    P("stride_c", "elements from one C of the batch to the next", 0, "m * ldc"),
    P("ldr", "elements from one row of the residual to the next", 1, "n"),
    P("stride_r", "elements from one residual of the batch to the next", 0, "m * ldr"),
    P("inplace_y", "1: plain forms of Y are read from Y itself, which must then be given to both phases; 0: all are prepared", 0, 1),
    P("cut", "the last wave's chains are shared out over the GPU where that is faster: 0 never, 1 so that results stay the same bit by bit, 2 in any order", 0, 1),
    P("beside", "how the forms of X and the product overlap: 0 not at all, 1 idle warps make those of later rows, 2 all of them", 0, 1),
  }
end

local function requirements(plan)
  local element = K.bytes[plan.c_type]
  return {
    {that = "m >= 1", message = "m is 0: X and C need at least one row"},
    {that = "n >= 1", message = "n is 0: Y and C need at least one column"},
    {that = "k >= 1", message = "k is 0: X and Y need a common dimension of at least 1"},
    {that = "batch >= 1", message = "batch is 0: there is nothing to multiply"},
    {that = "ldx >= " .. (plan.x.rows_contiguous and "m" or "k"), message = "x: ldx is smaller than a row"},
    {that = "ldy >= " .. (plan.y.rows_contiguous and "n" or "k"), message = "y: ldy is smaller than a row"},
    {that = "ldc >= n", message = "c: ldc is smaller than a row"},
    {that = "batch == 1 || stride_c >= (m - 1) * ldc + n", message = "c: stride_c is smaller than a matrix, outputs would overlap"},
    {that = "!has_residual || ldr >= n", message = "residual: ldr is smaller than a row"},
    {that = "cut <= 2", message = "cut can be 0, 1 or 2"},
    {that = "beside <= 2", message = "beside can be 0, 1 or 2"},
    {that = "align_x % 2 == 0 && align_y % 2 == 0", message = "X and Y must be aligned to their elements (2 bytes)"},
    {that = "align_c % " .. element .. " == 0", message = "C must be aligned to its elements (" .. element .. " bytes)"},
  }
end

-- How operand `s` ("x" or "y") is used, as `let` entries: s_aligned, s_in_place, forms_s, batch_s.
local function operand_lets(plan, operand, in_place, condition)
  local s = operand.name:lower()
  local aligned = string.format("align_%s %% 16 == 0 && ld%s %% 8 == 0 && (batch_%s == 1 || stride_%s %% 8 == 0)",
                                s, s, s, s)
  local lets = {
    {"batch_" .. s, string.format("batch > 1 && stride_%s == 0 ? 1 : batch", s)},
    {s .. "_aligned", aligned},
  }
  if in_place then lets[3] = {s .. "_in_place", s .. "_aligned" .. condition} end
  lets[#lets + 1] = {"forms_" .. s, in_place and string.format("%s_in_place ? %d : %d", s, operand.computed, #operand.slots)
                                    or tostring(#operand.slots)}
  return lets
end

local function all_buffers(plan, y_plain)
  local element = K.bytes[plan.c_type]
  local function matrix(name, role, type, batch, rows, ld, columns, stride, optional)
    return {name = name, role = role, type = type, optional = optional, zero = false,
            bytes = string.format("%d * ((%s - 1) * %s + (%s - 1) * %s + %s)", K.bytes[type], batch, stride, rows, ld, columns)}
  end
  local function forms(name, role, s, rows)
    return {name = name, role = role, type = plan.forms_type, optional = string.format("forms_%s == 0", s), zero = false,
            bytes = string.format("2 * forms_%s * %s * block_k * batch_%s", s, rows, s)}
  end
  local x, y = plan.x.rows_contiguous, plan.y.rows_contiguous
  return {
    matrix("x", "input", plan.x.type, "batch_x", x and "k" or "m", "ldx", x and "m" or "k", "stride_x", 0),
    matrix("y", "input", plan.y.type, "batch_y", y and "k" or "n", "ldy", y and "n" or "k", "stride_y",
           y_plain and "!y_in_place" or 1),
    matrix("c", "output", plan.c_type, "batch", "m", "ldc", "n", "stride_c", 0),
    {name = "bias", role = "input", type = plan.c_type, bytes = element .. " * n", optional = 1, zero = false},
    matrix("residual", "input", plan.c_type, "batch", "m", "ldr", "n", "stride_r", 1),
    forms("y_forms", "prepared", "y", "block_n"),
    forms("x_forms", "workspace", "x", "block_m"),
    {name = "product", role = "workspace", type = plan.sums_type, optional = "direct", zero = false,
     bytes = string.format("direct ? 0 : %d * batch * m * ldt", K.bytes[plan.sums_type])},
    {name = "sync", role = "workspace", type = "u32", optional = 0, zero = true,
     bytes = string.format("256 + 4 * ceil_div(block_m, 128) + 4 * max(sms, 4) * %d", O.counters(plan.scheme))},
  }
end

-- The product's step, once for each way its operands and its result can lie.
local function product_steps(plan, x_plain, y_plain, beside, early, deliver, exchanges)
  local steps = {}
  for _, x_in_place in ipairs(x_plain and {true, false} or {false}) do
    for _, y_in_place in ipairs(y_plain and {true, false} or {false}) do
      for _, direct in ipairs({true, false}) do
        local bind = {sync = "sync", ax = "x_forms", by = "y_forms", c = direct and "c" or "product", ldc = direct and "ldc" or "ldt",
                      stride_c = direct and "stride_c" or "m * ldt"}
        for _, name in ipairs({"m", "n", "k", "batch", "block_m", "block_n", "block_k", "forms_x", "forms_y", "batch_x", "batch_y", "cut"}) do
          bind[name] = name
        end
        if beside then
          bind.x, bind.ldx, bind.beside_row = "x", "ldx", x_plain and not x_in_place and "block_m" or "beside_row"
        end
        if early then bind.early = "early" end
        if exchanges then bind.parts = "parts" end
        if deliver then O.bind_delivery(bind, direct, NAMES) end
        local when = {direct and "direct" or "!direct"}
        -- a map that is not used must still be a valid one, so it is made of a buffer that there is
        local function operand(s, plain, in_place, map, computed)
          if not plain then return end
          local forms = bind[map]
          bind[s] = in_place and s or forms
          bind["ld" .. s] = in_place and "ld" .. s or "block_k"
          bind["stride_" .. s] = in_place and "stride_" .. s or "block_k"
          bind[s .. "_in_place"] = in_place and 1 or 0
          if in_place and computed == 0 then bind[map] = s end
          O.append(when, (in_place and "" or "!") .. s .. "_in_place")
        end
        operand("x", x_plain, x_in_place, "ax", plan.x.computed)
        operand("y", y_plain, y_in_place, "by", plan.y.computed)
        steps[#steps + 1] = {package = "gemm", phase = "run", when = table.concat(when, " && "), bind = bind}
      end
    end
  end
  return steps
end

local function forms_step(operand, package, phase, buffer, part_rows)
  local s, rows = operand.name:lower(), operand.name == "X" and "m" or "n"
  local step = {
    package = package, phase = phase, when = "forms_" .. s .. " > 0",
    bind = {source = s, out = buffer, forms = "forms_" .. s, rows = rows, k = "k", batch = "batch_" .. s,
            ld = "ld" .. s, stride = "stride_" .. s, block_rows = "block_" .. rows, block_k = "block_k",
            aligned = s .. "_aligned"},
  }
  if not operand.rows_contiguous then step.bind.part_rows = part_rows end
  return step
end

return function(context)
  local plan, own, files = context.plan, O.summing(O.gemm_context(context)), {}
  local variant = own.variant
  O.package(files, "forms_x", "forms", context, {operand = plan.x})
  O.package(files, "forms_y", "forms", context, {operand = plan.y})
  O.package(files, "finish", "finish", context, {sums_scale = own.sums_scale})
  local made = variant.make(own)
  files["gemm/kernel.cu"], files["gemm/manifest.json"] = made.text, made.manifest

  if plan.x.rows_contiguous and variant.multiples(own).m % 64 > 0 then
    refuse(string.format("X is read by columns, 64 rows at a time, so blocks of X must be multiples of 64 rows, not of %d.", variant.multiples(own).m), "--plan")
  end
  local x_plain, y_plain = variant.can_be_in_place(plan, plan.x), variant.can_be_in_place(plan, plan.y)
  local let = O.blocks(plan, variant.multiples(own))
  for _, entry in ipairs(operand_lets(plan, plan.x, x_plain, "")) do O.append(let, entry) end
  for _, entry in ipairs(operand_lets(plan, plan.y, y_plain, " && inplace_y")) do O.append(let, entry) end
  O.append(let,
    {"c_aligned", O.aligned_rows("c", "ldc", "stride_c", plan.c_type)},
    {"direct", O.direct(own, "c_aligned", NAMES)},
    {"ldt", "round_up(n, 64)"})

  local beside = variant.forms_beside and variant.forms_beside(own) ~= nil
  if beside then
    local condition = "beside && batch == 1 && x_aligned"
    if x_plain then condition = condition .. " && x_in_place" end
    O.append(let, {"beside_row", condition .. " ? (beside > 1 ? 0 : " .. variant.first_rows(own) .. ") : block_m"})
  end

  local step_x = forms_step(plan.x, "forms_x", "run", "x_forms", beside and "beside_row" or "block_m")
  if beside then step_x.when = step_x.when .. " && beside_row > 0" end
  local early = beside and variant.starts_early
  if early then O.append(let, {"early", "beside && " .. step_x.when}) end
  local steps = {forms_step(plan.y, "forms_y", "prepare", "y_forms", "block_n"), step_x}
  for _, step in ipairs(product_steps(plan, x_plain, y_plain, beside, early, own.deliver, O.exchanges(own))) do O.append(steps, step) end
  O.append(steps, {
    package = "finish", phase = "run", when = "!direct",
    bind = {t = "product", c = "c", bias = "bias", residual = "residual", m = "m", n = "n", batch = "batch", ldt = "ldt",
            stride_t = "m * ldt", ldc = "ldc", stride_c = "stride_c", ldr = "ldr", stride_r = "stride_r", aligned_c = "c_aligned",
            aligned_bias = "align_bias % 16 == 0", aligned_residual = O.aligned_rows("residual", "ldr", "stride_r", plan.c_type),
            with_c = "!zero_beta", with_bias = "has_bias", with_residual = "has_residual", alpha = "alpha", beta = "beta"},
  })

  local buffers = all_buffers(plan, y_plain)
  if O.exchanges(own) then O.append(buffers, O.parts_buffer(own)) end
  if own.deliver then
    O.append(buffers, {name = "sums", role = "workspace", type = plan.sums_type, optional = 0, zero = false,
                       bytes = O.sums_bytes(own)})
  end

  files["op.json"] = {
    format = "heptane-op/1", op = "gemm", scheme = O.scheme(plan), target = context.target.name, types = O.types(plan),
    options = {trans_x = plan.x.rows_contiguous, trans_y = not plan.y.rows_contiguous, chain = plan.chain.method, tune = own.tune},
    params = params(plan), scalars = {{name = "alpha", default = 1.0}, {name = "beta", default = 0.0}}, let = let,
    require = requirements(plan), buffers = buffers, steps = steps,
    numerics = {accumulate = "f32", growth = plan.numerics.growth, forms = plan.forms_type, expected = plan.numerics.expected,
                bound = plan.numerics.bound, bound_finished = plan.numerics.finished,
                note = "Bound and expectation are relative Frobenius errors for N(0,1) data; a finishing pass rounds once more."},
  }
  return files
end
