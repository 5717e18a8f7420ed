export const usage = `Usage:
  assay-conformance <url> [options]      check a paid route of an x402 seller
  assay-conformance facilitator          run the test facilitator with its own chain
  assay-conformance list                 list the cases

Options:
  --data <json>          body, for a route that takes POST
  --other-route <url>    another paid route of the seller, that takes GET
  --facilitator <url>    the seller settles through this test facilitator; needed for level L4
  --rpc <url>            the chain, to see what was charged; the facilitator's is known
  --key-file <path>      private key of the wallet that pays; default: a throwaway wallet, funded by the facilitator
  --cap <usd>            most that may be signed in all; default 1
  --real-money <usd>     allow a main network; repeat the cap
  --start <command>      start the seller with this command, so that it can be killed and started again
  --only <names>         cases or levels, separated by commas
  --level <level>        exit with 1 only for failures up to this level; default L5
  --nonce <hex>          nonce of this run, served by the seller at /.well-known/x402-conformance
  --format <name>        text, json, junit, sarif, html or badge; default text
  --json                 the same as --format json
  --thorough             cut the answer after every byte instead of a few; signs as many payments
  --out <file>           write the report to a file
  --port, --chain-port   of the facilitator; default 4402 and any free port

Exit codes: 0 nothing failed, 1 a case failed, 2 wrong use.
`
