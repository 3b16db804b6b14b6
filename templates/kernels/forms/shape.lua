-- How the forms of one operand are computed.
local MOST_IN_REGISTERS = 6   -- blocks of 8 elements each; with more the compiler would run out of registers
local MOST_IN_HALVES = 16     -- blocks of 4 elements each
local MOST_WRITTEN_OUT = 256  -- terms; beyond either the kernel loops over a table

-- The blocks that occur, numbered in order, and how the kernel is built for them.
return function(context)
  local operand = context.operand
  local used, number, terms = {}, {}, 0
  for _, slot in ipairs(operand.slots) do
    for _, term in ipairs(slot.terms) do number[term.row * operand.cols + term.col] = true end
    terms = terms + #slot.terms
  end
  for row = 0, operand.rows - 1 do
    for col = 0, operand.cols - 1 do
      local key = row * operand.cols + col
      if number[key] then
        used[#used + 1] = {row = row, col = col}
        number[key] = #used - 1
      end
    end
  end
  local s = {used = used, terms = terms, cols = operand.cols, number = function(term) return number[term.row * operand.cols + term.col] end}
  s.width = 8 -- elements of a block that a thread holds
  s.written_out = #used <= (operand.rows_contiguous and 9 or MOST_IN_REGISTERS) and terms <= MOST_WRITTEN_OUT
  if not s.written_out and not operand.rows_contiguous and #used <= MOST_IN_HALVES and terms <= MOST_WRITTEN_OUT then
    s.written_out, s.width = true, 4
  end
  s.threads, s.shared, s.tile_bytes = operand.rows_contiguous and 512 or 256, 0, operand.rows_contiguous and 64 * 66 * 2 or 0
  s.staged = false
  if not s.written_out then
    -- each thread keeps its chunks of all blocks in shared memory; with too many blocks it reads them again instead
    local smallest = operand.rows_contiguous and 512 or 32
    local threads = s.threads
    while threads > smallest and #used * threads * 16 > context.target.shared_bytes // 2 - 1024 do threads = threads // 2 end
    local bytes = #used * threads * 16 + s.tile_bytes
    if bytes <= context.target.shared_bytes then s.threads, s.shared, s.staged = threads, bytes, true end
  end
  if s.shared == 0 then s.shared = s.tile_bytes end
  s.storage = terms * 8 + #operand.slots * 4 <= 49152 and "__constant__" or "__device__ const"
  return s
end
