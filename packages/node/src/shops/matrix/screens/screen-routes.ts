import type { Address } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../../../http/index.ts'
import type { ShopContext } from '../../shop.ts'
import { feedUnder } from '../feeds/catalogue.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import { matrixProblems } from '../problems.ts'
import { screenMembers } from '../routes/schemas.ts'
import { currentMethod } from '../score/method.ts'
import { commonColumns } from '../snapshots/columns-of.ts'
import { readSymbols } from '../snapshots/page.ts'
import { parseFilter, parseSort } from '../snapshots/select-rows.ts'
import { listScreens, removeScreen, type Screen, type ScreenQuery, saveScreen, screensMax } from './screen-store.ts'

export type ScreenDeps = Pick<ShopContext, 'database' | 'clock' | 'proofs' | 'rng'>

const symbolsMax = 500

const body = z.strictObject({
  name: z.string().trim().min(1).max(60),
  feed: z.enum(feedIds).optional().describe('Needed for sort, filter and min_score; a watchlist may do without.'),
  ...screenMembers,
  symbols: z.array(z.string().max(14)).max(symbolsMax).optional().describe('A watchlist: only these symbols.'),
})

const shown = z.strictObject({
  id: z.string().describe('Use it as ?screen= on any tier. Anyone who has it may.'),
  name: z.string(),
  feed: z.enum(feedIds).nullable(),
  sort: z.string().nullable(),
  filter: z.string().nullable(),
  min_score: z.string().nullable(),
  limit: z.string().nullable(),
  symbols: z.array(z.string()),
  changed_at: z.string(),
})

const show = ({ id, name, feed, query, symbols, changedAtMs }: Screen) => ({
  id,
  name,
  feed,
  sort: query.sort ?? null,
  filter: query.filter ?? null,
  min_score: query.min_score ?? null,
  limit: query.limit ?? null,
  symbols,
  changed_at: toRfc3339(changedAtMs),
})

const example = {
  id: `scr_${'0'.repeat(32)}`,
  name: 'hard to borrow',
  feed: 'squeeze' as const,
  sort: '-days_to_cover',
  filter: 'borrow_fee>10',
  min_score: null,
  limit: null,
  symbols: [],
  changed_at: '2026-11-17T10:00:00.000Z',
}

/** Screens and watchlists of a wallet; every request is signed by it. */
export function screenRoutes(deps: ScreenDeps): RouteDeclaration[] {
  return [listRoute(deps), saveRoute(deps), removeRoute(deps)]
}

const walletOf = async (deps: ScreenDeps, call: CallContext): Promise<Address> => (await signerOf(deps, call)).address

function listRoute(deps: ScreenDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.screens.list',
    capability: 'equity.screens.list',
    area: 'B',
    method: 'GET',
    path: '/v1/matrix/screens',
    summary: 'Saved screens and watchlists of the signing wallet',
    output: z.strictObject({ data: z.array(shown), next_cursor: z.null() }),
    example: { output: { data: [example], next_cursor: null } },
    next: '/matrix/squeeze/delayed',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (_, call) => {
        const screens = await listScreens(deps.database, await walletOf(deps, call))
        return jsonAnswer({ data: screens.map(show), next_cursor: null })
      },
    },
  })
}

function saveRoute(deps: ScreenDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.screens.save',
    capability: 'equity.screens.save',
    area: 'B',
    method: 'POST',
    path: '/v1/matrix/screens',
    summary: 'Save a screen (sort, filter, limit of a feed) or a watchlist (symbols)',
    description: `At most ${screensMax} for a wallet. The same name again replaces it and keeps the id.`,
    body,
    output: shown,
    example: {
      body: { name: example.name, feed: 'squeeze', sort: example.sort, filter: example.filter },
      output: example,
    },
    next: '/matrix/squeeze/delayed',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const wallet = await walletOf(deps, call)
        const { name, feed, symbols = [], ...query } = input.body
        const screen = { name, feed: feed ?? null, query, symbols: spelled(symbols), changedAtMs: deps.clock.nowMs() }
        checkColumns(screen)
        const saved = await saveScreen(
          deps.database,
          wallet,
          screen,
          () => `scr_${Buffer.from(deps.rng.bytes(16)).toString('hex')}`,
        )
        if (!saved)
          throw new Problem(matrixProblems.screens_full, { detail: `A wallet has at most ${screensMax} screens.` })
        return jsonAnswer(show(saved))
      },
    },
  })
}

function removeRoute(deps: ScreenDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.screens.remove',
    capability: 'equity.screens.remove',
    area: 'B',
    method: 'POST',
    path: '/v1/matrix/screens/remove',
    summary: 'Remove a saved screen of the signing wallet',
    body: z.strictObject({ id: z.string().max(40) }),
    output: z.strictObject({ removed: z.string() }),
    example: { body: { id: example.id }, output: { removed: example.id } },
    next: '/v1/matrix/screens',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const wallet = await walletOf(deps, call)
        if (!(await removeScreen(deps.database, wallet, input.body.id)))
          throw new Problem('not_found', { detail: 'This wallet has no such screen.' })
        return jsonAnswer({ removed: input.body.id })
      },
    },
  })
}

function spelled(symbols: readonly string[]): string[] {
  return [...new Set(symbols.map((symbol) => readSymbols(symbol)?.[0] ?? refuse('symbols', `${symbol} is no symbol`)))]
}

/** What cannot work on any tier is refused when it is saved, not when it is used. */
function checkColumns({ feed, query }: { feed: FeedId | null; query: ScreenQuery }): void {
  const asked = [...(parseSort(query.sort ?? '') ?? []), ...(parseFilter(query.filter ?? '') ?? [])]
  if (feed === null) {
    if (asked.length > 0 || query.min_score !== undefined) refuse('feed', 'is needed for sort, filter and min_score')
    return
  }
  const known = new Set([...commonColumns, ...feedUnder(feed, currentMethod.name).columns].map(({ name }) => name))
  for (const { column } of asked) if (!known.has(column)) refuse('feed', `has no column ${column}`)
}

function refuse(field: string, problem: string): never {
  throw fieldProblem(`body.${field}`, problem)
}
