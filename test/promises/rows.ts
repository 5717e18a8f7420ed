/** `asked` runs at the size the promise names, `test` at one that only shows that the command works. */
export type Size = 'asked' | 'test'

export type Command = {
  /** As typed after `node`; what differs by size. */
  args(size: Size): readonly string[]
  env?(size: Size): Record<string, string>
  /** Lines of the output that hold the figure. */
  figure: RegExp
}

export type Row = {
  name: string
  promise: string
  asked: string
  /** How to see it without this command, or apart from the rest of the row. */
  also?: string
  commands: readonly Command[]
  /** It times answers, so nothing runs beside it. */
  alone?: boolean
  /** Why it is shown only when it is named. */
  onlyNamed?: string
}

const proof = (name: string, small: number): Command => ({
  args: (size) => [
    '--import',
    'tsx',
    'test/promises/prove.ts',
    name,
    ...(size === 'asked' ? [] : ['--count', String(small)]),
  ],
  figure: /^seen: (.*)/,
})

const tests = (files: readonly string[], env?: Command['env']): Command => ({
  args: () => ['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', ...files],
  ...(env === undefined ? {} : { env }),
  figure: /^\s*(?:seen: (.*)|(Tests\s+.*))/,
})

const script = (name: string, asked: readonly string[], small: readonly string[], figure: RegExp): Command => ({
  args: (size) => [`scripts/${name}.mjs`, ...(size === 'asked' ? asked : small)],
  figure,
})

const bench = (name: string, asked: readonly string[], small: readonly string[], figure: RegExp): Command => ({
  args: (size) => ['--import', 'tsx', `bench/${name}/main.ts`, ...(size === 'asked' ? asked : small)],
  figure,
})

const verdicts = /^((?:ok|FAILED) .*)/
const simulate = (seeds: string, steps: string): Command =>
  script(
    'simulate',
    ['--seeds', seeds, '--steps', steps],
    ['--steps', '60'],
    /^(seed .*held.*|.*BROKEN.*|all seeds held)/,
  )

/** The promises, in the order of docs/promises.md. */
export const rows: readonly Row[] = [
  {
    name: 'once',
    also: '`npm run scale -- payment`',
    promise: 'a payment buys one thing once',
    asked: '10,000 copies over 4 processes: 1 served, 1 handler run, 1 settle',
    commands: [script('run-bench', ['scale', 'payment'], ['scale', 'payment', '--quick'], verdicts)],
  },
  {
    name: 'quoted',
    promise: 'only what was quoted',
    asked: '0 wrong in 10,000 ordered pairs of routes, methods and bodies',
    commands: [proof('quoted', 400)],
  },
  {
    name: 'unpaid',
    also: '`npx assay attack <url>`',
    promise: 'nothing served unpaid',
    asked: '0 paid bytes in 1,000,000 requests',
    commands: [proof('unpaid', 5_000)],
  },
  {
    name: 'twice',
    promise: 'nobody pays twice, nobody for nothing',
    asked: '0 second charges in 10,000 runs; all served or credited, p99 60 s',
    commands: [proof('faults', 150), tests(['test/fault-points.test.ts', 'test/lost-answers.test.ts'])],
  },
  {
    name: 'lost',
    also: '`npm run kill-points`, with `--path database` for the server itself',
    promise: 'no acknowledged payment is lost',
    asked: '200 kill points, 20 seeds, the database included: 0 lost, 0 doubled',
    commands: [script('kill-points', [], ['--every', '25'], /^((?:held|BROKEN) .*|nothing lost.*|\d+ broken)/)],
  },
  {
    name: 'books',
    also: '`npm run simulate`',
    promise: 'books balance, no money made or lost',
    asked:
      'splits of 10,000,000 amounts, 1,000,000 commands, 1,000 seeds, 100,000 option lives: difference 0, no rule broken',
    commands: [
      proof('splits', 200_000),
      proof('books', 20_000),
      simulate('1000', '1000'),
      bench(
        'options',
        ['--promise', '--buys', '0', '--lives', '100000'],
        ['--promise', '--buys', '0', '--lives', '1000'],
        /^\s*"(differenceMicro|short|lives)".*/,
      ),
    ],
  },
  {
    name: 'no-negative-balance',
    promise: 'a balance is never below zero',
    asked: '10,000 redemptions at once: exactly floor(balance / price)',
    commands: [proof('no-negative-balance', 10_000)],
  },
  {
    name: 'chain',
    promise: 'books equal the chain',
    asked: 'missing, extra and doubled transfers are found within two cycles, difference 0',
    commands: [proof('chain', 24), tests(['test/reconcile.test.ts', 'test/attack-reconcile.test.ts'])],
  },
  {
    name: 'reorgs',
    promise: 'safe in a reorg',
    asked: '0 to 64 blocks at random points, 10,000 runs: 0 payouts from money that went away, loss below the cap',
    commands: [proof('reorgs', 240)],
  },
  {
    name: 'payouts',
    promise: 'payouts exactly once',
    asked: 'crash, stuck nonce, replaced, dropped, 10,000 runs: one transfer for each intent, no gap',
    commands: [proof('payouts', 200)],
  },
  {
    name: 'retries',
    promise: 'safe to ask again',
    asked: 'a key 100 times with disconnects: the same bytes, 409 on change, kept 24 h',
    commands: [proof('retries', 200)],
  },
  {
    name: 'reads',
    also: '`FAULT_SETS=100000 npx vitest run packages/node/src/shops/tokens/faults.fuzz.test.ts`',
    promise: 'reads fail closed',
    asked: '100,000 fault sets: 0 false "clean", 0 mixed blocks, 99.9 % right with 2 of 3 honest',
    commands: [
      tests(['packages/node/src/shops/tokens/faults.fuzz.test.ts'], (size) => ({
        FAULT_SETS: size === 'asked' ? '100000' : '2000',
      })),
    ],
  },
  {
    name: 'outbound',
    alone: true,
    promise: 'no request to where it should not go; bombs are harmless',
    asked: '0 connections to non-global addresses of 10,000 hosts; memory + 64 MB, honest p99 below twice',
    commands: [tests(['packages/node/src/outbound']), proof('hostile', 300)],
  },
  {
    name: 'streams',
    also: '`npx tsx bench/intents/main.ts --promise --minutes 60`',
    alone: true,
    promise: 'streams hold',
    asked: '10,000 streams, a tenth slow, 1 h: 0 unpaid, 0 lost for healthy readers, memory flat',
    commands: [bench('intents', ['--promise', '--minutes', '60'], ['--promise', '--quick'], /^\s*(?:seen: (.*))/)],
  },
  {
    name: 'unpaid-cost',
    also: '`npm run bench:till`',
    alone: true,
    promise: 'unpaid work is cheap',
    asked:
      'p99 20 ms at 2,000/s a core, or, where the machine is too busy for that, 3 times a bare server that writes the same bytes; CPU below 4 times its; 0 upstream calls',
    commands: [proof('unpaid-cost', 6_000)],
  },
  {
    name: 'secrets',
    promise: 'secrets stay in, rotation is invisible',
    asked: '0 hits in logs and answers; 0 failed verifications',
    commands: [tests(['test/secrets-stay-in.test.ts']), proof('rotation', 1_000)],
  },
  {
    name: 'rotate',
    promise: 'a proof survives the rotation of every key',
    asked: '5 rotations of each key, by turns, one key lost: 0 attestations that no longer verify offline',
    commands: [proof('rotate', 2), tests(['test/evidence-vectors.test.ts', 'test/evidence-python.test.ts'])],
  },
  {
    name: 'downgrade',
    promise: 'a file that lost a part of its proof does not verify',
    asked: '0 of 100 files, each stripped in every way, pass the default policy',
    commands: [proof('downgrade', 20)],
  },
  {
    name: 'restart',
    also: '`npm run scale -- restart --restarts 50`, `npm run drill`',
    promise: 'restart and restore',
    asked: '50 rolling restarts: 0 failed paid requests; nothing lost, ready within 15 minutes',
    commands: [
      script('run-bench', ['scale', 'restart', '--restarts', '50'], ['scale', 'restart', '--quick'], verdicts),
      script('run-bench', ['drill'], ['drill'], verdicts),
    ],
  },
  {
    name: 'failover',
    also: '`npm run scale -- failover`',
    onlyNamed: 'it takes ten minutes and servers from Debian',
    promise: 'a database that fails over loses no payment',
    asked:
      'the leader of a PostgreSQL cluster killed 20 times, cut off once, its disk filled once: 0 acknowledged payments lost, 0 doubled, sales back within 30 s',
    commands: [script('run-bench', ['scale', 'failover'], ['scale', 'failover', '--quick'], verdicts)],
  },
  {
    name: 'history',
    also: '`npm run scale -- history --rows 1000000`',
    onlyNamed: '`npm test` does the same with fewer rows',
    promise: 'nothing grows with the past',
    asked: 'no job and no route reads more with 100,000 sales, a million or ten million than with 10,000',
    commands: [script('run-bench', ['scale', 'history'], ['scale', 'history', '--rows', '20000'], verdicts)],
  },
  {
    name: 'overload',
    also: '`npm run load -- --promise`',
    alone: true,
    promise: 'under overload nobody who paid is lost',
    asked: '429 or 503 with `Retry-After`, no payment lost; memory flat over 15 minutes',
    commands: [
      script(
        'run-bench',
        ['load', '--promise', '--soak', '15m'],
        ['load', '--promise', '--quick'],
        /^\s*(\d+ payments: .*|.*MB\): .*|all as promised|FAILED)/,
      ),
    ],
  },
  {
    name: 'start',
    alone: true,
    promise: 'running in a minute',
    asked: 'from an empty folder to the first answer within 60 s, packages installed',
    commands: [proof('start', 1)],
  },
  {
    name: 'client',
    promise: 'our client pays no more than its limits allow, and accepts nothing unsigned',
    asked: 'every test passes',
    commands: [tests(['packages/sdk/src', 'test/sdk.test.ts'])],
  },
  {
    name: 'strict',
    alone: true,
    promise: 'a production node starts with nothing weak, and a pause stops selling at once',
    asked: 'every test passes; a pause counts in every process within 1 s',
    commands: [
      proof('pause', 3),
      tests([
        'packages/node/src/config/load-config.test.ts',
        'packages/till/src/store/table-rules.db.test.ts',
        'test/cli.test.ts',
      ]),
    ],
  },
  {
    name: 'adversary',
    also: '`npm run simulate`',
    promise: 'what arrived is what is posted, no matter who signs, submits, cancels or settles it',
    asked: 'every attack gains nothing, stops nobody and leaves the books equal to the chain',
    commands: [
      tests(['test/adversary', 'packages/till/src/ledger/transfers', 'packages/till/src/payouts/restored']),
      script(
        'simulate',
        ['--seeds', '20', '--steps', '200'],
        ['--steps', '60'],
        /^(seed .*held.*|.*BROKEN.*|all seeds held)/,
      ),
    ],
  },
  {
    name: 'restore-log',
    promise: 'a restored log never signs another history, and its leaves come back',
    asked: '5 restores: each stops at its start, is repaired from a mirror and goes on; no stamp is lost',
    commands: [
      proof('restore-log', 1),
      tests(['packages/node/src/tlog/restored-log.db.test.ts', 'test/restore-log.test.ts']),
    ],
  },
  {
    name: 'stolen-custody-key',
    promise: 'money that was allotted to creators cannot be taken, not even with the custody key',
    asked:
      '300 attempts at a whole node: 0 gained, every creator gets all of it; 200 histories against a model; 200 epochs, each at the same cost',
    commands: [
      proof('stolen-custody-key', 25),
      tests(['packages/node/src/shops/attestations/creators/distributor'], (size) => ({
        DISTRIBUTOR_RUNS: size === 'asked' ? '200' : '12',
        DISTRIBUTOR_EPOCHS: size === 'asked' ? '200' : '16',
      })),
    ],
  },
  {
    name: 'ways',
    promise: 'every way to pay keeps what `exact` keeps',
    asked:
      'stock clients buy by each way; 1,000 calls of one channel and 2,000 purchases by the others through faults, 0 second charges; every attack gains nothing',
    commands: [
      proof('methods', 60),
      proof('channel', 40),
      tests(['test/channels', 'test/permit2.test.ts', 'test/mpp.test.ts', 'test/payment-methods.test.ts'], (size) => ({
        CHANNEL_CALLS: size === 'asked' ? '1000' : '40',
      })),
    ],
  },
  {
    name: 'faults',
    also: '`npm run faults`',
    promise: 'a fault planted in the till is found by the proof that should find it',
    asked: 'every planted fault is found',
    commands: [script('planted-faults', [], ['--only', 'payout'], /^((?:ok|FAIL) .*|\d+ of \d+ planted.*)/)],
  },
  {
    name: 'mutate',
    also: '`npm run mutate`',
    promise: 'tests can fail',
    asked: '85 % of mutants killed',
    commands: [script('mutate', [], ['--only', 'ledger'], /(\d+(?:\.\d+)? ?%.*)/)],
  },
]
