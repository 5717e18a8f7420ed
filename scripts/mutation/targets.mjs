const node = 'packages/node/src'

/** What is mutated, and the tests that may notice it. All of them are pure: no database, no chain. */
export const targets = [
  {
    name: 'kernel',
    // The table of problems is text and numbers that a test compares with docs/errors.md.
    mutate: [`${node}/kernel/*.ts`, `!${node}/kernel/*.test.ts`, `!${node}/kernel/problem-table.ts`],
    tests: [`${node}/kernel`],
  },
  {
    name: 'judge',
    mutate: [`${node}/tokens/judge/*.ts`, `${node}/tokens/policy-id.ts`, `!${node}/tokens/judge/*.{test,fixture}.ts`],
    tests: [`${node}/tokens/judge`],
  },
  {
    name: 'options',
    mutate: [`${node}/market/options/domain/*.ts`, `!${node}/market/options/domain/*.test.ts`],
    tests: [`${node}/market/options/domain`],
  },
  {
    name: 'ledger',
    // The rules that are told before the database tells them; the others are SQL and run in PostgreSQL alone.
    mutate: ['accounts', 'errors', 'join-postings', 'transaction'].map((file) => `${node}/ledger/${file}.ts`),
    tests: [`${node}/ledger`],
  },
  {
    name: 'payments',
    mutate: [
      ...[
        'chain-verdict',
        'challenge',
        'credit-policy',
        'credit-terms',
        'fingerprint',
        'match-terms',
        'offers',
        'sale-postings',
        'settle-payment',
        'terms',
        'verify-authorization',
        'x402/decode-payment',
        'x402/encode-response',
      ].map((file) => `${node}/payments/${file}.ts`),
    ],
    tests: [`${node}/payments`, `${node}/payments/x402`],
  },
]
