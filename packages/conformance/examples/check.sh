#!/bin/sh
# Checks the seller of this project. Usage: check.sh http://127.0.0.1:3000/paid "npm start"
set -eu
# Not by npx, which does not pass on the signal that ends the facilitator.
url=$1
start=$2
./node_modules/.bin/assay-conformance facilitator --port 4402 --chain-port 4403 &
facilitator=$!
trap 'kill "$facilitator"' EXIT
curl --silent --output /dev/null --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:4402/supported
export FACILITATOR_URL=http://127.0.0.1:4402 RPC_URL=http://127.0.0.1:4403
export ASSET=0x5987195c275b71faa23dd5faf8e2178d06a5e945
./node_modules/.bin/assay-conformance "$url" --start "$start" --facilitator "$FACILITATOR_URL" --format junit --out x402.xml
