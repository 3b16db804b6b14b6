bash "$SOURCE/tests/emulated/planted.sh" sm_90a || exit
PLANTED_SCHEME=2x2x2/strassen bash "$SOURCE/tests/emulated/planted.sh" "sm_90a targets" 2 --out-type f32
