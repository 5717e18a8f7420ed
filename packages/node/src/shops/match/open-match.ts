import { join } from 'node:path'
import {
  createSince,
  declareShop,
  type OpenShop,
  type ShopContext,
  type Since,
  type Unavailable,
} from '../../http/index.ts'
import { sourcesMigrations } from '../sources/index.ts'
import { forgetMatches, type MatchDeps } from './answer-match.ts'
import { type Following, followPages } from './follow-pages.ts'
import type { MatchEngine } from './match-engine.ts'
import { matchRoutes } from './match-routes.ts'
import { openPostgresEngine } from './postgres-engine.ts'
import { openThreadEngine } from './thread-engine-adapter.ts'

export type MatchShopOptions = {
  engine?: 'index' | 'postgres'
}

/** A citation costs 0.005 USD; the creator gets nine tenths. */
const citationMicro = 5_000n
const creatorMicro = 4_500n
/** A start waits this long for the index; a large one fills up while the node already serves. */
const startPatienceMs = 2_000

/** Its own tables, and those of the pages that it finds. */
export const matchMigrations = [sourcesMigrations, new URL('./migrations/', import.meta.url)]

export const matchShop = declareShop({ name: 'match', migrations: matchMigrations, configure: () => openMatchShop() })

/** Area C: ranked sources for a question. */
export function openMatchShop(options: MatchShopOptions = {}): OpenShop {
  return async (context) => {
    const held = options.engine === 'postgres' ? holdPostgres(context) : await holdIndex(context)
    const since = createSince(context.clock)
    const deps: MatchDeps = {
      database: context.database,
      clock: context.clock,
      ids: context.ids,
      engine: held.engine,
      citationMicro,
      creatorMicro,
    }
    return {
      routes: matchRoutes(deps, [context.base.caip2], () => withoutPages(held.isEmpty(), since)),
      jobs: [
        {
          name: 'citations.match.forget',
          intervalMs: 3_600_000,
          work: () => forgetMatches(context.database, context.clock.nowMs()),
        },
      ],
      stop: held.stop,
    }
  }
}

function withoutPages(isEmpty: boolean, since: Since): Unavailable | undefined {
  const sinceMs = since('match', isEmpty)
  return isEmpty
    ? { why: 'no_pages', detail: 'No page of any registered source can be found yet.', sinceMs }
    : undefined
}

/** `isEmpty`: known to hold no page at all. */
type HeldEngine = { engine: MatchEngine; isEmpty(): boolean; stop(): Promise<void> }

function holdPostgres(context: ShopContext): HeldEngine {
  const engine = openPostgresEngine(context.database)
  return { engine, isEmpty: () => false, stop: () => engine.stop() }
}

/** The thread may be lost; another one is filled from the database while searches are told to come back. */
async function holdIndex(context: ShopContext): Promise<HeldEngine> {
  const { clock, database, log } = context
  let current: { engine: MatchEngine; following: Following } | undefined
  let stopped = false
  let pages: number | undefined
  const open = async (): Promise<void> => {
    const engine = openThreadEngine({
      log,
      // Page numbers mean something in one database only, and its first key tells which.
      folder: join(context.home, 'match', context.keyring.keys()[0]?.keyId ?? 'unnamed'),
      onLost: () => {
        void current?.following.stop()
        if (!stopped) void open()
      },
    })
    const count = async () => {
      pages = (await engine.size()).docs
    }
    const counted: MatchEngine = {
      ...engine,
      add: async (docs) => {
        await engine.add(docs)
        await count()
      },
    }
    current = { engine, following: await followPages({ database, clock, log }, counted) }
    // A large index is not waited for: what is not counted yet is for sale.
    void count().catch(() => {})
  }
  await open()
  const held = () => (current as NonNullable<typeof current>).engine
  const patience = new AbortController()
  await Promise.race([current?.following.caughtUp, clock.sleep(startPatienceMs, patience.signal).catch(() => {})])
  patience.abort(new Error('the index is there'))
  return {
    engine: {
      name: 'index',
      search: (...given) => held().search(...given),
      add: (docs) => held().add(docs),
      setScores: (scores) => held().setScores(scores),
      indexedTo: () => held().indexedTo(),
      size: () => held().size(),
      stop: () => held().stop(),
    },
    isEmpty: () => pages === 0,
    stop: async () => {
      stopped = true
      await current?.following.stop()
      await current?.engine.stop()
    },
  }
}
