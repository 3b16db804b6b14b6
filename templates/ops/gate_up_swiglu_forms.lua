-- gate_up_swiglu_forms: from forms of X to forms of the activations, for down.
local P = use("lib/mlp")

return function(context)
  local b = P.open(context)
  P.param(b, "hidden", "columns of X", 1, 1)
  P.param(b, "inner", "the intermediate size: rows of gate and up", 1, 1)
  b.widths.hidden()
  b.widths.inner()
  P.gate_up(b, "input", "output")
  return P.close(b)
end
