import { createHash } from 'node:crypto'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { AsOfView, Origin } from '../as-of/as-of-view.ts'
import { fromDayNumber, toDayNumber } from '../calendar/dates.ts'
import { allowedColumns } from '../feeds/allowed-columns.ts'
import { planComposite } from '../feeds/composite.ts'
import type { Feed } from '../feeds/feed.ts'
import { createProvenance } from '../feeds/provenance.ts'
import type { BuildInput, RowPlan } from '../feeds/row-plan.ts'
import { planHalts, planSimple, recipes } from '../feeds/simple.ts'
import type { LicencePolicy, Variant } from '../licences/licence-policy.ts'
import { bySuffix } from '../symbols/classify-security.ts'
import type { Manifest, NoSnapshot, Snapshot, SnapshotInput } from './snapshot.ts'
import { createTextBuffer } from './text-buffer.ts'

/** From a view to the bytes of one feed. The same view gives the same bytes, wherever and whenever it is done. */
export async function buildSnapshot(
  view: AsOfView,
  feed: Feed,
  licences: LicencePolicy,
  variant: Variant,
  yieldToEventLoop: () => Promise<void> = async () => {},
): Promise<Snapshot | NoSnapshot> {
  const { columns, leftOut, mayUse } = allowedColumns(view, licences, variant)
  const relevant = leftOut.filter(({ source }) => [...feed.needs, ...feed.uses].includes(source))
  const provenance = createProvenance(view, licences)
  const directoryAllowed = view.listingOrigins.every(mayUse)
  const input: BuildInput = {
    feed,
    view,
    columns,
    variant,
    licences,
    provenance,
    mayUse,
    leftOut: relevant,
    nameOf: (symbol) =>
      (directoryAllowed ? view.names[symbol] : null) ??
      (mayUse(view.companyNameOrigin) ? (view.companyNames[symbol] ?? null) : null),
    kindOf: (symbol) => (directoryAllowed ? view.kinds[symbol] : bySuffix(view.symbols[symbol] as string)) ?? 'share',
  }
  const plan = planOf(input)
  if (directoryAllowed) provenance.use(view.listingOrigins)
  provenance.use(view.actionOrigins)
  const needed = view.origins.filter(({ source }) => feed.needs.includes(source))
  // An empty list is news too, and it has a source.
  if (plan.count === 0)
    provenance.use(
      view.origins.flatMap(({ source }, index) => (feed.needs.includes(source) && mayUse(index) ? [index] : [])),
    )
  if (plan.count === 0 && needed.length === 0) return { status: 'no_data', leftOut: relevant }
  if (needed.length > 0 && !needed.some(({ source, synthetic }) => licences.may(source, synthetic, variant)))
    return { status: 'not_licensed', leftOut: relevant }
  return assemble(input, plan, yieldToEventLoop)
}

function planOf(input: BuildInput): RowPlan {
  if (input.feed.id === 'halts') return planHalts(input)
  const recipe = recipes[input.feed.id]
  return recipe ? planSimple(input, recipe) : planComposite(input)
}

/** Others wait for this thread: it is given free every few hundred rows. */
const rowsAtOnce = 500

async function assemble(input: BuildInput, plan: RowPlan, yieldToEventLoop: () => Promise<void>): Promise<Snapshot> {
  const { view, provenance } = input
  const text = createTextBuffer()
  const starts = new Uint32Array(plan.count + 1)
  const liveEnds = new Uint32Array(plan.count)
  const values = new Float64Array(plan.count)
  const rowsOf = new Map<string, number[]>()
  for (let row = 0; row < plan.count; row += 1) {
    if (row % rowsAtOnce === rowsAtOnce - 1) await yieldToEventLoop()
    const symbol = plan.symbolOf(row)
    const name = view.symbols[symbol] as string
    starts[row] = text.length()
    text.add(
      `{"rank":${row + 1},"symbol":"${name}","name":${JSON.stringify(input.nameOf(symbol))},"kind":"${input.kindOf(symbol)}",${plan.live(row)}`,
    )
    liveEnds[row] = text.length()
    text.add(`,${plan.vip(row)}}\n`)
    values[row] = plan.valueOf(row)
    const known = rowsOf.get(name)
    if (known) known.push(row)
    else rowsOf.set(name, [row])
  }
  starts[plan.count] = text.length()
  const excludedReason = new Map<string, string>()
  const counts: Record<string, number> = {}
  for (const [symbol, reason] of [...plan.excluded].sort((a, b) => a[0] - b[0])) {
    excludedReason.set(view.symbols[symbol] as string, reason)
    counts[reason] = (counts[reason] ?? 0) + 1
    text.add(`{"symbol":"${view.symbols[symbol]}","excluded":"${reason}"}\n`)
  }
  // Asked by its old symbol, a paper says what it is called now.
  for (const [from, to] of [...view.renamed].sort()) {
    if (!rowsOf.has(to) && !excludedReason.has(to)) continue
    excludedReason.set(from, `now ${to}`)
    text.add(`{"symbol":"${from}","excluded":"now ${to}"}\n`)
  }
  const used = provenance.used().map((index) => view.origins[index] as Origin)
  const manifest = manifestOf(input, plan, used, counts)
  // Which files were used is known at the end and written at the beginning.
  const head = Buffer.from(`${JSON.stringify(manifest)}\n`)
  const bytes = text.bytes(head)
  for (let row = 0; row <= plan.count; row += 1) starts[row] = (starts[row] as number) + head.length
  for (let row = 0; row < plan.count; row += 1) liveEnds[row] = (liveEnds[row] as number) + head.length
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { manifest, sha256, bytes, starts, liveEnds, values, rowsOf, excludedReason }
}

function manifestOf(
  input: BuildInput,
  plan: RowPlan,
  origins: readonly Origin[],
  excluded: Record<string, number>,
): Manifest {
  const main = origins.filter(({ source }) => input.feed.needs.includes(source))
  const shown = main.length > 0 ? main : origins
  return {
    feed: input.feed.id,
    method: input.feed.method,
    as_of:
      shown
        .map(({ asOf }) => asOf)
        .sort()
        .at(-1) ?? '1970-01-01',
    available_at: toRfc3339(Math.max(0, ...origins.map(({ availableAtMs }) => availableAtMs))),
    data_vintage: fromDayNumber(input.provenance.oldestDay() ?? toDayNumber(shown[0]?.asOf ?? '1970-01-01')),
    coverage_pct: Math.round(plan.coveragePct * 100) / 100,
    row_count: plan.count,
    excluded_count: plan.excluded.size,
    excluded,
    ranked_by: input.feed.rankedBy,
    synthetic: origins.some(({ synthetic }) => synthetic),
    left_out: input.leftOut,
    inputs: origins.map((origin) => inputOf(input, origin)).sort((a, b) => (key(a) < key(b) ? -1 : 1)),
    notes: plan.notes ?? {},
  }
}

const key = (input: SnapshotInput) => `${input.source} ${input.file} ${input.revision} ${input.as_of}`

function inputOf(input: BuildInput, origin: Origin): SnapshotInput {
  const licence = input.licences.licenceOf(origin)
  return {
    source: origin.source,
    file: origin.file,
    sha256: origin.sha256,
    as_of: origin.asOf,
    available_at: toRfc3339(origin.availableAtMs),
    revision: origin.revision,
    licence: licence.id,
    attribution: licence.attribution,
    synthetic: origin.synthetic,
  }
}
