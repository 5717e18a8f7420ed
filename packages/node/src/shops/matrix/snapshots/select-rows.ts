import { fieldProblem } from '@assay/till/kernel/problem'
import { type ColumnValues, columnValues, type QueryColumn, queryColumns } from './columns-of.ts'
import type { Snapshot } from './snapshot.ts'

export type SortKey = { column: string; descending: boolean }
export type Condition = { column: string; operator: Operator; value: string }
type Operator = '>=' | '<=' | '!=' | '>' | '<' | '='

const [sortKeysMax, conditionsMax] = [3, 10]
const columnPattern = /^(-?)([a-z][a-z0-9_.]{0,60})$/
const conditionPattern = /^([a-z][a-z0-9_.]{0,60})(>=|<=|!=|>|<|=)([^,]{1,80})$/

export function parseSort(text: string): SortKey[] | undefined {
  const keys = text.split(',').map((part) => columnPattern.exec(part.trim()))
  if (keys.length > sortKeysMax || keys.some((key) => key === null)) return undefined
  return (keys as RegExpExecArray[]).map(([, sign, column = '']) => ({ column, descending: sign === '-' }))
}

export function parseFilter(text: string): Condition[] | undefined {
  const found = text.split(',').map((part) => conditionPattern.exec(part.trim()))
  if (found.length > conditionsMax || found.some((one) => one === null)) return undefined
  return (found as RegExpExecArray[]).map(([, column = '', operator, value = '']) => ({
    column,
    operator: operator as Operator,
    value,
  }))
}

/** The rows in the order asked for, and which of them are asked for. */
export type Selection = { order: Int32Array | undefined; holds(row: number): boolean }

export function selectRows(
  snapshot: Snapshot,
  query: { sort?: string; filter?: string; vip: boolean },
): Selection | undefined {
  if (query.sort === undefined && query.filter === undefined) return undefined
  const known = new Map(
    queryColumns(snapshot).flatMap((column) => (query.vip || column.tier === 'live' ? [[column.name, column]] : [])),
  )
  const columnOf = (field: string, name: string): QueryColumn => known.get(name) ?? unknownColumn(field, name, known)
  const order = query.sort === undefined ? undefined : orderBy(snapshot, query.sort, (name) => columnOf('sort', name))
  const tests = (query.filter === undefined ? [] : (parseFilter(query.filter) ?? [])).map((condition) =>
    testOf(columnValues(snapshot, columnOf('filter', condition.column)), condition),
  )
  return { order, holds: (row) => tests.every((test) => test(row)) }
}

function unknownColumn(field: string, name: string, known: ReadonlyMap<string, QueryColumn>): never {
  throw fieldProblem(`query.${field}`, `has no column ${name}`, {
    detail: `query.${field}: this tier of the feed has no column ${name}`,
    extra: { columns: [...known.values()].map(({ name: column, unit }) => ({ name: column, unit })) },
  })
}

const orders = new WeakMap<Snapshot, Map<string, Int32Array>>()
const ordersMax = 32

/** Sorted once for each snapshot and order; later pages walk along it. */
function orderBy(snapshot: Snapshot, sort: string, columnOf: (name: string) => QueryColumn): Int32Array {
  const keys = (parseSort(sort) ?? []).map(({ column, descending }) => ({ column: columnOf(column), descending }))
  const known = orders.get(snapshot) ?? new Map<string, Int32Array>()
  orders.set(snapshot, known)
  const found = known.get(sort)
  if (found) return found
  const compare = keys.map(({ column, descending }) => compareRows(columnValues(snapshot, column), descending))
  const order = Int32Array.from(snapshot.values, (_, row) => row).sort((a, b) => {
    for (const by of compare) {
      const difference = by(a, b)
      if (difference !== 0) return difference
    }
    return a - b
  })
  if (known.size >= ordersMax) known.clear()
  known.set(sort, order)
  return order
}

/** Unknown values come last, whichever way it goes. */
function compareRows(column: ColumnValues, descending: boolean): (a: number, b: number) => number {
  const sign = descending ? -1 : 1
  if (column.kind === 'text') {
    const { values } = column
    return (a, b) => {
      const [one, other] = [values[a] as string, values[b] as string]
      if (one === other) return 0
      if (one === '' || other === '') return one === '' ? 1 : -1
      return one < other ? -sign : sign
    }
  }
  const { values } = column
  return (a, b) => {
    const [one, other] = [values[a] as number, values[b] as number]
    if (Number.isNaN(one) || Number.isNaN(other)) return Number(Number.isNaN(one)) - Number(Number.isNaN(other))
    return (one - other) * sign
  }
}

function testOf(column: ColumnValues, { column: name, operator, value }: Condition): (row: number) => boolean {
  if (column.kind === 'text') {
    if (operator !== '=' && operator !== '!=') return refuseCondition(name, 'is a text and can only be = or !=')
    const equal = operator === '='
    return (row) => column.values[row] !== '' && (column.values[row] === value) === equal
  }
  const { values } = column
  const wanted = readFigure(value)
  if (wanted === undefined) return refuseCondition(name, 'is a number: compare it with one')
  const tests: Record<Operator, (figure: number) => boolean> = {
    '>=': (figure) => figure >= wanted,
    '<=': (figure) => figure <= wanted,
    '>': (figure) => figure > wanted,
    '<': (figure) => figure < wanted,
    '=': (figure) => figure === wanted,
    // NaN differs from everything, and what is unknown meets no condition.
    '!=': (figure) => figure < wanted || figure > wanted,
  }
  const test = tests[operator]
  return (row) => test(values[row] as number)
}

/** A number, a flag, or a time for columns that are times. */
export function readFigure(text: string): number | undefined {
  if (text === 'true' || text === 'false') return Number(text === 'true')
  if (/^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text)
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

function refuseCondition(column: string, problem: string): never {
  throw fieldProblem('query.filter', `${column} ${problem}`)
}
