const node = 'packages/node/src'
const till = 'packages/till/src'
const protocol = 'packages/protocol/src'

/** What is mutated, and the tests that may notice it. All of them are pure: no database, no chain. */
export const targets = [
  {
    name: 'kernel',
    // The table of problems is text and numbers that a test compares with docs/errors.md.
    mutate: [
      `${till}/kernel/*.ts`,
      `!${till}/kernel/*.{test,fixture}.ts`,
      `!${till}/kernel/problem-table.ts`,
      `${protocol}/*.ts`,
      `!${protocol}/*.{test,fixture}.ts`,
      // A table of facts, and what only files, streams and clocks can show.
      ...['networks', 'sleep'].map((file) => `!${protocol}/${file}.ts`),
      ...['durable-file', 'stderr-log'].map((file) => `!${till}/kernel/${file}.ts`),
    ],
    tests: [`${till}/kernel`, protocol, `${till}/proofs`, `${till}/signing`],
  },
  {
    name: 'evaluation',
    mutate: [
      `${node}/shops/tokens/evaluate/*.ts`,
      `${node}/shops/tokens/policy-id.ts`,
      `!${node}/shops/tokens/evaluate/*.{test,fixture}.ts`,
    ],
    tests: [`${node}/shops/tokens/evaluate`],
  },
  {
    name: 'options',
    mutate: [`${node}/shops/options/domain/*.ts`, `!${node}/shops/options/domain/*.test.ts`],
    tests: [`${node}/shops/options/domain`],
  },
  {
    name: 'ledger',
    // The rules that are checked before the database checks them; the others are SQL and run in PostgreSQL alone.
    mutate: ['accounts', 'errors', 'join-postings', 'transaction'].map((file) => `${till}/ledger/${file}.ts`),
    tests: [`${till}/ledger`],
  },
  {
    name: 'payments',
    mutate: [
      ...['chain-verdict', 'sale-postings', 'settle-payment'].map((file) => `${till}/gate/${file}.ts`),
      ...['settlement-outcome', 'resolve-unknown'].map((file) => `${till}/transitions/${file}.ts`),
      ...['fingerprint', 'offers', 'terms', 'credit-terms'].map((file) => `${till}/contract/${file}.ts`),
      ...['challenge', 'decode-header', 'encode-response', 'match-offer', 'read-fields'].map(
        (file) => `${till}/schemes/${file}.ts`,
      ),
      ...['decode-exact', 'match-terms', 'verify-authorization'].map((file) => `${till}/schemes/exact/${file}.ts`),
      `${till}/credit/credit-policy.ts`,
    ],
    tests: [`${till}/gate`, `${till}/transitions`, `${till}/schemes`, `${till}/schemes/exact`, `${till}/credit`],
  },
]
