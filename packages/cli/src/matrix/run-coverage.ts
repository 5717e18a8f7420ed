import type { SourceCoverage } from '@assay/node/shops/matrix'
import type { CommandContext } from '../command-context.ts'
import { explainMissing } from '../load-node.ts'
import { withOperator } from '../operator/connect.ts'
import { ageText, printResult, table } from '../output.ts'

export async function runCoverage({ terminal }: CommandContext, options: { json?: boolean }): Promise<void> {
  const { readMarketCoverage } = await import('@assay/node/shops/matrix').catch(explainMissing)
  await withOperator(terminal, async ({ config, database }) => {
    const rows = await readMarketCoverage(config, database)
    printResult(terminal, options.json, { data: rows }, () => coverageText(rows))
  })
}

export function coverageText(rows: readonly SourceCoverage[]): string {
  const fixes = rows.filter(({ fix }) => fix !== null).map(({ source, fix }) => `${source}: ${fix}`)
  return [
    table(rows, [
      { title: 'source', of: (row) => row.source },
      { title: 'first', of: (row) => row.first ?? '-' },
      { title: 'last', of: (row) => row.last ?? '-' },
      { title: 'held', of: (row) => `${row.present} of ${row.wanted}`, right: true },
      { title: 'age', of: (row) => (row.age_seconds === null ? '-' : ageText(row.age_seconds * 1000)), right: true },
      { title: 'fetched', of: (row) => (row.fetched ? 'yes' : 'no') },
      { title: 'sold', of: (row) => (row.may_be_sold ? 'yes' : 'no') },
      { title: 'licence', of: (row) => row.licence },
      { title: 'last fetch', of: (row) => (row.last_check ? `${row.last_check.status} at ${row.last_check.at}` : '-') },
    ]),
    ...(fixes.length === 0 ? [] : ['', ...fixes]),
  ].join('\n')
}
