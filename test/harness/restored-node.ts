import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { privateKeyToAccount } from 'viem/accounts'
import { serveWitness } from '../../packages/cli/src/citations/run-witness.ts'
import { runCli } from '../../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../../packages/cli/src/terminal.fixture.ts'
import { readConfig } from '../../packages/node/src/config/load-config.ts'
import { type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { shopList } from '../../packages/node/src/shop-list.ts'
import { createOutsideWitness, mirrorLog } from '../../packages/node/src/tlog/restored-log.fixture.ts'
import { type CitationAttestation, parseAttestation } from '../../packages/sdk/src/index.ts'
import { demoAccount } from '../../packages/till/src/devnet/accounts.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { generateSigningKey } from '../../packages/till/src/signing/index.ts'
import { appendToKeyFile } from '../../packages/till/src/signing/key-file.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'
import { startChain } from './start-chain.ts'
import { buy } from './till-fixture.ts'
import { until } from './until.ts'

export type LogView = {
  origin: string
  size: string
  state: 'open' | 'stopped'
  stopped: { reason: string; detail: string; since: string | null } | null
  keys: string[]
}

/** Chains and witnesses that outlive every database, as those of other operators do. */
export type RestoredWorld = {
  folder: string
  /** A node on that database; `alone` without the witnesses of other operators, `away` while they cannot be reached. */
  start(db: TestDatabase, options?: StartOptions): Promise<LogNode>
  assay(db: TestDatabase, ...args: string[]): Promise<{ code: number; output: string }>
  /** Rotates the key of answers and that of the log; ids of the keys that sign then. */
  rotate(at: LogNode): Promise<string[]>
  signers(db: TestDatabase): Promise<string[]>
  firstDatabase(): Promise<TestDatabase>
  /** Keys of the witnesses of other operators. */
  witnessKeys: readonly string[]
  /** Stops the node and copies all of its log, as a mirror would have it. */
  mirror(db: TestDatabase, folder: string): Promise<void>
  stopAll(): Promise<void>
  close(): Promise<void>
}

/** `upgraded`: a later version of the program, with a migration that this database has not seen. */
export type StartOptions = { alone?: boolean; away?: boolean; jobs?: boolean; upgraded?: boolean }

export type LogNode = {
  node: RunningNode
  db: TestDatabase
  log(): Promise<LogView>
  attest(): Promise<Response>
  /** Buys stamps and waits until every witness has signed over them. */
  sell(count: number): Promise<CitationAttestation[]>
}

export const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
/** Nobody listens at the discard port of loopback. */
const nobody = 'http://127.0.0.1:9'
const witnessNames = ['witness.example/one', 'witness.example/two']

export async function openRestoredWorld(): Promise<RestoredWorld> {
  const ports = { clock: systemClock, log: silentLog }
  const base = await startChain({ chainId: 8453, port: 0, ...ports })
  const polygon = await startChain({ chainId: 137, port: 0, ...ports })
  const folder = await mkdtemp(join(tmpdir(), 'assay-restored-'))
  // The key that the log began with; later ones follow by its statements.
  let logKeys: string[] = []
  const port = await freePort()
  let statements: unknown[] = []
  // What a witness read last counts while the log cannot be reached.
  const statementsOf = async () => {
    const signal = AbortSignal.timeout(1_000)
    const answer = await fetch(`http://127.0.0.1:${port}/v1/log`, { signal }).catch(() => undefined)
    if (answer) statements = ((await answer.json()) as { key_statements: unknown[] }).key_statements
    return statements
  }
  // Keys are in files and outlive every database, as an operator keeps them.
  const keyFiles = { SIGNING_KEY_FILE: join(folder, 'signing-key'), LOG_KEY_FILE: join(folder, 'log-key') }
  for (const file of Object.values(keyFiles)) await appendToKeyFile(file, generateSigningKey(systemRng))
  const witnesses = witnessNames.map((name) => createOutsideWitness(name, () => logKeys, statementsOf))
  const served = await Promise.all(witnesses.map((witness) => serveWitness(witness, { host: '127.0.0.1', port: 0 })))
  const envOf = (db: TestDatabase, { alone, away }: StartOptions = {}) => ({
    PORT: String(port),
    ...keyFiles,
    ASSAY_HOME: join(folder, 'home'),
    DATABASE_URL: db.databaseUrl,
    BASE_RPC_URLS: base.url ?? '',
    POLYGON_RPC_URLS: polygon.url ?? '',
    LOG_LEVEL: 'silent',
    MATRIX: '{"demo":"off"}',
    INTENTS: '{"demo":"off"}',
    TLOG: JSON.stringify({
      anchor_minutes: 0.02,
      witnesses: alone ? [] : witnesses.map(({ key }, n) => ({ url: away ? nobody : served[n]?.url, key: key.vkey })),
    }),
  })
  const witnessed = () => Math.min(...witnesses.map(({ seen }) => seen()))
  const running = new Set<RunningNode>()
  const databases = new Set<TestDatabase>()
  const stopAll = async () => {
    for (const node of running) await node.stop()
    running.clear()
  }
  const start = async (db: TestDatabase, options: StartOptions) => {
    databases.add(db)
    await stopAll()
    const list = options.upgraded ? await upgradedShops(folder) : shopList
    const node = await startNode(readConfig(envOf(db, options), list), {
      devnets: [base, polygon],
      log: silentLog,
      jobs: options.jobs ?? true,
      trustExamples: true,
      ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'],
    })
    running.add(node)
    return node
  }
  const assay = async (db: TestDatabase, ...args: string[]) => {
    const terminal = createTestTerminal({ env: envOf(db) })
    const code = await runCli(args, terminal)
    return { code, output: `${terminal.stdout()}${terminal.stderr()}` }
  }
  const signers = async (db: TestDatabase) => {
    const { active_key_id, log } = JSON.parse((await assay(db, 'keys', 'list', '--json')).output)
    return [active_key_id, log.active_key_id]
  }
  return {
    folder,
    witnessKeys: witnesses.map(({ key }) => key.vkey),
    firstDatabase: openTestDatabase,
    stopAll,
    // Without jobs and sales nothing is signed any more: the copy is whole.
    mirror: async (db, to) => mirrorLog(`${(await start(db, { jobs: false })).url}/v1/log`, to),
    start: async (db, options = {}) => {
      const node = await start(db, options)
      const own = logNode(node, db, witnessed)
      if (logKeys.length === 0) logKeys = (await own.log()).keys
      return own
    },
    assay,
    signers,
    rotate: async ({ db }) => {
      for (const command of [
        ['keys', 'rotate'],
        ['log', 'rotate-key'],
      ]) {
        const { code, output } = await assay(db, ...command, '--overlap', '0', '--yes')
        if (code !== 0) throw new Error(output)
      }
      return signers(db)
    },
    close: async () => {
      await stopAll()
      await Promise.all([...served.map((one) => one.close()), base.stop(), polygon.stop()])
      for (const db of databases) await db.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The shops as they are, except that the attestations bring one migration more. */
async function upgradedShops(folder: string): Promise<typeof shopList> {
  const later = join(folder, 'later', 'attestations', 'migrations')
  const isTheirs = ({ pathname }: URL) => pathname.endsWith('/attestations/migrations/')
  const theirs = shopList.flatMap(({ migrations }) => migrations).find(isTheirs)
  if (!theirs) throw new Error('the attestations have no migrations')
  await cp(theirs, later, { recursive: true })
  await writeFile(join(later, '0002_upgrade.sql'), 'alter table attestation add column upgraded_at timestamptz;\n')
  const url = pathToFileURL(`${later}/`)
  return shopList.map((shop) => ({ ...shop, migrations: shop.migrations.map((one) => (isTheirs(one) ? url : one)) }))
}

function logNode(node: RunningNode, db: TestDatabase, witnessed: () => number): LogNode {
  const read = async (path: string) => fetch(`${node.url}${path}`)
  const log = async () => (await (await read('/v1/log')).json()) as LogView
  const body = async () => {
    const { rows } = await db.database.query<{ url: string }>(
      `select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven' order by v.url limit 1`,
    )
    return JSON.stringify({ source_url: rows[0]?.url, agent_wallet: buyer.address })
  }
  const init = async () => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: await body() })
  return {
    node,
    db,
    log,
    attest: async () => fetch(`${node.url}/v1/cite/attest`, await init()),
    sell: async (count) => {
      const bought: { id: string; log: { leaf_index?: string } }[] = []
      for (let n = 0; n < count; n += 1) {
        const answer = await buy(buyer, `${node.url}/v1/cite/attest`, {}, await init())
        const file = parseAttestation(await answer.json())
        if (!file) throw new Error(`no attestation, ${answer.status}`)
        bought.push(file)
      }
      return Promise.all(
        bought.map(async ({ id }) => {
          const show = async () => parseAttestation(await (await read(`/v1/attestations/${id}`)).json())
          return until('every witness has signed', async () => {
            const file = await show()
            const signed = (file?.log as { witnesses?: { name: string }[] } | undefined)?.witnesses ?? []
            const all = witnessNames.every((name) => signed.some((one) => one.name === name))
            return all && witnessed() > Number(file?.log.leaf_index) ? file : undefined
          })
        }),
      )
    },
  }
}
