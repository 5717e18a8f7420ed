import { join } from 'node:path'
import { readWithin } from '@assay/till/store/database'
import { createSince, type Since, type Unavailable } from '../../http/index.ts'
import { creatorShares, matchedPages } from '../ports.ts'
import { declareShop, type OpenShop, type ShopContext } from '../shop.ts'
import { sourcesMigrations } from '../sources/index.ts'
import { deleteMatches, type MatchDeps } from './answer-match.ts'
import { watchCoverage } from './coverage.ts'
import { findMatched } from './find-matched.ts'
import { type Following, followPages } from './follow-pages.ts'
import type { MatchEngine } from './match-engine.ts'
import { matchRoutes } from './match-routes.ts'
import { loadOnnxRuntime, openOnnxReranker } from './onnx-adapter.ts'
import { openOpenSearchEngine } from './opensearch-adapter.ts'
import { deleteStalePages, openPostgresEngine } from './postgres-engine.ts'
import { matchRetention } from './retention.ts'
import { type MatchSettings, matchVariables, parseMatchSettings } from './settings.ts'
import { openThreadEngine } from './thread-engine-adapter.ts'

/** A start waits this long for the index; a large one fills up while the node already serves. */
const startPatienceMs = 2_000

/** Its own tables, and those of the pages that it finds. */
export const matchMigrations = [sourcesMigrations, new URL('./migrations/', import.meta.url)]

export const matchShop = declareShop({
  name: 'match',
  variables: matchVariables,
  migrations: matchMigrations,
  retention: matchRetention,
  configure: ({ MATCH_ENGINE, MATCH }) => openMatchShop(parseMatchSettings(MATCH_ENGINE, MATCH)),
})

/** Area C: ranked sources for a question. */
export function openMatchShop(settings: MatchSettings): OpenShop {
  return async (context) => {
    const rerank = settings.rerank && (await openOnnxReranker(settings.rerank, await loadOnnxRuntime()))
    const held = settings.engine === 'index' ? await holdIndex(context) : await holdOutside(context, settings)
    const since = createSince(context.clock)
    const coverage = await watchCoverage({ ...context, sql: readWithin(context.database, 60_000) })
    const isEmpty = () => held.isEmpty() ?? coverage().pages === 0
    const shares = context.ports.find(creatorShares)
    context.ports.offer(matchedPages, (queryId, url) => findMatched(context.database, queryId, url))
    const deps: MatchDeps = {
      database: context.database,
      clock: context.clock,
      ids: context.ids,
      engine: held.engine,
      log: context.log,
      ...(rerank ? { rerank } : {}),
      paysCreators: shares !== undefined,
    }
    return {
      routes: matchRoutes(
        deps,
        [context.base.caip2],
        { unavailable: () => withoutPages(isEmpty(), since), coverage },
        shares,
      ),
      jobs: [
        {
          name: 'citations.match.expire',
          intervalMs: 3_600_000,
          work: async () => {
            await deleteMatches(context.database, context.clock.nowMs())
            await deleteStalePages(context.database)
          },
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

/** `isEmpty`: known to hold no page at all; undefined where only the database knows. */
type HeldEngine = { engine: MatchEngine; isEmpty(): boolean | undefined; stop(): Promise<void> }

/** An engine beside this process, which all processes fill and share. */
async function holdOutside(context: ShopContext, { engine: name, opensearch }: MatchSettings): Promise<HeldEngine> {
  const { clock, database, log } = context
  const engine =
    name === 'opensearch' && opensearch ? await openOpenSearchEngine(opensearch) : openPostgresEngine(database)
  const following = await followPages({ database, clock, log }, engine)
  await waitFor(clock, following.caughtUp)
  return {
    engine,
    isEmpty: () => undefined,
    stop: async () => {
      await following.stop()
      await engine.stop()
    },
  }
}

async function waitFor(clock: ShopContext['clock'], caughtUp: Promise<void> | undefined): Promise<void> {
  const patience = new AbortController()
  await Promise.race([caughtUp, clock.sleep(startPatienceMs, patience.signal).catch(() => {})])
  patience.abort(new Error('the index is there'))
}

/** The thread may be lost; another one is filled from the database while searches are asked to retry later. */
async function holdIndex(context: ShopContext): Promise<HeldEngine> {
  const { clock, database, log } = context
  let current: { engine: MatchEngine; following: Following } | undefined
  let stopped = false
  let pages: number | undefined
  const open = async (): Promise<void> => {
    const engine = openThreadEngine({
      log,
      // Page numbers mean something in one database only, and its first key tells which.
      folder: join(context.cacheFolder, 'match', context.keyring.keys()[0]?.keyId ?? 'unnamed'),
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
  await waitFor(clock, current?.following.caughtUp)
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
