#!/bin/sh
# as_version.sh DEB VERSION NEW.deb: the same package under another version, to try updates with.
set -eu
deb=$1 version=$2 new=$3
tree=/var/tmp/as-version
rm -rf $tree
dpkg-deb -R "$deb" $tree
now=$(cd $tree/opt/rubato && echo env-*)
now=${now#env-}
mv "$tree/opt/rubato/env-$now" "$tree/opt/rubato/env-$version"
sed -i "s/env-$now/env-$version/g" $tree/DEBIAN/postinst $tree/DEBIAN/preinst
sed -i "s/^Version: $now/Version: $version/" $tree/DEBIAN/control
rm $tree/DEBIAN/md5sums
dpkg-deb --root-owner-group -Zzstd -z1 --build $tree "$new" >/dev/null
rm -rf $tree
