import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'
import {
  type Asked,
  dated,
  expectNoLookAhead,
} from '../../packages/node/src/shops/matrix/as-of/no-look-ahead.fixture.ts'
import { archiveFiles } from './archive-files.ts'

const folder = fileURLToPath(new URL('../../../shared/data', import.meta.url))
/** With ASSAY_PROOFS=large all months and more moments; otherwise the files of a week, and what was known before them. */
const whole = process.env['ASSAY_PROOFS'] === 'large'
const [from, to] = [Date.parse('2021-02-09T00:00:00Z'), Date.parse('2021-02-18T00:00:00Z')]

/** Each of the archive's sources is behind one of these. */
const some: readonly Asked[] = [
  { feed: 'squeeze', variant: 'paid' },
  { feed: 'short-volume', variant: 'free' },
  { feed: 'short-interest', variant: 'paid' },
  { feed: 'ftd', variant: 'paid' },
]

test.skipIf(!existsSync(folder))(
  'no published file of the winter of 2021 changes an answer as of before it was public',
  async () => {
    const files = []
    for (const file of archiveFiles([folder], { wanted: whole ? () => true : isOfThatTime })) {
      if (!whole && file.name.startsWith('prices-') && !/-202102(08|09|1[0-7])/.test(file.name)) continue
      const known = dated(file)
      const lasting = /^(company_tickers|nasdaqlisted|otherlisted|shrt20210115|frames|cnsfails202101a)/.test(file.name)
      if (whole || ((lasting || known.availableAtMs >= from) && known.availableAtMs <= to)) files.push(known)
    }
    await expectNoLookAhead(files, { symbol: 'GME', ...(whole ? { moments: 40 } : { moments: 5, asked: some }) })
  },
  whole ? 3_600_000 : 240_000,
)

/** By the names of the archive: the rest is not even read. */
function isOfThatTime(name: string): boolean {
  if (name.startsWith('CNMS')) return /202102(08|09|1[0-7])/.test(name)
  if (name.startsWith('cnsfails')) return /202101[ab]/.test(name)
  return true
}
