import type { PrivateKeyAccount } from 'viem/accounts'
import type { Interceptors } from '../../../packages/node/src/compose/infrastructure.ts'
import type { RouteDeclaration } from '../../../packages/node/src/http/index.ts'
import type { OpenShop } from '../../../packages/node/src/shops/shop.ts'
import { crawlWantedChannel, scoreWantedChannel } from '../../../packages/node/src/shops/sources/wait-for-work.ts'
import { signRequest } from '../../../packages/sdk/src/sign-request.ts'
import type { Database } from '../../../packages/till/src/store/database.ts'
import { buy } from '../till-fixture.ts'

/** Blocks of tables and indexes that something read, and what it said. By table where only some are counted: that takes longer. */
export type Counted = { blocks: number; byTable: Record<string, number>; outcome: string }

/** All jobs and routes of a node, from its own declarations: what is added later is in the count by itself. */
export type WorkCounter = {
  intercept: Interceptors
  shop: OpenShop
  jobNames(): string[]
  routes(): readonly RouteDeclaration[]
  /** One round of each of these jobs, which is not counted. */
  run(names: readonly string[]): Promise<void>
  /** One round of each job, or of those named. */
  countJobs(only?: ReadonlySet<string>): Promise<Record<string, Counted>>
  countRoutes(caller: RouteCaller, only?: ReadonlySet<string>): Promise<Record<string, Counted>>
}

export type RouteCaller = {
  url: string
  account: PrivateKeyAccount
  /** Instead of the example of a parameter, by its name or by the route and its name. */
  known: Record<string, string>
  /** What is asked of a route beside its example, by its id. */
  further: Record<string, readonly RouteInput[]>
}

export type RouteInput = { params?: Record<string, string>; query?: Record<string, unknown>; body?: unknown }

/** Connections of the node whose work is counted: each of them is asked after each job and route. */
export const sessions = 3

export function createWorkCounter(): WorkCounter {
  const rounds = new Map<string, () => Promise<void>>()
  let routes: readonly RouteDeclaration[] = []
  let database: Database | undefined
  let before: Record<string, number> = {}
  let read = blocksRead
  const begin = async (only: ReadonlySet<string> | undefined) => {
    read = only ? blocksByTable : blocksRead
    before = await read(database as Database)
  }
  const count = async (work: () => Promise<string>): Promise<Counted> => {
    const outcome = await work()
    const after = await read(database as Database)
    const byTable: Record<string, number> = {}
    for (const [table, blocks] of Object.entries(after))
      if (blocks > (before[table] ?? 0)) byTable[table] = blocks - (before[table] ?? 0)
    before = after
    return { blocks: Object.values(byTable).reduce((sum, blocks) => sum + blocks, 0), byTable, outcome }
  }
  return {
    intercept: {
      database: (given) => {
        database = given
        return given
      },
      job: (name, round) => {
        rounds.set(name, round)
        return async () => {}
      },
    },
    shop: async () => ({
      name: 'counter',
      routes: [],
      onRoutes: (given) => {
        routes = given
      },
    }),
    jobNames: () => [...rounds.keys()],
    routes: () => routes,
    run: async (names) => {
      for (const name of names) await rounds.get(name)?.()
    },
    countJobs: async (only) => {
      // Those that wait for work once they have none are notified that there is some.
      const wake = [crawlWantedChannel, scoreWantedChannel].map((channel) => `pg_notify('${channel}', '')`)
      await database?.query(`select ${wake.join()}`)
      await begin(only)
      const counted: Record<string, Counted> = {}
      for (const [name, round] of rounds) {
        if (only && !only.has(name)) continue
        // What jobs before it have posted is looked at in other tables: one past would have something there, another not.
        if (name === 'ledger.balances') {
          await rounds.get('ledger.seal')?.()
          before = await read(database as Database)
        }
        counted[name] = await count(() => round().then(() => 'done', String))
      }
      return counted
    },
    countRoutes: async (caller, only) => {
      await begin(only)
      const counted: Record<string, Counted> = {}
      for (const route of routes)
        for (const [place, input] of [route.example as RouteInput, ...(caller.further[route.id] ?? [])].entries()) {
          const name = place === 0 ? route.id : `${route.id} ${JSON.stringify(input)}`
          if (only?.has(name) ?? true) counted[name] = await count(() => callRoute(route, input, caller))
        }
      return counted
    },
  }
}

/**
 * Sessions tell what they read when they are asked to, so all of the pool are. One that is still at work lets another be asked twice,
 * and what it did would be counted for the next route.
 */
async function describeReads(database: Database): Promise<void> {
  const asked = new Set<number>()
  const tell = async () => {
    const { rows } = await database.query<{ pid: number }>('select pg_backend_pid() as pid, pg_stat_force_next_flush()')
    for (const { pid } of rows) asked.add(pid)
  }
  while (asked.size < sessions) await Promise.all(Array.from({ length: sessions }, tell))
}

async function blocksRead(database: Database): Promise<Record<string, number>> {
  await describeReads(database)
  const { rows } = await database.query<{ blocks: string }>({
    name: 'blocks_read',
    text: `select sum(pg_stat_get_blocks_fetched(oid))::text as blocks from pg_class
      where relkind in ('r', 'i', 't') and relnamespace in ('public'::regnamespace, 'pg_toast'::regnamespace)
        and relname not like 'job_lease%'`,
  })
  return { all: Number(rows[0]?.blocks) }
}

async function blocksByTable(database: Database): Promise<Record<string, number>> {
  await describeReads(database)
  const { rows } = await database.query<{ name: string; blocks: string }>(
    `select regexp_replace(relname, '_([0-9]{8}|rest)$', '') as name,
       sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0) + coalesce(toast_blks_hit + toast_blks_read, 0)
         + coalesce(tidx_blks_hit + tidx_blks_read, 0))::text as blocks
     from pg_statio_user_tables where relname <> 'job_lease' group by 1`,
  )
  return Object.fromEntries(rows.map(({ name, blocks }) => [name, Number(blocks)]))
}

async function callRoute(route: RouteDeclaration, input: RouteInput, caller: RouteCaller): Promise<string> {
  const { access } = route
  const { url, init } = requestOf(route, input, caller)
  const isSigned = access.kind === 'free' && (access.security !== undefined || route.operator !== undefined)
  try {
    const response = isSigned
      ? await fetch(await signRequest(url, init, { account: caller.account }))
      : access.kind === 'free'
        ? await fetch(url, init)
        : await buyOrSay(url, init, caller)
    // A stream goes on by itself.
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body?.cancel()
    else await response.arrayBuffer()
    return String(response.status)
  } catch (error) {
    return (error as Error).message.slice(0, 200)
  }
}

async function buyOrSay(url: string, init: RequestInit, { account }: RouteCaller): Promise<Response> {
  const first = await fetch(url, init)
  if (first.status !== 402) return first
  await first.body?.cancel()
  return buy(account, url, {}, init)
}

function requestOf(
  route: RouteDeclaration,
  { params = {}, query = {}, body }: RouteInput,
  { url, known }: RouteCaller,
): { url: string; init: RequestInit } {
  const of = (name: string, value: unknown) => known[`${route.id} ${name}`] ?? known[name] ?? String(value)
  const path = route.path.replace(/:([a-zA-Z_]+)/g, (_, name: string) =>
    encodeURIComponent(of(name, params[name] ?? 'x')),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, of(name, one))
  const target = `${url}${path}${search.size === 0 ? '' : `?${search}`}`
  if (body === undefined) return { url: target, init: { method: route.method } }
  const headers = { 'content-type': 'application/json' }
  return { url: target, init: { method: route.method, headers, body: JSON.stringify(body) } }
}
