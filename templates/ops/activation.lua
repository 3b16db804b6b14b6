-- activation: out = activation(gate, up) of a matrix that holds gate's columns, then up's.
local O, settings, activations = use("lib/op"), use("lib/settings"), use("kernels/gate_up_swiglu_forms/activations")

return function(context)
  local files, chosen, type = {}, settings.choose(context.settings), context.plan.x.type
  local columns = activations[chosen.activation].gated and "2 * inner" or "inner"
  O.package(files, "activation", "activation", context, {settings = chosen})
  files["op.json"] = {
    format = "heptane-op/1", op = "activation", scheme = O.scheme(context.plan), target = context.target.name,
    types = {x = type, y = type, c = type, forms = type}, options = {settings = chosen},
    params = {
      O.param("m", "rows", 1, 1), O.param("inner", "columns of the result", 1, 1),
      O.param("ld_sums", "elements from one row of gate and up to the next", 1, columns),
      O.param("ld_out", "elements from one row of the result to the next", 1, "inner"),
    },
    scalars = {}, let = {},
    require = {
      {that = "ld_sums >= " .. columns .. " && ld_out >= inner", message = "a leading dimension is smaller than a row"},
      {that = "align_sums % 16 == 0 && align_out % 16 == 0", message = "sums and out must be aligned to 16 bytes"},
    },
    buffers = {
      {name = "sums", role = "input", type = type, bytes = string.format("2 * ((m - 1) * ld_sums + %s)", columns), optional = 0, zero = false},
      {name = "out", role = "output", type = type, bytes = "2 * ((m - 1) * ld_out + inner)", optional = 0, zero = false},
    },
    steps = {{package = "activation", phase = "run", when = 1,
              bind = {sums = "sums", out = "out", m = "m", inner = "inner", ld_sums = "ld_sums", ld_out = "ld_out"}}},
    numerics = {accumulate = "f32", growth = 1, forms = type, note = "One rounding to " .. type .. "."},
  }
  return files
end
