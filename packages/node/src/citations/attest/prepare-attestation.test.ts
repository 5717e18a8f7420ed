import { expect, test } from 'vitest'
import { entryBytesMax } from '../log/index.ts'
import { reserve } from './prepare-attestation.ts'

test('a record that would not fit into the log is refused before it is paid', () => {
  const source = { url: `http://a.test/?${'\\'.repeat(2_000)}` }
  const fits = { id: 'clm_1', sources: Array.from({ length: 10 }, () => source) }
  expect(reserve(fits)).toMatchObject({ reservation: fits })
  const tooLong = { id: 'clm_1', sources: Array.from({ length: 16 }, () => source) }
  expect(JSON.stringify(tooLong).length).toBeLessThan(entryBytesMax)
  expect(() => reserve(tooLong)).toThrow('too long to be logged together')
})
