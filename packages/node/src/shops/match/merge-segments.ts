import { createNameTable } from './name-table.ts'
import { createTermTable, type Segment, termAt, termCount } from './segment.ts'
import { joinTokens } from './token-stream.ts'

/** Segments in order of their page ids become one; nothing is scored again. */
export function mergeSegments(segments: readonly Segment[]): Segment {
  const names = {
    domains: createNameTable(),
    languages: createNameTable(),
    licences: createNameTable(),
    types: createNameTable(),
  }
  const terms = createNameTable()
  const mapped = segments.map((segment) => ({
    segment,
    domain: segment.domains.map(names.domains.idOf),
    language: segment.languages.map(names.languages.idOf),
    licence: segment.licences.map(names.licences.idOf),
    type: segment.types.map(names.types.idOf),
    term: Uint32Array.from({ length: termCount(segment.terms) }, (_, term) => terms.idOf(termAt(segment.terms, term))),
  }))
  const starts = new Uint32Array(terms.size() + 1)
  for (const { segment, term } of mapped)
    for (let from = 0; from < term.length; from += 1)
      starts[(term[from] as number) + 1] =
        (starts[(term[from] as number) + 1] as number) +
        (segment.starts[from + 1] as number) -
        (segment.starts[from] as number)
  for (let term = 0; term < terms.size(); term += 1)
    starts[term + 1] = (starts[term + 1] as number) + (starts[term] as number)
  const total = starts[terms.size()] as number
  const merged: Segment = {
    docCount: segments.reduce((sum, { docCount }) => sum + docCount, 0),
    pageIds: joined(Float64Array, segments, (segment) => segment.pageIds),
    domainOf: joined(Uint32Array, mapped, ({ segment, domain }) => segment.domainOf.map((id) => domain[id] as number)),
    languageOf: joined(Uint16Array, mapped, (one) => one.segment.languageOf.map((id) => one.language[id] as number)),
    licenceOf: joined(Uint16Array, mapped, (one) => one.segment.licenceOf.map((id) => one.licence[id] as number)),
    typeOf: joined(Uint16Array, mapped, (one) => one.segment.typeOf.map((id) => one.type[id] as number)),
    dayOf: joined(Int32Array, segments, (segment) => segment.dayOf),
    domains: names.domains.all(),
    languages: names.languages.all(),
    licences: names.licences.all(),
    types: names.types.all(),
    terms: createTermTable(terms.all()),
    starts,
    docs: new Uint32Array(total),
    impacts: new Uint8Array(total),
    peaks: new Uint8Array(terms.size()),
    ...joinTokens(mapped.map(({ segment, term }) => ({ segment, numbers: term }))),
  }
  const next = starts.slice(0, -1)
  let base = 0
  for (const { segment, term } of mapped) {
    for (let from = 0; from < term.length; from += 1)
      copyPostings(segment, from, merged, term[from] as number, next, base)
    base += segment.docCount
  }
  return merged
}

function copyPostings(
  from: Segment,
  fromTerm: number,
  to: Segment,
  toTerm: number,
  next: Uint32Array,
  base: number,
): void {
  const [start, end] = [from.starts[fromTerm] as number, from.starts[fromTerm + 1] as number]
  let at = next[toTerm] as number
  to.impacts.set(from.impacts.subarray(start, end), at)
  for (let posting = start; posting < end; posting += 1) {
    to.docs[at] = (from.docs[posting] as number) + base
    at += 1
  }
  next[toTerm] = at
  to.peaks[toTerm] = Math.max(to.peaks[toTerm] as number, from.peaks[fromTerm] as number)
}

type Column = Uint16Array | Uint32Array | Int32Array | Float64Array

function joined<Kind extends Column, Part>(
  kind: new (length: number) => Kind,
  parts: readonly Part[],
  columnOf: (part: Part) => Kind,
): Kind {
  const columns = parts.map(columnOf)
  const all = new kind(columns.reduce((sum, column) => sum + column.length, 0))
  let at = 0
  for (const column of columns) {
    all.set(column as never, at)
    at += column.length
  }
  return all
}
