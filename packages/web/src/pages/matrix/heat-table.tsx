import type { MatrixRow } from '@assay/sdk'
import { figure, sentence, words } from '../../ui/format.ts'
import { Sparkline } from '../../ui/sparkline.tsx'
import { ageTone, columnsOf, heatOf, oldestAsOf } from './heat.ts'
import type { Column } from './types.ts'

type Props = {
  rows: readonly MatrixRow[]
  columns: readonly Column[]
  other: readonly MatrixRow[] | undefined
  onOpen: (symbol: string) => void
}

export function HeatTable({ rows, columns, other, onOpen }: Props) {
  const names = columnsOf(rows)
  const heats = new Map(names.map((name) => [name, heatOf(rows, name)]))
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
              <button
                type="button"
                class="symbol"
                onClick={() => onOpen(row.symbol)}
                aria-label={`${row.symbol}: factors and sources`}
              >
                {row.symbol}
              </button>
            </th>
            {names.map((name) => (
              <HeatCell key={name} row={row} name={name} heat={heats.get(name)?.get(row.symbol)} />
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

function ColumnHead({ name, column, asOf }: { name: string; column: Column | undefined; asOf: string | undefined }) {
  return (
    <th scope="col" class="right" title={column === undefined ? undefined : `${column.meaning}, ${column.unit}`}>
      {sentence(name)}
      {asOf === undefined ? null : (
        <span class={`as-of ${ageTone(asOf, Date.now())}`} title="The oldest date behind this column">
          {asOf.slice(5, 10)}
        </span>
      )}
    </th>
  )
}

function HeatCell({ row, name, heat }: { row: MatrixRow; name: string; heat: number | undefined }) {
  const value = row.values[name]
  if (value === null || value === undefined) return <td class="right soft">–</td>
  const text =
    typeof value.value === 'string'
      ? value.value.replace(/^\d{4}-(\d\d-\d\d)T(\d\d:\d\d).*$/, '$1 $2')
      : figure(value.value)
  return (
    <td
      class="right cell"
      title={`${value.source}, as of ${value.as_of}`}
      style={heat === undefined ? {} : { backgroundColor: `rgb(var(--heat) / ${(0.04 + heat * 0.34).toFixed(2)})` }}
    >
      {text}
    </td>
  )
}

/** How many ranks a symbol stands higher or lower than in the other tier. */
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
