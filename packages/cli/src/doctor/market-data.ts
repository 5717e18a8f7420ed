import type { Config } from '@assay/node'
import type { SourceCoverage } from '@assay/node/shops/matrix'
import { explainMissing, type Node } from '../load-node.ts'
import { ageText } from '../output.ts'
import { type Check, ok, warn } from './check.ts'
import { databaseUrlOf } from './data-folder.ts'

/** What is held of the market data, source by source. Nothing is said where there is no database yet. */
export async function checkMarketData(node: Node, config: Config): Promise<Check[]> {
  const url = await databaseUrlOf(node, config)
  if (url === undefined) return []
  const { systemClock: clock, systemRng: rng, silentLog: log } = node
  const database = node.createDatabase({ target: { url }, poolSize: 1, clock, rng, log })
  try {
    const { readMarketCoverage } = await import('@assay/node/shops/matrix').catch(explainMissing)
    return (await readMarketCoverage(config, database)).map(checkSource)
  } catch {
    return []
  } finally {
    await database.close()
  }
}

export function checkSource(row: SourceCoverage): Check {
  const name = `data ${row.source}`
  const age = row.age_seconds === null ? '' : `, ${ageText(row.age_seconds * 1000)} old`
  const held =
    row.last === null ? 'nothing held' : `${row.first} to ${row.last}, ${row.present} of ${row.wanted} held${age}`
  const detail = `${held}, licence ${row.licence}`
  return row.fix === null ? ok(name, detail) : warn(name, detail, row.fix)
}
