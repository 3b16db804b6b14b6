-- mlp: C = down(activation(X' gate, X' up)), X' = rmsnorm(X [+ residual]); three kernels, or two (`fuse_norm`), that overlap at their seams.
-- prepare: forms of gate, up and down, as models store them, with the norm's weight if X can be multiplied as it is. run: the rest.
local P = use("lib/mlp")

return function(context)
  local b = P.open(context)
  P.param(b, "hidden", "columns of X and C", 1, 1)
  P.param(b, "inner", "the intermediate size: rows of gate and up", 1, 1)
  b.widths.hidden()
  b.widths.inner()
  b.widths.out()
  P.rmsnorm(b, "workspace")
  P.gate_up(b, nil, "workspace")
  P.down(b, nil)
  return P.close(b)
end
