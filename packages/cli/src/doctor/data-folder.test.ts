import type { Config } from '@assay/node'
import { expect, test } from 'vitest'
import { databaseUrlOf } from './data-folder.ts'

test('the doctor read the database through the pooler, which refused it, and said nothing of the market data', async () => {
  const node = { readNote: async () => undefined }
  const pooled = {
    databaseUrl: 'postgresql://pooler/assay',
    databaseUrlDirect: 'postgresql://database/assay',
  } as Config
  expect(await databaseUrlOf(node, pooled)).toBe('postgresql://database/assay')
  expect(await databaseUrlOf(node, { ...pooled, databaseUrlDirect: undefined })).toBe('postgresql://pooler/assay')
})
