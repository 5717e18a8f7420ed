import type { MatrixRow, MatrixValue } from '@assay/sdk'
import { linkTo } from '../../app/route.ts'
import { figure, sentence, words } from '../../ui/format.ts'
import { Sparkline } from '../../ui/sparkline.tsx'
import { placesOf, sortState, withPlaces } from './grid.ts'
import { ageTone, columnsOf, heatOf, oldestAsOf } from './heat.ts'
import type { Column } from './types.ts'

type Props = {
  rows: readonly MatrixRow[]
  columns: readonly Column[]
  other: readonly MatrixRow[] | undefined
  feed: string
  /** Where rows can be asked for in another order. */
  order?: { sort: string; onSort: (column: string) => void }
}

export function HeatTable({ rows, columns, other, feed, order }: Props) {
  const names = columnsOf(rows)
  const heats = new Map(names.map((name) => [name, heatOf(rows, name)]))
  const places = new Map(names.map((name) => [name, placesOf(rows, name)]))
  const trend = rows.some((row) => row.trend !== undefined)
  const trendOf = rows.find((row) => row.trend !== undefined)?.trend?.of ?? ''
  return (
    <table class="heat">
      <thead>
        <tr>
          <th scope="col" class="right">
            <span class="visually-hidden">Rank</span>#
          </th>
          <th scope="col">Symbol</th>
          {names.map((name) => (
            <ColumnHead
              key={name}
              name={name}
              column={columns.find((known) => known.name === name)}
              asOf={oldestAsOf(rows, name)}
              order={order}
            />
          ))}
          {trend ? <th scope="col">{sentence(trendOf)}, 20 days</th> : null}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.symbol}>
            <td class="right">
              {row.rank}
              <Moved row={row} other={other} />
            </td>
            <th scope="row">
              <a
                class="symbol"
                href={linkTo('matrix', [feed, row.symbol])}
                aria-label={`${row.symbol}: factors and sources`}
              >
                {row.symbol}
              </a>
              {row.name === null ? null : <span class="name">{row.name}</span>}
            </th>
            {names.map((name) => (
              <HeatCell
                key={name}
                row={row}
                name={name}
                heat={heats.get(name)?.get(row.symbol)}
                places={places.get(name) ?? 0}
              />
            ))}
            {trend ? (
              <td>
                <Sparkline values={row.trend?.values ?? []} what={words(trendOf)} />
              </td>
            ) : null}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type HeadProps = {
  name: string
  column: Column | undefined
  asOf: string | undefined
  order: Props['order'] | undefined
}

const arrows = { ascending: ' ▲', descending: ' ▼', none: '' } as const

function ColumnHead({ name, column, asOf, order }: HeadProps) {
  const sorted = sortState(order?.sort ?? '', name)
  return (
    <th
      scope="col"
      class="right"
      title={column === undefined ? undefined : `${column.meaning}, ${column.unit}`}
      aria-sort={order === undefined ? undefined : sorted}
    >
      {order === undefined ? (
        sentence(name)
      ) : (
        <button type="button" class="sort" onClick={() => order.onSort(name)}>
          {sentence(name)}
          <span aria-hidden="true">{arrows[sorted]}</span>
        </button>
      )}
      {column === undefined ? null : <span class="unit">{column.unit}</span>}
      {asOf === undefined ? null : (
        <span class={`as-of ${ageTone(asOf, Date.now())}`} title="The oldest date behind this column">
          {asOf.slice(5, 10)}
        </span>
      )}
    </th>
  )
}

function cellText(value: MatrixValue['value'], places: number): string {
  if (typeof value === 'number') return withPlaces(value, places)
  return figure(value).replace(/^\d{4}-(\d\d-\d\d)T(\d\d:\d\d).*$/, '$1 $2')
}

type CellProps = { row: MatrixRow; name: string; heat: number | undefined; places: number }

function HeatCell({ row, name, heat, places }: CellProps) {
  const value = row.values[name]
  if (value === null || value === undefined) return <td class="right soft">–</td>
  const text = cellText(value.value, places)
  return (
    <td
      class="right cell"
      title={`${value.value} (${value.source}, as of ${value.as_of})`}
      style={heat === undefined ? {} : { backgroundColor: `rgb(var(--heat) / ${(0.04 + heat * 0.34).toFixed(2)})` }}
    >
      {text}
    </td>
  )
}

/** How many ranks a symbol is higher or lower than in the other tier. */
function Moved({ row, other }: { row: MatrixRow; other: readonly MatrixRow[] | undefined }) {
  const there = other?.find(({ symbol }) => symbol === row.symbol)
  if (there === undefined || there.rank === row.rank) return null
  const by = there.rank - row.rank
  return (
    <span class={by > 0 ? 'moved up' : 'moved down'}>
      {by > 0 ? '▲' : '▼'}
      {Math.abs(by)}
      <span class="visually-hidden"> ranks {by > 0 ? 'higher' : 'lower'} than in the other tier</span>
    </span>
  )
}
