import { type Micro, smallerOf } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { isTradable } from './book-sides.ts'
import type { OptionDeps } from './deps.ts'
import { vaultClosed } from './describe-vault.ts'
import { type Book, createOrderBook } from './domain/book.ts'
import { optionProblems } from './problems.ts'
import { interestProblem, vaultOffer } from './reserve-contracts.ts'
import { pushKey } from './reserve-store.ts'
import { isTraded, openSeries, type Series } from './series-store.ts'

export type BoardEntry = { series: Series; book: Book }

export type Ask = { totalMicro: Micro; vaultMicro?: Micro }

export type Board = {
  /** The open series and their offers, a moment old at most. */
  read(): Promise<ReadonlyMap<string, BoardEntry>>
  /** What so many contracts cost now. Throws a Problem when they cannot be had. */
  ask(symbol: string, quantity: number): Promise<Ask>
  /** The cheapest contract there is; undefined when none is. */
  cheapest(): Promise<{ symbol: string; premiumMicro: Micro } | undefined>
  /** Whether any series is traded, as far as is known; looks again behind the caller's back. */
  isTrading(): boolean
  askOf(entry: BoardEntry, quantity: number): Ask | undefined
  /** Something changed here: the next caller reads again. */
  changed(): void
  vault(): { limitMicro: Micro; usedMicro: Micro }
}

/** Older than this it is read again; after our own change, sooner. */
const freshMs = 1_000
const pauseMs = 50
const outsideBand = 'The price is outside the premium band, in which alone the vault sells.'

type Known = {
  entries: Map<string, BoardEntry>
  /** Micro-USDC a point of all contracts that one push of the index would move, by `pushKey`. */
  interest: Map<string, Micro>
  vault: ReturnType<Board['vault']>
  atMs: number
}

/** Prices are asked for far more often than they change, so they come from a copy that is read at most so often. */
export function createBoard(deps: OptionDeps): Board {
  let known: Known | undefined
  let reading: Promise<void> | undefined
  let dirty = false

  const load = async () => {
    dirty = false
    const [series, offers, vault] = await Promise.all([
      openSeries(deps.database),
      readOffers(deps),
      deps.database.query<{ limit_micro: Micro; used_micro: Micro }>(
        `select limit_micro, used_micro from option_vault`,
      ),
    ])
    const entries = new Map(series.map((one) => [one.symbol, { series: one, book: createOrderBook() }]))
    for (const offer of offers) entries.get(offer.symbol)?.book.place(offer)
    const { limit_micro: limitMicro = 0n, used_micro: usedMicro = 0n } = vault.rows[0] ?? {}
    const interest = new Map<string, Micro>()
    for (const one of series)
      interest.set(pushKey(one), (interest.get(pushKey(one)) ?? 0n) + BigInt(one.sold) * one.sizeMicro)
    known = { entries, interest, vault: { limitMicro, usedMicro }, atMs: deps.clock.monotonicMs() }
  }
  const read = async () => {
    const age = known === undefined ? Number.POSITIVE_INFINITY : deps.clock.monotonicMs() - known.atMs
    if (age > freshMs || (dirty && age > pauseMs)) {
      reading ??= load().finally(() => {
        reading = undefined
      })
      await reading
    }
    return known?.entries ?? new Map<string, BoardEntry>()
  }
  const vault = () => known?.vault ?? { limitMicro: 0n, usedMicro: 0n }
  const isFull = ({ series }: BoardEntry, quantity: number): boolean =>
    (known?.interest.get(pushKey(series)) ?? 0n) + BigInt(quantity) * series.sizeMicro > series.interestLimitMicro
  const askOf = (entry: BoardEntry, quantity: number): Ask | undefined => {
    // What a purchase would refuse is not offered.
    if (isFull(entry, quantity)) return undefined
    const { series, book } = entry
    const offer = vaultOffer(deps, { quantity }, series, { vault: vault() })
    const { total, available } = book.cost(quantity, offer)
    if (available < quantity) return undefined
    return { totalMicro: BigInt(total), ...(offer ? { vaultMicro: BigInt(offer.price) } : {}) }
  }
  const soldOut = ({ series, book }: BoardEntry, quantity: number): Problem => {
    const closed = vaultClosed(deps, vault())
    const offer = vaultOffer(deps, { quantity }, series, { vault: vault() })
    const { available } = book.cost(quantity, offer)
    const why = closed?.reason ?? (offer ? '' : outsideBand)
    return new Problem(optionProblems.options_sold_out, {
      detail: `${available} of ${quantity} contracts are offered. ${why}`.trimEnd(),
      extra: { symbol: series.symbol, available, ...(closed ? { vault: closed.state } : {}) },
    })
  }
  return {
    read,
    vault,
    askOf,
    isTrading: () => {
      read().catch(() => {})
      const nowMs = deps.clock.nowMs()
      return [...(known?.entries.values() ?? [])].some(({ series }) => isTraded(series, nowMs))
    },
    changed: () => {
      dirty = true
    },
    ask: async (symbol, quantity) => {
      const entry = (await read()).get(symbol)
      if (!entry) throw new Problem(optionProblems.series_unknown)
      if (!isTraded(entry.series, deps.clock.nowMs())) throw new Problem(optionProblems.series_closed)
      if (isFull(entry, quantity)) throw interestProblem(entry.series)
      const ask = askOf(entry, quantity)
      if (!ask) throw soldOut(entry, quantity)
      return ask
    },
    cheapest: async () => {
      const nowMs = deps.clock.nowMs()
      let best: { symbol: string; premiumMicro: Micro } | undefined
      for (const [symbol, entry] of await read()) {
        const ask = isTraded(entry.series, nowMs) ? askOf(entry, 1) : undefined
        if (ask && (!best || smallerOf(ask.totalMicro, best.premiumMicro) !== best.premiumMicro))
          best = { symbol, premiumMicro: ask.totalMicro }
      }
      return best
    },
  }
}

async function readOffers({ database }: OptionDeps) {
  const { rows } = await database.query<{
    id: string
    symbol: string
    writer: string
    price_micro: Micro
    seq: bigint
    open_quantity: number
  }>(`select id, symbol, writer, price_micro, seq, open_quantity from option_order o where ${isTradable}`)
  return rows.map(({ id, symbol, writer, price_micro, seq, open_quantity }) => ({
    id,
    symbol,
    writer,
    price: Number(price_micro),
    seq: Number(seq),
    quantity: open_quantity,
  }))
}
