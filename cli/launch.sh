#!/bin/sh
# `holdfast` of the package: the program needs Bun, also where npm installed it.
if ! command -v bun > /dev/null; then
  echo "holdfast needs Bun, whose SQLite it stores in: npm install --global bun" >&2
  exit 1
fi
exec bun "$(dirname "$(readlink -f "$0")")/main.js" "$@"
