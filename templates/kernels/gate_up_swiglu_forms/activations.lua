-- How gate and up become activations, without branches. All is C in f32: g is the gate, u the other half; without a gate only u is
-- there. Most are `factor` times the logistic function of `logit`, which is 2^-60 at `least`, about: below it the gate counts as `least`.
-- Others are a `value`.
return {
  swiglu = {gated = true, factor = "u * g", logit = "g", least = -41.5},
  geglu = {gated = true, value = "u * (0.5f * g * (1.0f + erff(g * 0.707106781f)))"},
  geglu_tanh = {gated = true, factor = "u * g", logit = "1.59576912f * (g + 0.044715f * g * g * g)", least = -7.4},
  silu = {gated = false, factor = "u", logit = "u", least = -41.5},
  relu_squared = {gated = false, value = "max_or_nan(u, 0.0f) * max_or_nan(u, 0.0f)"},
}
