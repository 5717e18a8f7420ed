import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import type { Tx } from '@assay/till/store/database'
import { createBatcher } from '@assay/till/store/group-commit'
import type { OptionDeps } from './deps.ts'
import type { Book, Fill } from './domain/book.ts'
import { isInBand } from './domain/contract-terms.ts'
import { optionProblems } from './problems.ts'
import {
  loadOrderBook,
  pushKey,
  type ReservationDraft,
  readWanted,
  type Wanted,
  writeReservations,
} from './reserve-store.ts'
import { isTraded, lockSeries, type Series } from './series-store.ts'

export type ReserveRequest = {
  symbol: string
  quantity: number
  holder: Address
  /** The payment or drawn call that will pay; its amount is what the buyer agreed to. */
  paymentId: string
  /** From a quote that is still valid: the vault keeps to it. */
  vaultMicro?: Micro
}

export type Reserved = {
  positionId: string
  fills: Fill[]
  premiumMicro: Micro
  series: Series
}

export type ReserveContracts = {
  /** Holds contracts for a buyer whose money is about to be taken. Throws a Problem when there are none for it. */
  reserve(request: ReserveRequest): Promise<Reserved>
  idle(): Promise<void>
}

type Outcome = Reserved | Problem
type BookCopy = { seq: bigint; restoredAtMs: number; book: Book }

/**
 * The only way contracts leave a book. Requests that arrive together share a transaction; the rows of their series are
 * locked, so that there is one writer a series however many processes sell. A process keeps the books it has read, and
 * reads a book again when its row says that somebody else changed it.
 */
export function createReserveContracts(deps: OptionDeps): ReserveContracts {
  const books = new Map<string, BookCopy>()
  const batcher = createBatcher<ReserveRequest, Outcome>({
    maxItems: 256,
    maxConcurrent: 1,
    run: async (requests) => {
      // Removed while they change: a transaction that breaks off leaves none that is half changed.
      const mine = new Map<string, BookCopy>()
      for (const { symbol } of requests) {
        const known = books.get(symbol)
        if (known) mine.set(symbol, known)
        books.delete(symbol)
      }
      const done = await deps.database.transaction((tx) => reserveAll(deps, tx, requests, takeAll(mine)))
      for (const [symbol, known] of done.books) books.set(symbol, known)
      return done.outcomes
    },
  })
  return {
    reserve: async (request) => {
      const outcome = await batcher.submit(request)
      if (outcome instanceof Problem) throw outcome
      return outcome
    },
    idle: () => batcher.idle(),
  }
}

/** A transaction may be run again from its start: the second time no book of the first is believed. */
function takeAll<T>(map: Map<string, T>): (key: string) => T | undefined {
  return (key) => {
    const value = map.get(key)
    map.delete(key)
    return value
  }
}

async function reserveAll(
  deps: OptionDeps,
  tx: Tx,
  requests: readonly ReserveRequest[],
  known: (symbol: string) => BookCopy | undefined,
): Promise<{ outcomes: Outcome[]; books: Map<string, BookCopy> }> {
  const nowMs = deps.clock.nowMs()
  const series = await lockSeries(
    tx,
    requests.map(({ symbol }) => symbol),
  )
  const wanted = await readWanted(tx, requests)
  const { restoredAtMs } = wanted
  const books = new Map<string, BookCopy>()
  for (const { symbol, seq } of series.values()) {
    const copy = known(symbol)
    const isNewest = copy?.seq === seq && copy.restoredAtMs === restoredAtMs
    books.set(symbol, isNewest ? copy : { seq, restoredAtMs, book: await loadOrderBook(tx, symbol) })
  }
  const drafts: ReservationDraft[] = []
  const outcomes = requests.map((request): Outcome => {
    const one = series.get(request.symbol)
    const open = books.get(request.symbol)
    if (!one || !open) return new Problem(optionProblems.series_unknown)
    const outcome = reserveOne(deps, { request, series: one, book: open.book, wanted, nowMs })
    if (outcome instanceof Problem) return outcome
    if (!('earlier' in outcome)) drafts.push({ ...outcome, request, capMicro: one.capMicro })
    return { ...outcome, series: one }
  })
  await writeReservations(deps, tx, { drafts, vaultUsedMicro: wanted.vault.usedMicro, nowMs })
  const changed = new Map<string, number>()
  for (const { request } of drafts) changed.set(request.symbol, (changed.get(request.symbol) ?? 0) + 1)
  for (const [symbol, count] of changed) {
    const open = books.get(symbol)
    if (open) open.seq += BigInt(count)
  }
  return { outcomes, books }
}

type One = { request: ReserveRequest; series: Series; book: Book; wanted: Wanted; nowMs: number }
type Taken = Omit<Reserved, 'series'> & { earlier?: true }

function reserveOne(deps: OptionDeps, { request, series, book, wanted, nowMs }: One): Taken | Problem {
  // The same payment asks again after its first request was interrupted.
  const earlier = wanted.earlier.get(request.paymentId)
  if (earlier?.symbol === request.symbol && earlier.quantity === request.quantity)
    return { ...earlier.reserved, earlier: true }
  if (earlier) return new Problem('payment_in_flight', { retryAfterSeconds: 5 })
  const agreed = wanted.agreed.get(request.paymentId)
  if (agreed === undefined) return new Problem('internal')
  if (!isTraded(series, nowMs)) return new Problem(optionProblems.series_closed)
  const tooMany = limitProblem(deps, request, series, wanted)
  if (tooMany) return tooMany
  const vault = vaultOffer(deps, request, series, wanted)
  const taken = book.take({ quantity: request.quantity, total: Number(agreed), ...(vault ? { vault } : {}) })
  if (taken.status === 'too_few')
    return new Problem(optionProblems.options_sold_out, {
      extra: { available: taken.available, symbol: series.symbol },
    })
  if (taken.status === 'other_price')
    return new Problem(optionProblems.options_price_moved, { extra: { premium_micro: taken.total.toString() } })
  for (const fill of taken.fills)
    if (fill.offerId === null) wanted.vault.usedMicro += BigInt(fill.quantity) * (series.capMicro - BigInt(fill.price))
  series.sold += request.quantity
  const pushed = pushKey(series)
  wanted.interest.set(pushed, (wanted.interest.get(pushed) ?? 0n) + BigInt(request.quantity) * series.sizeMicro)
  const key = `${request.symbol} ${request.holder}`
  wanted.held.set(key, (wanted.held.get(key) ?? 0) + request.quantity)
  return {
    positionId: deps.ids.next('opt'),
    fills: taken.fills,
    premiumMicro: BigInt(taken.total),
  }
}

function limitProblem(
  { settings }: OptionDeps,
  { quantity, symbol, holder }: ReserveRequest,
  series: Series,
  wanted: Wanted,
): Problem | undefined {
  const mine = (wanted.held.get(`${symbol} ${holder}`) ?? 0) + quantity
  if (mine > settings.contractsPerWallet)
    return new Problem(optionProblems.options_limit, {
      extra: { limit: 'contracts_per_wallet', most: settings.contractsPerWallet },
    })
  const interestMicro = (wanted.interest.get(pushKey(series)) ?? 0n) + BigInt(quantity) * series.sizeMicro
  return interestMicro > series.interestLimitMicro ? interestProblem(series) : undefined
}

export const interestProblem = ({ interestLimitMicro }: Pick<Series, 'interestLimitMicro'>): Problem =>
  new Problem(optionProblems.options_limit, {
    detail: 'The open interest limit of this series is reached. It keeps manipulation of the index unprofitable.',
    extra: { limit: 'open_interest', most_micro_per_point: interestLimitMicro.toString() },
  })

/** The vault writes at the model's price, or at the one it quoted, as far as its capital goes. */
export function vaultOffer(
  { vaultWallet }: Pick<OptionDeps, 'vaultWallet'>,
  { quantity, vaultMicro }: Pick<ReserveRequest, 'quantity' | 'vaultMicro'>,
  series: Pick<Series, 'capMicro' | 'modelMicro'>,
  { vault }: Pick<Wanted, 'vault'>,
): { writer: Address; price: number; quantity: number } | undefined {
  const priceMicro = vaultMicro ?? series.modelMicro
  if (priceMicro === null || !isInBand(priceMicro) || priceMicro >= series.capMicro) return undefined
  const affordable = (vault.limitMicro - vault.usedMicro) / (series.capMicro - priceMicro)
  if (affordable <= 0n) return undefined
  return {
    writer: vaultWallet,
    price: Number(priceMicro),
    quantity: affordable > BigInt(quantity) ? quantity : Number(affordable),
  }
}
