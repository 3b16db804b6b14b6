bash "$SOURCE/tests/emulated/planted.sh" sm_90a
