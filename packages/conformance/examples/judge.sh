#!/bin/sh
# Judges the seller of this project. Usage: judge.sh http://127.0.0.1:3000/paid "npm start"
set -eu
url=$1
start=$2
npx assay-conformance facilitator --port 4402 --chain-port 4403 &
facilitator=$!
trap 'kill "$facilitator"' EXIT
curl --silent --output /dev/null --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:4402/supported
export FACILITATOR_URL=http://127.0.0.1:4402 RPC_URL=http://127.0.0.1:4403
npx assay-conformance "$url" --start "$start" --facilitator "$FACILITATOR_URL" --format junit --out x402.xml
