-- A kernel is a folder templates/kernels/NAME with kernel.lua, which returns a list of variants in order of preference:
--   {needs = {feature names}, make = function(context) return {text = kernel.cu, manifest = table} end, ...}
-- The first variant whose needs the target has is taken: no list of architectures anywhere.
local M = {}

function M.variant(name, target)
  local missing = {}
  for _, variant in ipairs(use("kernels/" .. name .. "/kernel")) do
    local lacks
    for _, feature in ipairs(variant.needs) do
      if not target.features[feature] then lacks = lacks or feature end
    end
    if not lacks then return variant end
    missing[#missing + 1] = lacks
  end
  refuse(string.format("No %s kernel runs on %s, which lacks %s.", name, target.name, table.concat(missing, " and ")),
         "--target")
end

-- The part of a manifest that is the same for every kernel.
function M.manifest(context, kernel, variant, more)
  local manifest = {
    format = "heptane-package/1",
    kernel = kernel,
    symbol = "heptane_" .. kernel,
    scheme = context.plan.scheme.name,
    scheme_hash = context.plan.scheme.hash,
    target = context.target.name,
    features = variant.needs,
    nvrtc = context.target.nvrtc,
    scalars = {},
    let = {},
    require = {},
  }
  for key, value in pairs(more) do manifest[key] = value end
  return manifest
end

-- kernel.cu of a package
function M.source(template, values) return render(template, values) .. "\n" end

-- Constructors of kernel arguments
function M.pointer(buffer) return {type = "pointer", buffer = buffer, offset = 0} end
function M.i32(value) return {type = "i32", value = value} end
function M.i64(value) return {type = "i64", value = value} end
function M.f32(scalar) return {type = "f32", scalar = scalar} end

-- Those of its arguments that are there, as a list.
function M.some(...)
  local some = {}
  for i = 1, select("#", ...) do
    local entry = select(i, ...)
    if entry then some[#some + 1] = entry end
  end
  return some
end

-- A batch of matrices of rows of `inner` elements as one rank-3 map in the 128-byte swizzle.
function M.matrix_map(buffer, element, inner, rows, batch, pitch, batch_pitch, box_inner, box_rows, l2)
  return {
    type = "tensormap", buffer = buffer, element = element, offset = 0,
    dims = {inner, rows, batch}, strides = {pitch, batch_pitch},
    box = {box_inner, box_rows, 1}, swizzle = "128B", l2 = l2,
  }
end

M.bytes = {f16 = 2, bf16 = 2, f32 = 4}

return M
