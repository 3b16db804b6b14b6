-- Every operation starts here. context: op, plan (see --dump=plan), target (target.lua), overrides, version.
-- An operation returns a table from file name to text or table (written as JSON).
return function(context)
  local known = {gemm = true, forms_x = true, forms_y = true, mlp = true, rmsnorm_forms = true, gate_up_swiglu_forms = true,
                 down = true, activation = true}
  if not known[context.op] then
    local names = {}
    for name in pairs(known) do names[#names + 1] = name end
    table.sort(names)
    refuse('There is no operation "' .. context.op .. '"; there are ' .. table.concat(names, ", ") .. ".", "--op")
  end
  local uses, has = context.plan.chain.accumulators, context.target.accumulators
  if uses > has then
    refuse(string.format("The schedule alternates between %d accumulators, %s has %d.", uses, context.target.name, has), "--target")
  end
  return use("ops/" .. context.op)(context)
end
