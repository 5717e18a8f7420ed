import { rm } from 'node:fs/promises'
import { createSince } from '../../packages/node/src/http/index.ts'
import { createFileCache } from '../../packages/node/src/shops/matrix/as-of/file-cache.ts'
import { createLastFetches } from '../../packages/node/src/shops/matrix/ingest/fetch-state.ts'
import { createLicencePolicy } from '../../packages/node/src/shops/matrix/licences/licence-policy.ts'
import type { MatrixDeps } from '../../packages/node/src/shops/matrix/matrix-deps.ts'
import { createAnswerMemo } from '../../packages/node/src/shops/matrix/snapshots/answer-memo.ts'
import { createSnapshotCache } from '../../packages/node/src/shops/matrix/snapshots/snapshot-cache.ts'
import { createSymbolTable } from '../../packages/node/src/shops/matrix/store/symbol-table.ts'
import { openSubscriptionStreams, parseSubscriptionPolicy } from '../../packages/node/src/shops/subscriptions/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { openStore } from '../../packages/till/src/store/open-store.ts'
import { allOwners } from '../../packages/till/src/store/testing.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import { reportFigures } from '../report-figures.ts'

/** The market data shop on its own database, with the durability a node has: fsync on. */
export async function openBenchShop(): Promise<{ deps: MatrixDeps; close(): Promise<void> }> {
  const home = await temporaryHome('assay-bench-matrix-')
  const store = await openStore({
    home,
    migrations: (await allOwners()).slice(1),
    clock: systemClock,
    log: silentLog,
    rng: systemRng,
  })
  const { database } = store
  const fileCache = createFileCache()
  const symbols = createSymbolTable()
  const licences = createLicencePolicy({ demo: true, assertions: [] })
  const common = { database, clock: systemClock, log: silentLog, fileCache, symbols, licences, delayMs: 65 * 60_000 }
  const streams = openSubscriptionStreams(
    { ...common, rng: systemRng },
    {
      routeId: 'matrix.vip',
      connections: 5,
      policy: parseSubscriptionPolicy(),
    },
  )
  return {
    deps: {
      ...common,
      ids: { next: (prefix) => `${prefix}_bench` },
      jws: { sign: () => '', verify: () => undefined },
      baseUrl: 'http://127.0.0.1',
      snapshotCache: createSnapshotCache(common),
      memo: createAnswerMemo(),
      prices: { liveMicro: 50_000n, vipMicro: 250_000n },
      network: 'eip155:8453',
      streams,
      stopping: new AbortController().signal,
      plans: [],
      looks: createLastFetches(database),
      since: createSince(systemClock),
    },
    close: async () => {
      await streams.stop()
      await store.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** CPU of this process and wall time of a piece of work, in milliseconds. */
export async function timed<T>(work: () => Promise<T> | T): Promise<{ result: T; cpuMs: number; wallMs: number }> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  const result = await work()
  const used = process.cpuUsage(cpu)
  return { result, cpuMs: (used.user + used.system) / 1000, wallMs: performance.now() - start }
}

export function report(name: string, figure: string, required: string, reached: boolean): void {
  reportFigures({ figure: name, asked: required, measured: figure, reached })
  process.stdout.write(
    `${reached ? 'reached    ' : 'NOT REACHED'}  ${name.padEnd(44)} ${figure.padEnd(44)} required ${required}\n`,
  )
}
