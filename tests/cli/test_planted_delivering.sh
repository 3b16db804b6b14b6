for kernel in "sm_90a delivering" "sm_100a delivering"; do
    bash "$SOURCE/tests/emulated/planted.sh" "$kernel" 1 --out-type bf16 --plan deliver=1 || exit
done
