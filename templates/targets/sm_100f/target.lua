-- The Blackwell family of compute capability 10: B200, GB200, B300 and GB300 run one binary. Limits: CUDA C programming guide, compute capability 10; PTX ISA for features.
return {
  name = "sm_100f",
  features = {
    tma = true,        -- bulk-tensor copies between global and shared memory
    mbarrier = true,   -- barriers with transaction counts
    cluster = true,    -- thread block clusters, multicast
    tcgen05 = true,    -- matrix multiply of CTA pairs into tensor memory
    setmaxnreg = true, -- registers move between warpgroups
    overlap = true,    -- programmatic dependent launch
  },
  accumulators = 2, -- tensor memory: 512 columns, two tiles of 128 x 256 f32 per CTA
  shared_bytes = 232448,
  nvrtc = {},
}
