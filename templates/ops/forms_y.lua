return function(context) return use("ops/forms")(context, context.plan.y) end
