-- Hopper (H100, H200, GH200). Limits: CUDA C programming guide, compute capability 9.0; PTX ISA for the features.
return {
  name = "sm_90a",
  features = {
    tma = true,       -- bulk-tensor copies between global and shared memory
    mbarrier = true,  -- barriers with transaction counts
    cluster = true,   -- thread block clusters, multicast
    wgmma = true,     -- warpgroup matrix multiply from shared memory into registers
    setmaxnreg = true, -- registers move between warpgroups
    overlap = true,   -- programmatic dependent launch
  },
  accumulators = 1, -- a warpgroup's registers hold one 64 x 256 tile of f32
  shared_bytes = 232448,
  registers = 65536, -- per multiprocessor
  nvrtc = {},
}
