-- How gate and up become activations, without branches (a true division has one). `value` is C in f32: g is the gate, u the other
-- half; without a gate only u is there.
return {
  swiglu = {gated = true, value = "__fdividef(u * g, 1.0f + __expf(-g))"},
  geglu = {gated = true, value = "u * (0.5f * g * (1.0f + erff(g * 0.707106781f)))"},
  geglu_tanh = {gated = true, value = "u * (g - __fdividef(g, 1.0f + __expf(1.59576912f * (g + 0.044715f * g * g * g))))"},
  silu = {gated = false, value = "__fdividef(u, 1.0f + __expf(-u))"},
  relu_squared = {gated = false, value = "fmaxf(u, 0.0f) * fmaxf(u, 0.0f)"},
}
