// npm run scale:partitions: claims cut by payer over partitions and over two database servers, on real PostgreSQL with
// fsync on. Exit code 1 when a claim is won twice. With --record it writes its figures into docs/scale.md.
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { summarize } from '../percentiles.ts'
import { readOrigin } from '../record.ts'
import { reportFigures, takeReported } from '../report-figures.ts'
import { recordRun } from '../scale/recorded.ts'
import { batch, type Claim, claimAll, createClaims, newClaims, shardOf } from './claims.ts'
import { moveUnderLoad } from './move.ts'
import { openShard, type Shard } from './server.ts'

const sessions = 8
const n = (value: number) => Math.round(value).toLocaleString('en-US')
const print = (text: string) => process.stdout.write(`${text}\n`)

export async function runPartitions(args: string[]): Promise<number> {
  const isQuick = args.includes('--quick')
  const seconds = isQuick ? 1 : 4
  const origin = readOrigin()
  const shards: Shard[] = []
  try {
    for (let index = 0; index < 2; index += 1) shards.push(await openShard(sessions))
    const [first] = shards as [Shard]
    print(
      `${cpus().length} cores shared by clients and servers; ${sessions} sessions a server, ${batch} claims a commit`,
    )
    for (const partitions of [0, 1, 2, 4, 8]) {
      await createClaims(first, partitions)
      const name = partitions === 0 ? 'one server, plain table' : `one server, ${partitions} partitions`
      await measureClaims(name, [first], seconds)
    }
    for (const shard of shards) await createClaims(shard, 4)
    await measureClaims('two servers, 4 partitions each', shards, seconds)
    const faults = await doubleClaims(shards)
    print(`every claim sent four times at once over two servers: ${faults === 0 ? 'each won once' : `${faults} WRONG`}`)
    reportFigures({
      figure: 'claims cut by payer over two servers, each sent four times at once',
      asked: 'won once',
      measured: faults === 0 ? 'won once' : `${faults} wrong`,
      reached: faults === 0,
    })
    const wrongAfterMoves = await measureMoves(shards as [Shard, Shard], isQuick ? 2 : 16)
    await measureBalances(first, seconds)
    if (args.includes('--record') && !isQuick)
      recordRun('partitions', { command: 'npm run scale:partitions', ...origin, rows: takeReported() })
    return faults + wrongAfterMoves === 0 ? 0 : 1
  } finally {
    await Promise.all(shards.map((shard) => shard.stop()))
  }
}

async function measureClaims(name: string, shards: readonly Shard[], seconds: number): Promise<void> {
  const sum = async (of: (shard: Shard) => number | Promise<number>) =>
    (await Promise.all(shards.map(of))).reduce((all, one) => all + one, 0)
  const [cpuBefore, walBefore, ownBefore] = [
    await sum((one) => one.cpuMicros()),
    await sum((one) => one.walBytes()),
    process.cpuUsage(),
  ]
  const startedMs = performance.now()
  let claimed = 0
  const worker = async (shard: Shard, index: number) => {
    while (performance.now() - startedMs < seconds * 1000) {
      const won = await claimAll(shard, newClaims(index, shards.length))
      claimed += won
    }
  }
  await Promise.all(shards.flatMap((shard, index) => Array.from({ length: sessions }, () => worker(shard, index))))
  const took = (performance.now() - startedMs) / 1000
  const own = process.cpuUsage(ownBefore)
  const databaseMicros = (await sum((one) => one.cpuMicros())) - cpuBefore
  const wal = (await sum((one) => one.walBytes())) - walBefore
  const clientCores = (own.user + own.system) / 1e6 / took
  const text = `${n(claimed / took)} claims/s; database ${(databaseMicros / claimed).toFixed(1)} µs CPU and ${n(wal / claimed)} bytes of log each`
  print(
    `${name.padEnd(34)} ${text}; cores: database ${(databaseMicros / 1e6 / took).toFixed(2)}, client ${clientCores.toFixed(2)}`,
  )
  reportFigures({ figure: `claims, ${name}`, asked: null, measured: text, reached: null })
}

/** The same claims from four callers at once. Anyone who sends one finds the same server, and one of them wins. */
async function doubleClaims(shards: readonly Shard[]): Promise<number> {
  const claims: Claim[] = Array.from({ length: 1_024 }, () => ({ payer: randomBytes(20), nonce: randomBytes(32) }))
  const send = async (): Promise<number> => {
    const won = await Promise.all(
      shards.map((shard, index) =>
        claimAll(
          shard,
          claims.filter(({ payer }) => shardOf(payer, shards.length) === index),
        ),
      ),
    )
    return won.reduce((all, one) => all + one, 0)
  }
  const won = (await Promise.all([send(), send(), send(), send()])).reduce((all, one) => all + one, 0)
  return Math.abs(won - claims.length)
}

async function measureMoves(shards: readonly [Shard, Shard], moves: number): Promise<number> {
  const { claims, wrong, longestMs, stoppedMs } = await moveUnderLoad(shards, moves)
  const without = summarize(stoppedMs)
  const text = `${n(claims)} claims, each sent four times at once: ${wrong === 0 ? 'each won once and kept' : `${wrong} WRONG`}; a part without a home for p50 ${n(without.p50)} ms, at most ${n(Math.max(...stoppedMs))}; longest wait of a claim ${n(longestMs)} ms`
  print(`${moves} parts moved between two servers: ${text}`)
  reportFigures({
    figure: `${moves} parts moved between two servers under claims`,
    asked: '0 won twice, 0 lost',
    measured: text,
    reached: wrong === 0,
  })
  return wrong
}

/** A balance that every sale of a route changes is one row, and a row is changed by one commit after the other. */
async function measureBalances({ pool }: Shard, seconds: number): Promise<void> {
  await pool.query('drop table if exists balance')
  await pool.query('create table balance (id int primary key, micro bigint not null) with (fillfactor = 50)')
  await pool.query('insert into balance select n, 0 from generate_series(0, 63) n')
  for (const rows of [1, sessions]) {
    const startedMs = performance.now()
    let changed = 0
    const worker = async (index: number) => {
      while (performance.now() - startedMs < seconds * 1000) {
        await pool.query({
          name: 'change',
          text: 'update balance set micro = micro + 1 where id = $1',
          values: [index % rows],
        })
        changed += 1
      }
    }
    await Promise.all(Array.from({ length: sessions }, (_, index) => worker(index)))
    const perSecond = changed / ((performance.now() - startedMs) / 1000)
    const name = rows === 1 ? 'one balance for all sessions' : 'a balance for each session'
    print(`${name.padEnd(34)} ${n(perSecond)} commits/s`)
    reportFigures({ figure: `balances: ${name}`, asked: null, measured: `${n(perSecond)} commits/s`, reached: null })
  }
}
