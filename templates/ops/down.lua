-- down: C = activations down [+ bias] [+ add], from forms of the activations.
local P = use("lib/mlp")

return function(context)
  local b = P.open(context)
  P.param(b, "hidden", "columns of C", 1, 1)
  P.param(b, "inner", "the intermediate size: columns of the activations", 1, 1)
  b.widths.inner()
  b.widths.out()
  P.down(b, "input")
  return P.close(b)
end
