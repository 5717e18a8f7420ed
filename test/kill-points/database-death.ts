import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningNode } from '../../packages/node/src/node.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { ensureCluster } from '../../packages/till/src/store/embedded/create-cluster.ts'
import { choosePlace, dataFolderOf } from '../../packages/till/src/store/embedded/place.ts'
import { type EmbeddedServer, runEmbedded } from '../../packages/till/src/store/embedded/run-embedded.ts'
import { startOrAdopt } from '../../packages/till/src/store/embedded/server.ts'
import { testServerVariable } from '../../packages/till/src/store/testing.ts'
import { Broken, requireExactly } from '../harness/broken.ts'
import { buyThroughDeath } from '../harness/buy-through-death.ts'
import { spentOnChain } from '../harness/invariants.ts'
import { createMoneyCheck } from '../harness/money-check.ts'
import { createTestShop } from '../harness/test-shop.ts'
import { openTill, type TillFixture } from '../harness/till-fixture.ts'
import { killWhileWriting } from './kill-while-writing.ts'
import { noDeaths, type Row } from './run-deaths.ts'

const deathsInAll = 20
/** After the first claim: spread over the time that six purchases take, on a fast machine too. */
const moments = 10
const momentMs = 10
const buyersAtOnce = 6
const priceMicro = 1_500n
/** Share of the kills that must happen while something is being written: the others prove little. */
const writingShareMin = 0.5

const quiet = {
  clock: systemClock,
  log: silentLog,
  rng: systemRng,
  onProgress: () => {},
  onLockLost: () => {},
}

/** The same server on the same data at the same address; crash recovery is PostgreSQL's own. */
async function startAgain(home: string, { databaseUrl }: EmbeddedServer): Promise<void> {
  const { place, credentials } = await ensureCluster(await choosePlace(home, systemRng), quiet)
  await startOrAdopt({ place, credentials, port: Number(new URL(databaseUrl).port), ...quiet })
}

/**
 * The database server itself is killed with SIGKILL while sales are being committed, as durable as an operator runs it,
 * and started again. What was acknowledged is there, what was not is undone or finished, and every buyer is charged once.
 */
export async function killDatabase(every: number, say: (text: string) => void): Promise<Row> {
  const home = await mkdtemp(join(tmpdir(), 'assay-database-death-'))
  await chmod(home, 0o711)
  const server = await runEmbedded({ home, ...quiet })
  const shared = process.env[testServerVariable]
  process.env[testServerVariable] = server.databaseUrl
  const startedMs = Date.now()
  const row = noDeaths('database')
  const seen: string[] = []
  try {
    const till = await openTill({ ownShops: 'till', shops: [createTestShop().open] })
    const check = await createMoneyCheck(till)
    const scene = { till, home, server, node: till.node }
    for (let round = 0; round < deathsInAll; round += every) {
      const { failed, writing, recoveryMs } = await dieOnce(scene, (round % moments) * momentMs)
      row.deaths += 1
      if (failed.length === 0) row.recovered += 1
      if (writing.length > 0) row.whileWriting = (row.whileWriting ?? 0) + 1
      row.slowestMs = Math.max(row.slowestMs, recoveryMs)
      for (const error of failed) {
        row[error instanceof Broken ? error.how : 'lost'] += 1
        row.failures.push(String(error))
        say(`BROKEN database, round ${round}: ${String(error)}`)
      }
      row.seconds = Math.round((Date.now() - startedMs) / 1000)
      seen.push(writing.length === 0 ? 'nothing written' : writing.join(', '))
      say(
        `       database: ${row.deaths} of ${Math.ceil(deathsInAll / every)} deaths, ${row.seconds} s; at this one: ${seen.at(-1)}`,
      )
    }
    await check()
    reportLosses(row, say)
    await till.close()
  } finally {
    if (shared === undefined) delete process.env[testServerVariable]
    else process.env[testServerVariable] = shared
    await server.stop()
    await rm(server.place.folder, { recursive: true, force: true })
    await rm(home, { recursive: true, force: true })
  }
  return { ...row, seen }
}

type Scene = { till: TillFixture; home: string; server: EmbeddedServer; node: RunningNode }

/** Six buyers, one death, a new server on the same data and a new node; everyone has bought in the end. */
async function dieOnce(scene: Scene, afterMs: number) {
  const { till, home, server } = scene
  let ready: Promise<void> = Promise.resolve()
  let diedAtMs = Date.now()
  let writing: string[] = []
  const buyers = Array.from({ length: buyersAtOnce }, () =>
    buyOnce(till, scene.node.address, async () => {
      await ready
      return scene.node.address
    }),
  )
  ready = (async () => {
    await untilInProgress(till)
    // Among the claims, intents and sales of the six, each time elsewhere.
    await systemClock.sleep(afterMs)
    writing = await killWhileWriting(await postmasterOf(server), till.db.owner)
    diedAtMs = Date.now()
    await startAgain(home, server)
    // Its lock is gone with the server, so the process may no longer act for its payments.
    await Promise.race([scene.node.stop(), systemClock.sleep(8_000)])
    scene.node = await till.startAnother({ shops: [createTestShop().open], env: { BASE_URL: till.node.url } })
  })()
  const results = await Promise.allSettled([...buyers, ready])
  const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  return { failed, writing, recoveryMs: Date.now() - diedAtMs }
}

function reportLosses(row: Row, say: (text: string) => void): void {
  const { deaths, whileWriting = 0 } = row
  if (whileWriting < deaths * writingShareMin)
    row.failures.push(`only ${whileWriting} of ${deaths} deaths came while something was being written`)
  const verdict = row.failures.length === 0 ? 'held  ' : 'BROKEN'
  say(
    `${verdict} database: ${deaths} deaths of the server, ${whileWriting} with a commit or write under way, ${deaths * buyersAtOnce} purchases, ${row.failures.length} broken`,
  )
}

async function untilInProgress(till: TillFixture): Promise<void> {
  for (const giveUpAt = Date.now() + 20_000; Date.now() < giveUpAt; ) {
    const { rows } = await till.db.owner.query<{ n: bigint }>(
      `select count(*) as n from payment where state in ('claimed', 'settling')`,
    )
    if (rows[0]?.n !== 0n) return
    await systemClock.sleep(2)
  }
}

async function buyOnce(till: TillFixture, first: string, after: () => Promise<string>): Promise<void> {
  const buyer = await till.newBuyer()
  await buyThroughDeath(till, buyer, { path: '/test/small', init: {} }, { first, after })
  const spent = await spentOnChain(till, 'base', buyer.address)
  requireExactly('charged', spent, priceMicro)
}

async function postmasterOf(server: EmbeddedServer): Promise<number> {
  const [pid] = (await readFile(join(dataFolderOf(server.place), 'postmaster.pid'), 'utf8')).split('\n')
  return Number(pid)
}
