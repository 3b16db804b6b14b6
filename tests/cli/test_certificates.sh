# Every committed certificate proves that its catalogue scheme's number of writes is minimal.
set -u
failures=0 count=0
for certificate in "$SOURCE"/proofs/certificates/*.cert; do
    name=$(basename "$certificate" .cert)
    scheme="$SOURCE/schemes/${name%%-*}/${name#*-}.json"
    count=$((count + 1))
    "$BINARY/bin/heptane-check" "$certificate" "$scheme" | grep -q "^Proved: minimal" ||
        { echo "FAIL $name"; failures=$((failures + 1)); }
done
[ $count -gt 0 ] || failures=1
echo "$count certificates"
exit $((failures > 0))
