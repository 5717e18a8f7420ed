import type { AnswerContent } from '@assay/till'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { addDays, isIsoDate } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import type { FeedId } from '../feeds/feed.ts'
import type { Variant } from '../licences/licence-policy.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { matrixProblems } from '../problems.ts'
import type { ScoreMethodName } from '../score/method.ts'
import { findScreen } from '../screens/screen-store.ts'
import { pageOf, readSymbols, snapshotOfCursor } from '../snapshots/page.ts'
import { type Head, renderCsv, renderJson, renderNdjson, type Tier } from '../snapshots/render.ts'
import type { NoSnapshot, Snapshot } from '../snapshots/snapshot.ts'
import { isSnapshot } from '../snapshots/snapshot-cache.ts'
import { envelopeOf } from './envelope.ts'
import { limitDefault, limitMax } from './limits.ts'
import { readHistory } from './read-history.ts'

type Asked = { feed: FeedId; tier: Tier; query: PullQuery; representation: string }

export type PullQuery = {
  symbol?: string
  /** Of a watchlist: more than a query can name. */
  symbols?: readonly string[]
  limit?: number
  min_score?: number
  sort?: string
  filter?: string
  method?: ScoreMethodName
  cursor?: string
  as_of?: string
  history?: number
  stream?: '1'
  alerts?: string
  screen?: string
}

/** One pull: the right snapshot, the rows asked for, in the form asked for. */
export async function answerPull(
  deps: MatrixDeps,
  asked: Asked,
): Promise<AnswerContent & { body: Uint8Array | string }> {
  const input = asked.query.screen === undefined ? asked : await onScreen(deps, asked, asked.query.screen)
  const { query, tier } = input
  const isNewest = query.as_of === undefined && query.history === undefined && query.method === undefined
  const key = isNewest ? memoKey(deps, input) : undefined
  const known = key && deps.memo.get(key)
  if (known) return known
  const knownAtMs = knownAt(deps, tier, query.as_of)
  const snapshot = await snapshotFor(deps, input.feed, tier, query, knownAtMs)
  const symbols = query.symbols ?? (query.symbol === undefined ? undefined : readSymbols(query.symbol))
  const page = pageOf(snapshot, {
    limit: query.limit ?? limitDefault,
    ...(symbols ? { symbols } : {}),
    ...(query.min_score === undefined ? {} : { minScore: query.min_score }),
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
    ...(query.sort === undefined ? {} : { sort: query.sort }),
    ...(query.filter === undefined ? {} : { filter: query.filter }),
    vip: tier === 'vip',
  })
  const { facts, text } = envelopeOf(snapshot, {
    tier,
    nowMs: deps.clock.nowMs(),
    fileCache: deps.fileCache,
    ...(query.as_of === undefined ? {} : { knownAtMs }),
    ...(tier === 'delayed' ? { delayMinutes: deps.delayMs / 60_000 } : {}),
  })
  const history =
    query.history === undefined
      ? ''
      : `,"history":${JSON.stringify(await historyFor(deps, input.feed, tier, { days: query.history, knownAtMs }, symbols))}`
  const head = { facts, text: `${text},"unranked":${JSON.stringify(page.unranked)}${history}` }
  const content = await render(snapshot, page, tier, head, input.representation)
  if (key) deps.memo.put(key, content)
  return content
}

/** A screen fills in what the query leaves open. */
async function onScreen(deps: MatrixDeps, asked: Asked, id: string): Promise<Asked> {
  const { screen: _, ...query } = asked.query
  const found = await findScreen(deps.database, id)
  if (!found || (found.feed !== null && found.feed !== asked.feed))
    throw fieldProblem('query.screen', found ? `is one of ${found.feed}` : 'does not exist')
  const { limit, min_score, sort, filter } = found.query
  return {
    ...asked,
    query: {
      ...(limit === undefined ? {} : { limit: Math.min(limitMax, Number(limit)) }),
      ...(min_score === undefined ? {} : { min_score: Number(min_score) }),
      ...(sort === undefined ? {} : { sort }),
      ...(filter === undefined ? {} : { filter }),
      ...(found.symbols.length === 0 || query.symbol !== undefined ? {} : { symbols: found.symbols }),
      ...query,
    },
  }
}

function memoKey(
  deps: MatrixDeps,
  { feed, tier, query, representation }: Parameters<typeof answerPull>[1],
): string | undefined {
  const snapshot = query.cursor === undefined ? deps.snapshotCache.current(feed, tier) : undefined
  if (!snapshot || !isSnapshot(snapshot)) return undefined
  // Staleness is reported by the minute.
  const minute = Math.floor(deps.clock.nowMs() / 60_000)
  return `${snapshot.sha256} ${tier} ${representation} ${minute} ${query.limit ?? limitDefault} ${query.min_score ?? ''} ${query.symbols?.join() ?? query.symbol ?? ''} ${query.sort ?? ''} ${query.filter ?? ''}`
}

export const parquetType = 'application/vnd.apache.parquet'

async function render(
  snapshot: Snapshot,
  page: ReturnType<typeof pageOf>,
  tier: Tier,
  head: Head,
  representation: string,
): Promise<AnswerContent & { body: Uint8Array | string }> {
  if (representation === parquetType) {
    const { renderParquet } = await import('../snapshots/render-parquet.ts')
    return { status: 200, contentType: parquetType, body: await renderParquet(snapshot, page, tier, head) }
  }
  const body =
    representation === 'text/csv'
      ? renderCsv(snapshot, page, tier, head)
      : representation === 'application/x-ndjson'
        ? renderNdjson(snapshot, page, tier, head)
        : renderJson(snapshot, page, tier, head)
  const contentType = representation === 'text/csv' ? 'text/csv; charset=utf-8' : representation
  return { status: 200, contentType, body }
}

async function snapshotFor(
  deps: MatrixDeps,
  feed: FeedId,
  tier: Tier,
  query: PullQuery,
  knownAtMs: number,
): Promise<Snapshot> {
  const wanted = query.cursor === undefined ? undefined : snapshotOfCursor(query.cursor)
  const held = wanted === undefined ? undefined : deps.snapshotCache.recent(wanted)
  if (held && held.manifest.feed === feed && mayContinue(deps, held, tier)) return held
  const found =
    query.as_of === undefined && query.method === undefined
      ? deps.snapshotCache.current(feed, tier)
      : await deps.snapshotCache.at(feed, variantOf(tier), knownAtMs, query.method)
  if (isSnapshot(found)) return found
  throw nothingToShow(found, feed)
}

/** The cursor of a dearer or fresher snapshot must not open it on a cheaper route. */
function mayContinue(deps: MatrixDeps, held: Snapshot, tier: Tier): boolean {
  if (tier !== 'delayed')
    return held.manifest.inputs.every((input) => deps.licences.may(input.source as never, input.synthetic, 'paid'))
  return Date.parse(held.manifest.available_at) <= deps.clock.nowMs() - deps.delayMs
}

export const variantOf = (tier: Tier): Variant => (tier === 'delayed' ? 'free' : 'paid')

function nothingToShow(found: NoSnapshot, feed: FeedId): Problem {
  if (found.status === 'not_licensed')
    return new Problem(matrixProblems.licence_required, {
      detail: `No source of ${feed} may be shown or sold here.`,
      extra: { left_out: found.leftOut },
    })
  return new Problem('not_ready', { detail: `No data for ${feed} have come in yet.`, retryAfterSeconds: 30 })
}

/** Only what was public by this moment counts. The free tier never sees what is younger than its delay. */
function knownAt(deps: MatrixDeps, tier: Tier, asOf: string | undefined): number {
  const nowMs = deps.clock.nowMs()
  const latestMs = tier === 'delayed' ? nowMs - deps.delayMs : nowMs
  if (asOf === undefined) return latestMs
  const isDay = isIsoDate(asOf)
  // Asked for tomorrow, the answer would be another one tomorrow.
  if (Date.parse(isDay ? `${asOf}T00:00:00Z` : asOf) > nowMs) throw fieldProblem('query.as_of', 'is in the future')
  return Math.min(latestMs, isDay ? Date.parse(`${asOf}T23:59:59.999Z`) : Date.parse(asOf))
}

async function historyFor(
  deps: MatrixDeps,
  feed: FeedId,
  tier: Tier,
  { days, knownAtMs }: { days: number; knownAtMs: number },
  symbols: readonly string[] | undefined,
) {
  const [symbol] = symbols ?? []
  if (symbol === undefined || symbols?.length !== 1) throw fieldProblem('query.history', 'needs exactly one symbol')
  const sinceDate = addDays(easternDate(knownAtMs), -Math.ceil(days * 1.5) - 35)
  return readHistory(
    { sql: deps.database, fileCache: deps.fileCache, symbols: deps.symbols, licences: deps.licences },
    { feed, symbol, days, knownAtMs, sinceDate },
    variantOf(tier),
  )
}
