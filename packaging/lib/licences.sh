# The licences of what travels with Heddle. Sourced, not run.
# shellcheck shell=bash

# copy_licences FOLDER < FILES: Heddle's own, LibTorch's, and that of the Debian package of each file.
copy_licences() {
  local folder=$1 file package
  mkdir -p "$folder"
  cp "$HEDDLE_ROOT"/{LICENSE,COPYING.exception,THIRD-PARTY.md} "$folder"
  cp -r "$HEDDLE_LIBTORCH/licenses" "$folder/libtorch"
  while read -r file; do
    { dpkg-query --search "$file" || dpkg-query --search "/usr$file" || dpkg-query --search "${file#/usr}" || true; } 2>/dev/null
  done | cut -d: -f1 | sort -u | while read -r package; do
    cp -L "/usr/share/doc/$package/copyright" "$folder/$package"
  done
}
