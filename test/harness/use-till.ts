import { afterAll, beforeAll } from 'vitest'
import { expectSoundBooks } from './invariants.ts'
import { type FixtureOptions, openTill, type TillFixture } from './till-fixture.ts'

/** One till for all tests of a file: opened before them, closed after them with its books sound. */
export function useTill(options: FixtureOptions = {}): TillFixture {
  let opened: TillFixture
  beforeAll(async () => {
    opened = await openTill(options)
  })
  afterAll(async () => {
    await expectSoundBooks(opened)
    await opened.close()
  })
  return new Proxy({} as TillFixture, { get: (_, name) => opened[name as keyof TillFixture] })
}
