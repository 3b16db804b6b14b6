-- rmsnorm_forms: the forms of rmsnorm(X [+ residual]), for gate_up_swiglu_forms.
local P = use("lib/mlp")

return function(context)
  local b = P.open(context)
  P.param(b, "hidden", "columns of X", 1, 1)
  b.widths.hidden()
  P.rmsnorm(b, "output")
  return P.close(b)
end
