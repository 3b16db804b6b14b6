bash "$SOURCE/tests/emulated/planted.sh" sm_100a
