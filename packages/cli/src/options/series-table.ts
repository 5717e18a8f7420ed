import type { OptionSeries } from '@assay/sdk'
import { ageText, table } from '../output.ts'

type Row = Pick<
  OptionSeries,
  'symbol' | 'premium_usd' | 'implied_volatility' | 'volatility' | 'greeks' | 'last_trade_at'
>

const percent = (value: number | null): string => (value === null ? '' : `${(value * 100).toFixed(0)}%`)

/** Vega for one percent and theta for one day, as traders write them. It fits into 80 columns. */
export function seriesTable(rows: readonly Row[], nowMs: number): string {
  const greek = (name: keyof NonNullable<Row['greeks']>, per: number, digits: number) => ({
    title: name,
    of: ({ greeks }: Row) => (greeks === null ? '' : (greeks[name] / per).toFixed(digits)),
    right: true,
  })
  return table(rows, [
    { title: 'symbol', of: (row) => row.symbol },
    {
      title: 'premium',
      of: ({ premium_usd }) => (premium_usd === null ? '' : Number(premium_usd).toFixed(2)),
      right: true,
    },
    { title: 'iv', of: (row) => percent(row.implied_volatility), right: true },
    greek('delta', 1, 2),
    greek('gamma', 1, 4),
    greek('vega', 100, 3),
    greek('theta', 365.25, 3),
    { title: 'left', of: (row) => ageText(Date.parse(row.last_trade_at) - nowMs), right: true },
  ])
}
