-- What operations have in common: making packages, sizes as formulas, op.json.
local K, P, tune = use("lib/kernel"), use("kernels/gemm/package"), use("lib/tune")
local M = {}

-- A package's files under `folder`; `more` extends the context.
function M.package(files, folder, kernel, context, more)
  local variant = K.variant(kernel, context.target)
  local own = setmetatable({variant = variant, tune = tune.choose(variant.tune, "")}, {__index = context})
  for key, value in pairs(more or {}) do own[key] = value end
  local made = variant.make(own)
  files[folder .. "/kernel.cu"] = made.text
  files[folder .. "/manifest.json"] = made.manifest
  return made.manifest
end

-- Splits overrides between kernels later; today only gemm has plan parameters.
function M.gemm_context(context)
  local variant = K.variant("gemm", context.target)
  return setmetatable({variant = variant, tune = tune.choose(variant.tune, context.overrides)}, {__index = context})
end

local function require_deliverable(plan, t)
  if K.bytes[plan.sums_type] > 2 or K.bytes[plan.c_type] > 2 then
    refuse(string.format("deliver=1 is for sums and C of 16 bits, not for sums in %s and C in %s.", plan.sums_type, plan.c_type), "--plan")
  end
  if (t.turned or 0) > 0 then refuse("deliver=1 needs turned=0: accumulators of turned roles lie across C.", "--plan") end
end

-- Sums in f16 that become bf16 later are 7/8 of what is added up. A step of bf16 is then an odd number of steps of f16, 7 or (off
-- centre) 14, instead of 8, so that no sum lies halfway between two numbers of bf16. Otherwise one in eight does, one in six where a
-- block is written twice, and is rounded by half a step: 1.06 times the error of C in bf16 instead of 1.03.
local BEFORE_BF16 = 7 / 8
local function scaled_fills(fills, scale)
  local scaled = {}
  for i, fill in ipairs(fills) do scaled[i] = setmetatable({weight = scale * fill.weight}, {__index = fill}) end
  return scaled
end

-- The context of a product whose output blocks are added up in plan.sums_type: that is the type of what it writes, C, or,
-- where C has another type, a workspace that is finished later, unless the plan parameter `deliver` says that the product
-- itself makes C of its sums. `delivers`: C is what it writes. `sums_scale`: what it writes is so many times what C takes.
-- context.ranged: a bit of the operation's `overflow` for sums that have left their type's range.
function M.summing(context)
  local plan, t = context.plan, context.tune
  local same = plan.sums_type == plan.c_type
  local written = {c_type = plan.sums_type}
  local scale = plan.sums_type == "f16" and plan.c_type == "bf16" and t.deliver ~= 1 and BEFORE_BF16 or 1
  if scale ~= 1 then written.fills, written.unit_weights = scaled_fills(plan.fills, scale), false end
  local own = setmetatable({plan = setmetatable(written, {__index = plan}), sums_scale = scale}, {__index = context})
  if not same and t.deliver == 1 then require_deliverable(plan, t) end
  own.deliver = not same and t.deliver == 1 and {type = plan.c_type, ranged = context.ranged} or false
  own.delivers = same or t.deliver == 1
  return own
end

-- Whether the rows of a batch of matrices start at multiples of 16 bytes, as a formula. `stride`: nil without a batch.
function M.aligned_rows(buffer, ld, stride, type)
  local line = 16 // K.bytes[type]
  local one = string.format("align_%s %% 16 == 0 && %s %% %d == 0", buffer, ld, line)
  return stride and string.format("%s && (batch == 1 || %s %% %d == 0)", one, stride, line) or one
end

-- Whether C is what the product writes, as a formula. `names`: of bias, residual, its leading dimension and its stride in the
-- operation, and beta's formula `no_c`, non-zero where C is not read. A delivering product does more than one that is C already.
function M.direct(product, aligned, names)
  if not product.delivers then return "0" end
  if not product.deliver then return string.format("%s && !has_%s && !has_%s && %s", aligned, names.bias, names.residual, names.plain) end
  return string.format("%s && (!has_%s || align_%s %% 16 == 0) && (!has_%s || (%s && align_%s %% 16 == 0 && %s %% 8 == 0 && %s %% 8 == 0))",
                       aligned, names.bias, names.bias, names.residual, names.no_c, names.residual, names.ldr, names.stride_r)
end

-- Completes the bindings of a delivering product, which writes C (direct) or something that is finished later.
function M.bind_delivery(bind, direct, names)
  bind.sums, bind.as_sums, bind.bias, bind.residual, bind.ldr, bind.stride_r = names.sums, direct and 0 or 1, names.bias, names.residual, names.ldr, names.stride_r
  bind.alpha, bind.beta = direct and names.alpha or 1, direct and names.beta or 0
  bind.with = direct and string.format("(%s ? 0 : 1) + 2 * has_%s + 4 * has_%s", names.no_c, names.bias, names.residual) or 0
end

-- Counters of a product per multiprocessor: an enrolment and, for each output block, a ticket per slice, at most two of them. See
-- kernels/gemm/sync.cuh.tmpl.
function M.counters(scheme) return 1 + 2 * scheme.n * scheme.p end

-- Bytes of the memory in which a delivering product keeps sums.
function M.sums_bytes(product)
  local tiles = P.sums_tiles(false, M.exchanges(product))
  return P.sums_bytes(product.plan.scheme, product.plan.sums_type, product.variant.tile_m(product.tune), product.tune.tile_n, tiles)
end

-- Whether a product puts shared tiles together from parts, and the workspace in which it does so.
function M.exchanges(product) return product.variant.exchanges and product.variant.exchanges(product) or false end
function M.parts_buffer(product)
  return {name = "parts", role = "workspace", type = "f32", optional = "!cut", zero = false,
          bytes = string.format("cut ? %s : 0", P.parts_bytes(product.variant.tile_m(product.tune), product.tune.tile_n))}
end

function M.scheme(plan)
  local s = plan.scheme
  return {name = s.name, hash = s.hash, n = s.n, m = s.m, p = s.p, rank = s.rank, writes = plan.chain.writes}
end

function M.types(plan)
  return {x = plan.x.type, y = plan.y.type, c = plan.c_type, forms = plan.forms_type, sums = plan.sums_type}
end

function M.param(name, help, min, default) return {name = name, help = help, min = min, default = default} end

-- The block sizes of a scheme as `let` entries: whole tiles, so that only the outer edges of a matrix are partial.
function M.blocks(plan, multiples)
  local s = plan.scheme
  return {
    {"block_m", string.format("round_up(ceil_div(m, %d), %d)", s.n, multiples.m)},
    {"block_n", string.format("round_up(ceil_div(n, %d), %d)", s.p, multiples.n)},
    {"block_k", string.format("round_up(ceil_div(k, %d), %d)", s.m, multiples.k)},
  }
end

function M.append(list, ...)
  for _, item in ipairs({...}) do list[#list + 1] = item end
  return list
end

return M
