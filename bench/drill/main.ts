// npm run drill: a backup of a running node, everything lost, restored into a new server, compared with the chain.
// With --pgbackrest the database is a Patroni cluster, restored by pgBackRest as it was at a point in time.
// Exit code 1 when the restored books are broken, differ from the chain, a payment of the lost time is not found again,
// something is paid out twice, or payouts and creator roots do not continue by themselves.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Address } from '../../packages/protocol/src/address.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { restoreBackup } from '../../packages/till/src/store/backup/restore-backup.ts'
import { takeBackup } from '../../packages/till/src/store/backup/take-backup.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { runEmbedded } from '../../packages/till/src/store/embedded/run-embedded.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'
import { faultsInBooks } from '../../test/harness/books.ts'
import { benchPayer, signPayment } from '../load/sign-payments.ts'
import { type Caller, openCaller } from '../scale/call.ts'
import { type Cluster, openCluster } from '../scale/cluster.ts'
import { createNodeProcess, type NodeProcess } from '../scale/node-process.ts'
import { paidPath, paymentHeader, readTerms } from '../scale/terms.ts'
import { tell } from '../scale/verdict.ts'
import { archivedDatabase, type Backups } from './archived-database.ts'
import { isPaidOut, isReconciled, moneyOut, oweCreator, oweRoyalty, payees, usd } from './money-out.ts'

const say = (text: string) => process.stderr.write(`${text}\n`)
const payers = 60
const ports = { clock: systemClock, log: silentLog, rng: systemRng }

export async function runDrill(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { pgbackrest: { type: 'boolean', default: false } } })
  const archived = values.pgbackrest ? await archivedDatabase(say) : undefined
  // A backup is of the database alone: what carries the stream has no part in it, so nothing is installed for it.
  const options = { payers, settlers: 2, install: false, say }
  const cluster = await openCluster(archived ? { ...options, openDatabase: archived.open } : options)
  try {
    return await drill(cluster, archived ?? physicalCopy(cluster))
  } finally {
    await cluster.close()
  }
}

/** A physical copy, put into a new embedded server. */
function physicalCopy(cluster: Cluster): Backups {
  const backup = join(cluster.home, 'backup')
  return {
    begin: async () => {},
    take: async () => {
      const { bytes } = await takeBackup({ url: cluster.databaseUrl }, backup, new Date().toISOString())
      return `${(bytes / 1_048_576).toFixed(0)} MB`
    },
    restore: async () => {
      const credentialsFile = join(cluster.home, 'database', 'postgres', 'credentials.json')
      const home = join(cluster.home, 'restored')
      await restoreBackup({ backup, home, credentialsFile, rng: systemRng })
      return runEmbedded({ home, ...ports, onProgress: () => {}, onLockLost: () => {} })
    },
  }
}

async function drill(cluster: Cluster, backups: Backups): Promise<number> {
  const caller = openCaller(16)
  const node = await createNodeProcess(cluster, market)
  try {
    say('a node sells and pays out ...')
    await node.start()
    await buy(caller, node, 0, 10)
    await backups.begin()
    await buy(caller, node, 10, 10)
    for (const payee of payees) await oweRoyalty(cluster.owner, payee, 20n * usd)
    await oweCreator(cluster.owner, 2n * usd)
    await untilTrue('everybody is paid', () => isPaidOut(cluster.owner))
    // Due when the backup is taken: it may be paid before or after it.
    await oweRoyalty(cluster.owner, payees[0] as Address, 15n * usd)
    say('a backup is taken while it goes on selling ...')
    const startedMs = performance.now()
    const [what] = await Promise.all([backups.take(), buy(caller, node, 20, 20)])
    const backupSeconds = (performance.now() - startedMs) / 1000
    say('more is sold and paid out, then machine and database are lost ...')
    const lost = await buy(caller, node, 40, 20)
    await oweRoyalty(cluster.owner, payees[1] as Address, 12n * usd)
    await oweCreator(cluster.owner, 3n * usd)
    await untilTrue('everybody is paid', () => isPaidOut(cluster.owner))
    await node.end('SIGKILL')
    return await restoreAndCompare(cluster, caller, backups, { what, backupSeconds, lost })
  } finally {
    caller.close()
    await node.end('SIGKILL')
  }
}

/** Nonces of purchases, all answered. */
async function buy(caller: Caller, node: NodeProcess, first: number, count: number): Promise<string[]> {
  const terms = await readTerms(caller, node.port)
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const signed = signPayment(benchPayer((first + index) % payers), terms)
      const headers = { 'payment-signature': paymentHeader(terms, signed) }
      const { status, body } = await caller.get(node.port, paidPath, headers)
      if (status !== 200) throw new Error(`a purchase was answered with ${status}: ${body.slice(0, 300)}`)
      return signed.authorization.nonce
    }),
  )
}

/** A quarter of an hour. */
const secondsMax = 900

type Taken = { what: string; backupSeconds: number; lost: readonly string[] }

async function restoreAndCompare(cluster: Cluster, caller: Caller, backups: Backups, taken: Taken): Promise<number> {
  const startedMs = performance.now()
  const server = await backups.restore()
  cluster.adopt(() => server.stop())
  const database = createDatabase({ target: { url: server.databaseUrl }, poolSize: 2, ...ports })
  const node = await createNodeProcess(cluster, { ...market, DATABASE_URL: server.databaseUrl })
  try {
    const faults = await faultsInBooks(database)
    const outBefore = await moneyOut(cluster)
    say('the node starts on what was restored and looks at the chain ...')
    await node.start()
    const seconds = (performance.now() - startedMs) / 1000
    const found = await untilFound(database, taken.lost)
    if (found < taken.lost.length)
      faults.push(`${taken.lost.length - found} payments of the lost time were not found again`)
    const apart = await differences(caller, node)
    faults.push(...apart, ...(await faultsInBooks(database)))
    if (seconds > secondsMax) faults.push(`it took ${seconds.toFixed(1)} s`)
    await buy(caller, node, 0, 5)
    faults.push(...(await continueMoneyOut(cluster, database, outBefore)))
    tell({
      name: 'backup of a running node restored into a new server',
      asked: 'books whole and equal to the chain, ready within 15 minutes',
      measured: `ready ${seconds.toFixed(1)} s after the loss; ${found} of ${taken.lost.length} payments made after the backup found on chain; nothing paid out twice, payouts and creator roots went on; difference ${apart.length === 0 ? '0' : apart.join(', ')}`,
      notes: [`backup: ${taken.what} in ${taken.backupSeconds.toFixed(1)} s, the node selling meanwhile`],
      faults,
    })
    return faults.length === 0 ? 0 : 1
  } finally {
    await node.end('SIGTERM')
    await database.close()
    await server.stop()
  }
}

/** Roots are made at once, for any amount. */
const market = { CITATIONS: '{"root_seconds":1,"root_minimum_usd":"0.5"}' }

/** Until then nothing may have left twice; afterwards new debts are paid, less what was paid and lost from the books. */
async function continueMoneyOut(cluster: Cluster, database: Database, before: readonly bigint[]): Promise<string[]> {
  await untilTrue('the restore is reconciled', () => isReconciled(database))
  const same = await moneyOut(cluster)
  const faults = same.join() === before.join() ? [] : [`paid out twice: ${before.join()} became ${same.join()}`]
  for (const payee of payees) await oweRoyalty(database, payee, 30n * usd)
  await oweCreator(database, 4n * usd)
  await untilTrue('payouts and creator roots continue', () => isPaidOut(database))
  // The second payee got 12 USD in the lost time, for a debt that was lost with it.
  const expected = [4n, 30n, 18n, 30n]
  const gained = (await moneyOut(cluster)).map((micro, index) => (micro - (before[index] ?? 0n)) / usd)
  // A creator's share of the lost time is in the contract; the next root gives it out again.
  if (gained.slice(1).join() !== expected.slice(1).join())
    faults.push(`paid ${gained.join()} USD, not ${expected.join()}`)
  return faults
}

async function untilTrue(what: string, isIt: () => Promise<boolean>): Promise<void> {
  const startedMs = performance.now()
  while (!(await isIt())) {
    if (performance.now() - startedMs > foundWithinMs) throw new Error(`not within ${foundWithinMs / 1000} s: ${what}`)
    await sleep(250)
  }
}

const foundWithinMs = 180_000

/** Until every payment of the lost time is in the books again, on the account of the gap. */
async function untilFound(database: Database, nonces: readonly string[]): Promise<number> {
  const wanted = nonces.map((nonce) => Buffer.from(nonce.slice(2), 'hex'))
  const startedMs = performance.now()
  for (;;) {
    const { rowCount } = await database.query(
      `select from transfer where payment_key = any($1::bytea[]) and posted_as is not null`,
      [wanted],
    )
    if (rowCount >= nonces.length || performance.now() - startedMs > foundWithinMs) return rowCount
    await sleep(500)
  }
}

/** What the node itself says about books and chain. */
async function differences(caller: Caller, node: NodeProcess): Promise<string[]> {
  for (let tries = 0; ; tries += 1) {
    const { body } = await caller.get(node.port, '/metrics')
    const lines = body.split('\n').filter((line) => line.startsWith('assay_reconcile_difference_micro{'))
    const wrong = lines.filter((line) => !line.endsWith(' 0'))
    if (lines.length > 0 && wrong.length === 0) return []
    if (tries >= 150) return lines.length === 0 ? ['the node did not compare books and chain'] : wrong
    await sleep(500)
  }
}
