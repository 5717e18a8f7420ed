import { afterEach, beforeEach, expect, test } from 'vitest'
import { crawlTools } from '../sources/crawl/crawl.fixture.ts'
import { openSourceWorld, type SourceWorld } from '../sources/sources.fixture.ts'
import { answerMatch } from './answer-match.ts'
import { followPages } from './follow-pages.ts'
import { createMatchIndex } from './match-index.ts'
import type { MatchAnswer } from './match-schemas.ts'
import { openPostgresEngine } from './postgres-engine.ts'
import { readQuery } from './read-query.ts'

let world: SourceWorld
beforeEach(async () => {
  world = await openSourceWorld()
})
afterEach(() => world.close())

const { register, crawl, publish } = crawlTools(() => world)

/** An article that is no copy of another. */
const article = (title: string, seed: number) =>
  `<html><head><title>${title}</title></head><body><article><p>${title}. Short interest and ${Array.from({ length: 80 }, (_, n) => `w${seed}x${n}`).join(' ')}.</p></article></body></html>`

test('one name with hundreds of pages does not leave the answer almost empty', async () => {
  for (let n = 0; n < 5; n += 1) {
    // Every page of the crowd is a better hit than any other.
    for (const [at, url] of publish(`h${n}.crowd.com`, 49).entries())
      world.web.set(url, article('Short interest, short interest', 100 * n + at))
    await register(`h${n}.crowd.com`)
  }
  for (const [n, name] of ['lone.com', 'other.org', 'third.net'].entries()) {
    for (const [at, url] of publish(name, 3).entries()) world.web.set(url, article(url, 1_000 * (n + 1) + at))
    await register(name)
  }
  await crawl()
  const { database, clock, ids, log } = world.deps
  const engine = openPostgresEngine(database)
  const following = await followPages({ database, clock, log }, engine)
  await following.caughtUp
  await following.stop()
  const deps = {
    database,
    clock,
    ids,
    engine,
    log,
    paysCreators: true,
  }
  const { answer } = await answerMatch(deps, { query: 'short interest' }, `0x${'11'.repeat(20)}`)
  const { data } = JSON.parse(String(answer.body)) as MatchAnswer
  expect(data.length).toBe(10)
  const names = data.map(({ domain }) => domain.split('.').slice(-2).join('.'))
  expect(names.filter((name) => name === 'crowd.com').length).toBe(3)
  expect(new Set(names)).toEqual(new Set(['crowd.com', 'lone.com', 'other.org', 'third.net']))
})

test('the index leaves out a name with everything below it, and nothing that only ends like it', () => {
  const index = createMatchIndex()
  const doc = (pageId: number, domain: string) => ({
    pageId,
    domain,
    title: 'Rates',
    text: 'rates',
    language: '',
    licence: '',
    type: 'html',
    day: 0,
  })
  index.add(['crowd.com', 'a.crowd.com', 'b.a.crowd.com', 'notcrowd.com', 'com'].map((domain, n) => doc(n + 1, domain)))
  const found = index.search(readQuery('rates'), { notUnder: ['crowd.com'] }, 10)
  expect(found.candidates.map(({ domain }) => domain)).toEqual(['notcrowd.com', 'com'])
})
