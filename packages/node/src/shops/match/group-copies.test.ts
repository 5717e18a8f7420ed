import { expect, test } from 'vitest'
import type { IndexedPage } from '../sources/pages/index.ts'
import { groupCopies } from './group-copies.ts'

let last = 0
const nextDigest = (): `0x${string}` => {
  last += 1
  return `0x${last}`
}
const page = (url: string, more: Partial<IndexedPage> = {}): { page: IndexedPage } => ({
  page: {
    url,
    registrable: new URL(url).hostname,
    canonical: url,
    namedCanonical: undefined,
    alternates: [],
    sketch: '',
    textSha256: nextDigest(),
    citeScore: 50,
    firstReadAt: new Date(last),
    ...more,
  } as IndexedPage,
})
const kept = (...pages: { page: IndexedPage }[]) => groupCopies(pages).map((one) => one.page.url)

test('pages with the same text take one place, and the better source holds it', () => {
  const same = { textSha256: '0xaa' as const }
  expect(
    kept(
      page('https://scraper.com/1', { ...same, citeScore: 20 }),
      page('https://other.com/'),
      page('https://origin.com/1', same),
    ),
  ).toEqual(['https://origin.com/1', 'https://other.com/'])
})

test('the page that a copy names as canonical goes before it, however well the copy scores', () => {
  const same = { sketch: '00000000ffffffff' }
  const copy = page('https://copy.com/1', { ...same, citeScore: 99, namedCanonical: 'https://origin.com/1' })
  expect(kept(copy, page('https://origin.com/1', { sketch: '00000000fffffffe', citeScore: 10 }))).toEqual([
    'https://origin.com/1',
  ])
})

test('a site cannot take the place of another by naming its pages', () => {
  const thief = page('https://thief.com/', { canonical: 'https://origin.com/1', alternates: ['https://origin.com/1'] })
  expect(kept(thief, page('https://origin.com/1'))).toHaveLength(2)
})

test('of translations that name each other the one that answers best stays', () => {
  const [en, de] = ['https://a.com/en', 'https://a.com/de']
  expect(kept(page(en, { alternates: [de], citeScore: 1 }), page(de, { alternates: [en] }))).toEqual([en])
})
