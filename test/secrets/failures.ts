import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { openNatsCarrier } from '../../packages/node/src/shops/intents/nats-carrier-adapter.ts'
import { ConfigError } from '../../packages/till/src/kernel/config-error.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { connectClient } from '../../packages/till/src/store/connection.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { echoPath } from '../harness/till-fixture.ts'
import { together, until } from '../harness/until.ts'
import { createDice } from '../promises/proof.ts'
import { canary } from './canaries.ts'
import type { GuardedNode } from './guarded-node.ts'
import { type FacilitatorFault, providerFaults } from './keyed-upstreams.ts'
import { exampleOf, type Visitor } from './visitor.ts'

const jobsMs = 2_000

/** While everything fails nobody waits for long. */
const shortened = (init: RequestInit = {}): RequestInit => ({ ...init, signal: AbortSignal.timeout(8_000) })

/** Their turn may not come while something fails, so all of them are run; the scheduler logs what they throw. */
async function runJobs({ rounds, odd }: GuardedNode): Promise<void> {
  await Promise.all(
    [...rounds].map(([job, round]) =>
      round().catch((error: unknown) => odd.context().log.error({ job, error: String(error) }, 'a job failed')),
    ),
  )
}

/** Some of everything while something fails: pages of operations, free answers, prices and purchases. */
async function visitWhileFailing(guarded: GuardedNode, visitor: Visitor, some: number, origin = guarded.node.url) {
  const buyer = await guarded.newBuyer()
  const routes = guarded.routes().filter(({ method }) => method === 'GET')
  const step = Math.max(1, Math.floor(routes.length / some))
  // Anyone who hangs up or waits too long is part of a bad day.
  const quietly = (work: Promise<unknown>) => work.catch(() => undefined)
  await together(some, 4, async (index) => {
    const { url, init } = exampleOf(origin, routes[(index * step) % routes.length] as (typeof routes)[number])
    await quietly(visitor.ask(url, shortened(init)))
    await quietly(visitor.buy(buyer, `${origin}${echoPath}?message=${index}`, shortened()))
  })
  await Promise.race([runJobs(guarded), sleep(jobsMs)])
  for (const path of ['/livez', '/readyz', '/metrics', '/openapi.json', '/'])
    await quietly(visitor.ask(`${origin}${path}`, shortened()))
}

/** Database, chain and facilitator fail at random calls, before their work or after it. */
export async function withRandomFaults(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  const dice = createDice(Date.now() % 1_000_000)
  const kinds = [undefined, undefined, undefined, undefined, 'before', 'after'] as const
  guarded.points.injectFaults(() => dice.pick(kinds))
  try {
    await visitWhileFailing(guarded, visitor, 16)
  } finally {
    guarded.points.injectFaults(undefined)
  }
}

/** Every provider of chain data fails at once, one way after the other. */
export async function withoutProviders(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  try {
    for (const fault of providerFaults) {
      for (const provider of guarded.providers) provider.fail(fault)
      await visitWhileFailing(guarded, visitor, 6)
    }
  } finally {
    for (const provider of guarded.providers) provider.fail(undefined)
  }
}

/** The hosted facilitator refuses our key, breaks, hangs up; what it was called with is secret, too. */
export async function withoutFacilitator(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  const { facilitator, hosted, watch } = guarded
  for (const fault of ['unauthorized', 'broken', 'gone'] as const satisfies readonly FacilitatorFault[]) {
    facilitator.fail(fault)
    const buyer = await guarded.newBuyer()
    await visitor.buy(buyer, `${hosted.address}${echoPath}`)
    await visitor.ask(`${hosted.address}/readyz`)
    await visitor.ask(`${hosted.address}/.well-known/x402.json`)
  }
  for (const authorization of facilitator.authorizations)
    watch.keep('token for the facilitator', authorization.split('.').at(-1) ?? '')
}

/** The database ends every connection and takes no new one for a while. */
export async function withoutDatabase(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  const url = new URL(guarded.db.databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const client = await connectClient({ url: url.href })
  const takes = (allowed: boolean) => client.query(`alter database ${name} with allow_connections ${allowed}`)
  try {
    await takes(false)
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [name])
    await visitWhileFailing(guarded, visitor, 6)
    await until('the node says that it has no database', async () => {
      const response = await fetch(`${guarded.node.url}/readyz`).catch(() => undefined)
      return response?.status === 503
    })
  } finally {
    await takes(true)
    await client.end()
  }
}

/** What an operator reads when a node does not start: the message, as main.ts prints it. */
export async function failToStart(guarded: GuardedNode): Promise<void> {
  const make = (what: string) => {
    const text = canary(what)
    guarded.watch.keep(`${what} of a node that did not start`, text)
    return text
  }
  const dead = `127.0.0.1:${await freePort()}`
  const wrong = new URL(guarded.db.databaseUrl)
  wrong.password = make('password')
  const bare = join(guarded.node.config.home, 'bare-key')
  // So short that a parser which quotes what it read would quote all of it.
  const short = canary('k').slice(-16)
  guarded.watch.keep('a key file that is neither PEM nor JSON', short)
  await writeFile(bare, short, { mode: 0o600 })
  const rpc = `http://${make('rpc-user')}:${make('rpc-password')}@${dead}/v2/${make('rpc-path')}`
  const attempts: Record<string, string>[] = [
    { DATABASE_URL: wrong.href },
    { DATABASE_URL: `postgresql://assay:${make('password')}@${dead}/assay` },
    { DATABASE_URL: `postgresql://assay:${make('password')}@[/assay` },
    { BASE_RPC_URLS: rpc },
    { FACILITATOR: `https://${make('user')}:${make('password')}@facilitator.test/x402` },
    { FACILITATOR: 'cdp', CDP_API_KEY_ID: 'id', CDP_API_KEY_SECRET: make('cdp-secret') },
    { SIGNING_KEY_FILE: bare },
    { LOG_KEY_FILE: bare },
    { SETTLER_KEYS: make('settler-key') },
    { CUSTODY_KEYS: make('custody-key') },
    { FACILITATOR_TOKEN: `${make('token')} with a space` },
    {
      ...{ SIGNER_URL: `https://${dead}`, SIGNER_CA_FILE: bare, SIGNER_CERT_FILE: bare, SIGNER_KEY_FILE: bare },
      ...{ SETTLER_KEYS: '', CUSTODY_KEYS: '' },
    },
    { OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://${dead}`, OTEL_EXPORTER_OTLP_HEADERS: make('collector') },
    { OPTIONS: `{"eligibility_url":"${make('hook')}"` },
    { OPTIONS: `{"eligibility_url":"${make('hook')}"}` },
    { NATS_URL: `http://${make('nats')}@${dead}` },
    { BASE_RPC_URLS: `ftp://${make('rpc')}@${dead}` },
    { BASE_URL: `http://${make('origin')}@${dead}` },
  ]
  for (const more of attempts) {
    const ownShops = more['OPTIONS'] === undefined ? 'till' : 'all'
    await expectFailure(guarded, Object.keys(more).join(), async () => {
      const node = await startNode(parseConfig({ ...guarded.env, ...more }), {
        log: guarded.odd.context().log,
        ownShops,
        jobs: false,
      })
      await node.stop()
    })
  }
  const nats = { url: `nats://${make('nats-user')}:${make('nats-password')}@${dead}`, instance: 'test' }
  await expectFailure(guarded, 'NATS', () =>
    openNatsCarrier({ ...nats, database: guarded.db.database, log: silentLog }),
  )
}

async function expectFailure({ watch }: GuardedNode, what: string, work: () => Promise<unknown>): Promise<void> {
  const outcome = await work().then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof Error)) throw new Error(`a node started although its ${what} is wrong`)
  watch.saw(`start without ${what}`, outcome.message)
  if (outcome instanceof ConfigError) watch.saw(`problems of ${what}`, outcome.problems.join('\n'))
}
