#!/bin/sh
# Downloads every file of a subscription that is not here yet, one signed event a line. curl and a shell.
# NODE=https://node.example TOKEN=asub_… sh backfill.sh [folder]
set -eu
node=${NODE:-http://127.0.0.1:4020}
folder=${1:-.}
curl -sSf -H "Authorization: Bearer $TOKEN" "$node/v1/market/intent-stream/files" |
  tr ',{' '\n\n' | sed -n 's/^"file":"\([0-9.-]*\)".*/\1/p' |
  while read -r name; do
    file="$folder/intents-$name.ndjson"
    # Files of today are not complete, so they are read again.
    [ -f "$file" ] && [ "${name%.*}" != "$(date -u +%F)" ] && continue
    curl -sSf -H "Authorization: Bearer $TOKEN" -o "$file" "$node/v1/market/intent-stream/files/$name"
    echo "$file $(wc -l < "$file" | tr -d ' ')"
  done
