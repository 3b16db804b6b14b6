-- How gate and up become activations, without branches. All is C in f32: g is the gate, u the other half; without a gate only u is
-- there. Most are `factor` times the logistic function of `logit`; others are a `value`.
return {
  swiglu = {gated = true, factor = "u * g", logit = "g"},
  geglu = {gated = true, value = "u * (0.5f * g * (1.0f + erff(g * 0.707106781f)))"},
  geglu_tanh = {gated = true, factor = "u * g", logit = "1.59576912f * (g + 0.044715f * g * g * g)"},
  silu = {gated = false, factor = "u", logit = "u"},
  relu_squared = {gated = false, value = "fmaxf(u, 0.0f) * fmaxf(u, 0.0f)"},
}
