-- The Blackwell family of compute capability 10: B200, GB200, B300 and GB300 run one binary. Limits: CUDA C programming guide, compute capability 10; PTX ISA for features.
return use("lib/target").like("sm_100a", {name = "sm_100f"})
