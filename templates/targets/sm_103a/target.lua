-- Blackwell Ultra B300 and GB300, all of it. Limits: CUDA C programming guide, compute capability 10; PTX ISA for features.
return use("lib/target").like("sm_100a", {name = "sm_103a"})
