# Products of schemes with one product: tiles that several clusters share, weights loaded before the kernel before has ended.
export PLANTED_SCHEME=1x1x1/trivial PLANTED_SEEDS=8
planted() { bash "$SOURCE/tests/emulated/planted.sh" "$@" || exit; }
planted "sm_90a shared" 4 --op gemm --out-type f32 --plan tile_n=128,cluster=1
planted "sm_90a shared turned" 3 --op mlp --with rounding=twice --plan turned=16,tile_n=128,cluster=1,stages=11
planted "sm_90a shared X in place" 3 --op mlp --plan turned=16,tile_n=128,cluster=1,stages=11
planted "sm_90a shared X" 3 --op mlp --plan turned=128,tile_n=128,cluster=2,stages=6
planted "sm_90a shared Y" 1 --op mlp --plan tile_n=128,cluster=2,stages=6
