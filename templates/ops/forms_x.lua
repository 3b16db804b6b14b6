return function(context) return use("ops/forms")(context, context.plan.x) end
