import type { Sql } from '@assay/till/store/database'
import { toDayNumber } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import type { SourceId } from '../sources/source.ts'
import type { FileRecord } from '../store/files.ts'
import type { LoadedRows } from '../store/load-rows.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import { bySuffix, type SecurityKind, securityKinds } from '../symbols/classify-security.ts'
import { joinedSpelling } from '../symbols/normalise-symbol.ts'
import type { AsOfView, Column, ColumnName, HaltEvent, Origin } from './as-of-view.ts'
import type { FileCache } from './file-cache.ts'
import { type Actions, type Split, shareFactor } from './find-actions.ts'
import { loadActions } from './load-actions.ts'
import { loadBorrow } from './load-borrow.ts'
import { loadEstimate } from './load-estimate.ts'
import { loadFails } from './load-fails.ts'
import { loadFields } from './load-fields.ts'
import { loadHalts } from './load-halts.ts'
import { loadHoldings } from './load-holdings.ts'
import { loadPrices } from './load-prices.ts'
import { loadShares } from './load-shares.ts'
import { loadShortInterest } from './load-short-interest.ts'
import { loadShortVolume } from './load-short-volume.ts'
import { loadThreshold } from './load-threshold.ts'
import { usedFiles } from './used-files.ts'

export type AsOfDeps = { sql: Sql; fileCache: FileCache; symbols: SymbolTable }

/** A view being put together. */
export type AsOfDraft = AsOfDeps & {
  knownAtMs: number
  size: number
  names: (string | null)[]
  kinds: (SecurityKind | undefined)[]
  listed: Uint8Array
  listingOrigins: number[]
  companyNames: (string | null)[]
  companyNameOrigin: number
  symbolList: readonly string[]
  indexOf: ReadonlyMap<string, number>
  /** Dense index of a symbol's number, -1 for none. */
  dense: Int32Array
  columns: Partial<Record<ColumnName, Column>>
  ratioDays: { day: number; ratios: Float64Array }[]
  halts: HaltEvent[]
  known(source: SourceId): readonly FileRecord[]
  /** What a count of shares of a day is in shares of now: 1 without a split, NaN where its ratio is unknown. */
  toToday(symbol: number, day: number): number
  actionOrigins: readonly number[]
  renamed: ReadonlyMap<string, string>
  originOf(file: FileRecord, asOf?: string): number
}

/**
 * What was known at a moment: only files public by then count, each in the revision known then. With `wanted`, nothing but
 * these sources is checked.
 */
export async function loadAsOfView(
  deps: AsOfDeps,
  knownAtMs: number,
  wanted?: ReadonlySet<SourceId>,
): Promise<AsOfView> {
  const origins: Origin[] = []
  const draft = await openDraft(deps, knownAtMs, origins, wanted)
  await loadShortInterest(draft)
  await loadShares(draft)
  await loadFails(draft)
  await loadShortVolume(draft)
  await loadEstimate(draft)
  await loadThreshold(draft)
  await loadBorrow(draft)
  await loadFields(draft)
  await loadPrices(draft)
  await loadHoldings(draft)
  await loadHalts(draft)
  return {
    knownAtMs,
    symbols: draft.symbolList,
    indexOf: draft.indexOf,
    kinds: draft.kinds,
    names: draft.names,
    listed: draft.listed,
    listingOrigins: draft.listingOrigins,
    actionOrigins: draft.actionOrigins,
    renamed: draft.renamed,
    companyNames: draft.companyNames,
    companyNameOrigin: draft.companyNameOrigin,
    origins,
    columns: draft.columns,
    ratioDays: draft.ratioDays,
    halts: draft.halts,
  }
}

async function openDraft(
  deps: AsOfDeps,
  knownAtMs: number,
  origins: Origin[],
  wanted: ReadonlySet<SourceId> | undefined,
): Promise<AsOfDraft> {
  await deps.symbols.refresh(deps.sql)
  const known = (source: SourceId) =>
    wanted === undefined || wanted.has(source) ? usedFiles(deps.fileCache, source, knownAtMs) : []
  const listingFiles = known('nasdaq-directory')
  const listings = await Promise.all(listingFiles.map((file) => deps.fileCache.rows(deps.sql, 'listings', file)))
  const actions = await loadActions(deps, known)
  const today = toDayNumber(easternDate(knownAtMs))
  const space = symbolSpace(deps.symbols, listings, actions, today)
  const size = space.symbols.length
  const kinds: (SecurityKind | undefined)[] = space.symbols.map(bySuffix)
  const names = new Array<string | null>(size).fill(null)
  const listed = new Uint8Array(size)
  for (const rows of listings)
    for (let i = 0; i < rows.count; i += 1) {
      const at = space.dense[rows.ids[i] as number] as number
      kinds[at] = securityKinds[(rows.numbers.kind as Float64Array)[i] as number]
      names[at] = rows.texts.name?.[i] ?? null
      listed[at] = 1
    }
  const originIndex = new Map<string, number>()
  const draft: AsOfDraft = {
    ...deps,
    knownAtMs,
    size,
    names,
    kinds,
    listed,
    listingOrigins: [],
    companyNames: new Array<string | null>(size).fill(null),
    companyNameOrigin: -1,
    symbolList: space.symbols,
    indexOf: space.indexOf,
    dense: space.dense,
    columns: {},
    ratioDays: [],
    halts: [],
    known,
    toToday: (symbol, day) => (space.splits[symbol] ? shareFactor(space.splits[symbol], day, today) : 1),
    actionOrigins: [],
    renamed: space.renamed,
    originOf: (file, asOf = file.asOf) => {
      const key = `${file.id} ${asOf}`
      const found = originIndex.get(key)
      if (found !== undefined) return found
      const { source, name, sha256, availableAtMs, revision, synthetic } = file
      originIndex.set(key, origins.length)
      return origins.push({ source, file: name, sha256, asOf, availableAtMs, revision, synthetic }) - 1
    },
  }
  draft.listingOrigins.push(...listingFiles.map((file) => draft.originOf(file)))
  draft.actionOrigins = [...known('sec-fails'), ...known('actions')]
    .filter(({ id }) => space.shownBy.has(id))
    .map((file) => draft.originOf(file))
  return draft
}

/**
 * All symbols in one sorted order. Spellings without separator (`BRKB`) join the listed one they must mean, and a symbol that
 * was given up joins the one that its paper has now.
 */
function symbolSpace(symbolTable: SymbolTable, listings: readonly LoadedRows[], actions: Actions, today: number) {
  const listed = new Set<string>()
  for (const rows of listings) for (const id of rows.ids) listed.add(symbolTable.symbolOf(id) as string)
  const meaning = new Map<string, string>()
  for (const symbol of listed)
    if (symbol.includes('.') && !listed.has(joinedSpelling(symbol))) meaning.set(joinedSpelling(symbol), symbol)
  const shownBy = new Set<number>()
  const renamed = new Map<string, string>()
  for (const { from, to, firstNew, file } of actions.renames) {
    if (listed.has(from) || firstNew > today) continue
    meaning.set(from, to)
    renamed.set(from, to)
    shownBy.add(file)
  }
  const canonical: (string | undefined)[] = []
  const all = new Set<string>()
  for (let id = 1; id <= symbolTable.last(); id += 1) {
    const symbol = symbolTable.symbolOf(id)
    if (symbol === undefined || symbol.includes(':')) continue
    canonical[id] = lastMeaning(meaning, symbol)
    all.add(canonical[id] as string)
  }
  const symbols = [...all].sort()
  const indexOf = new Map(symbols.map((symbol, index) => [symbol, index]))
  const dense = new Int32Array(symbolTable.last() + 1).fill(-1)
  for (let id = 1; id < dense.length; id += 1) {
    const symbol = canonical[id]
    if (symbol !== undefined) dense[id] = indexOf.get(symbol) as number
  }
  const splits: (readonly Split[] | undefined)[] = []
  for (const [symbol, list] of actions.splits) {
    const at = indexOf.get(lastMeaning(meaning, symbol))
    if (at === undefined) continue
    splits[at] = [...(splits[at] ?? []), ...list]
    for (const { day, file } of list) if (day <= today && day > today - splitDays) shownBy.add(file)
  }
  for (const from of renamed.keys()) renamed.set(from, lastMeaning(meaning, from))
  return { symbols, indexOf, dense, splits, shownBy, renamed }
}

/** No figure of a view is older than a year and some months: shares outstanding of a yearly report. */
const splitDays = 500
const changesMax = 4

function lastMeaning(meaning: ReadonlyMap<string, string>, symbol: string): string {
  let last = symbol
  for (let step = 0; step < changesMax; step += 1) last = meaning.get(last) ?? last
  return last
}
