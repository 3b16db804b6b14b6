-- The product of two operands by a schedule. See README.md of this folder.
return {
  use("kernels/gemm/wgmma"),
  use("kernels/gemm/tcgen05"),
}
