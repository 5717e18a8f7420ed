import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildSegment } from './build-segment.ts'
import { createMatchIndex } from './match-index.ts'
import { mergeSegments } from './merge-segments.ts'
import { hasPhrase, readQuery } from './read-query.ts'
import { createTermTable, findTerm, type IndexedDoc, type Segment, termAt } from './segment.ts'
import { decodeSegment, encodeSegment } from './segment-file.ts'
import { termShares } from './term-weights.ts'
import { createTokenRoom, readTokens } from './token-stream.ts'
import { tokenize } from './tokenize.ts'

/** Deterministic and quick; quality does not matter here. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

const words = fc.constantFrom('squeeze', 'short', 'token', 'mint', 'pause', 'agent', 'payment', 'usdc', 'base', 'cite')
const phrase = (max: number) => fc.array(words, { maxLength: max }).map((list) => list.join(' '))
const page = fc.record({
  domain: fc.constantFrom('a.test', 'b.test', 'c.test'),
  title: phrase(5),
  text: phrase(30),
  language: fc.constantFrom('en', 'de', ''),
  licence: fc.constantFrom('CC-BY-4.0', ''),
  type: fc.constantFrom('html', 'text'),
  day: fc.integer({ min: 0, max: 20_000 }),
})
const corpus = fc
  .array(page, { maxLength: 60 })
  .map((pages) => pages.map((one, index): IndexedDoc => ({ ...one, pageId: index * 3 + 1 })))

/** Every document scored with every term, without any pruning. */
function exhaustive(segments: readonly Segment[], query: ReadonlyMap<string, number>, limit: number) {
  const total = segments.reduce((sum, segment) => sum + segment.docCount, 0)
  const scores = new Map<number, number>()
  const count = (term: string) =>
    segments.reduce((sum, { terms, starts }) => {
      const id = findTerm(terms, term)
      return id < 0 ? sum : sum + (starts[id + 1] as number) - (starts[id] as number)
    }, 0)
  for (const [term, times] of query) {
    const found = count(term)
    const weight = Math.max(1, Math.round(1_000 * times * Math.log(1 + (total - found + 0.5) / (found + 0.5)) ** 1.3))
    for (const segment of segments) {
      const id = findTerm(segment.terms, term)
      if (id < 0) continue
      for (let at = segment.starts[id] as number; at < (segment.starts[id + 1] as number); at += 1) {
        const pageId = segment.pageIds[segment.docs[at] as number] as number
        scores.set(pageId, (scores.get(pageId) ?? 0) + weight * (segment.impacts[at] as number))
      }
    }
  }
  return [...scores]
    .sort(([a, one], [b, other]) => other - one || a - b)
    .slice(0, limit)
    .map(([pageId, score]) => ({ pageId, score }))
}

test('pruning finds exactly what scoring everything finds, over any number of segments', () => {
  fc.assert(
    fc.property(
      corpus,
      phrase(5),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 9 }),
      (docs, text, limit, size) => {
        const index = createMatchIndex()
        for (let at = 0; at < docs.length; at += size) index.adopt(buildSegment(docs.slice(at, at + size)))
        const query = readQuery(text)
        const found = index.hits(query, {}, limit).map(({ pageId, score }) => ({ pageId, score }))
        expect(found).toEqual(exhaustive(index.segments(), query.terms, limit))
      },
    ),
    { numRuns: 300 },
  )
})

test('over many windows of documents, common and rare words alike, pruning finds what scoring everything finds', () => {
  const random = createRandom(7)
  // The rank-th word is used about 1/rank as often as the first: some are on every page, some on one.
  const word = () => `w${Math.floor(1_500 ** random())}x`
  const pages = Array.from(
    { length: 22_000 },
    (_, at): IndexedDoc => ({
      pageId: at + 1,
      domain: `d${at % 50}.test`,
      title: `${word()} ${word()}`,
      text: Array.from({ length: 1 + Math.floor(random() * 9) }, word).join(' '),
      language: at % 3 === 0 ? 'de' : 'en',
      licence: '',
      type: 'html',
      day: at,
    }),
  )
  const index = createMatchIndex()
  index.adopt(buildSegment(pages.slice(0, 20_000)))
  index.adopt(buildSegment(pages.slice(20_000)))
  const german = new Set(pages.filter(({ language }) => language === 'de').map(({ pageId }) => pageId))
  for (let n = 0; n < 60; n += 1) {
    const query = readQuery(Array.from({ length: 1 + (n % 5) }, word).join(' '))
    const all = exhaustive(index.segments(), query.terms, pages.length)
    const plain = (limit: number, language?: string) =>
      index
        .hits(query, language === undefined ? {} : { language }, limit)
        .map(({ pageId, score }) => ({ pageId, score }))
    for (const limit of [1, 10, 200]) expect(plain(limit)).toEqual(all.slice(0, limit))
    expect(plain(20, 'de')).toEqual(all.filter(({ pageId }) => german.has(pageId)).slice(0, 20))
  }
})

test('what a page covers is the weight of the words of the query in it, however long it is, in every segment', () => {
  // Longer than what is kept of a page in reading order.
  const long = fc.tuple(fc.constant('filler '.repeat(450)), phrase(5)).map((parts) => parts.join(''))
  const pages = fc.array(fc.record({ title: phrase(3), text: fc.oneof(phrase(12), long) }), { maxLength: 20 })
  fc.assert(
    fc.property(pages, phrase(4), fc.integer({ min: 1, max: 9 }), (drawn, text, size) => {
      const docs = drawn.map(
        (one, at): IndexedDoc => ({
          ...one,
          pageId: at,
          domain: 'a.test',
          language: '',
          licence: '',
          type: '',
          day: 0,
        }),
      )
      const index = createMatchIndex()
      for (let at = 0; at < docs.length; at += size) index.adopt(buildSegment(docs.slice(at, at + size)))
      const { terms } = readQuery(text)
      const held = docs.map(({ title, text: body }) => new Set(tokenize(`${title} ${body}`)))
      const counts = new Map([...terms.keys()].map((term) => [term, held.filter((words) => words.has(term)).length]))
      const shares = termShares(terms, counts, docs.length)
      for (const { pageId, covered } of index.search(readQuery(text), {}, 20).candidates) {
        const expected = [...shares].reduce((sum, [term, share]) => (held[pageId]?.has(term) ? sum + share : sum), 0)
        expect(covered).toBeCloseTo(expected, 10)
      }
    }),
    { numRuns: 60 },
  )
})

test('merged segments hold the same postings as their parts', () => {
  fc.assert(
    fc.property(corpus, fc.integer({ min: 1, max: 20 }), (docs, size) => {
      const parts: Segment[] = []
      for (let at = 0; at < docs.length; at += size) parts.push(buildSegment(docs.slice(at, at + size)))
      const merged = mergeSegments(parts)
      const listed = (segments: readonly Segment[]) =>
        segments
          .flatMap((segment) =>
            Array.from({ length: segment.starts.length - 1 }, (_, term) =>
              Array.from(segment.docs.subarray(segment.starts[term], segment.starts[term + 1]), (doc, offset) =>
                [
                  termAt(segment.terms, term),
                  segment.pageIds[doc],
                  segment.domains[segment.domainOf[doc] as number],
                  segment.languages[segment.languageOf[doc] as number],
                  segment.licences[segment.licenceOf[doc] as number],
                  segment.types[segment.typeOf[doc] as number],
                  segment.dayOf[doc],
                  segment.impacts[(segment.starts[term] as number) + offset],
                ].join(' '),
              ),
            ).flat(),
          )
          .sort()
      expect(listed([merged])).toEqual(listed(parts))
    }),
    { numRuns: 100 },
  )
})

test('filters keep out what they say and nothing else', () => {
  fc.assert(
    fc.property(corpus, phrase(4), (docs, text) => {
      const index = createMatchIndex()
      index.add(docs)
      index.setScores([
        ['a.test', 40],
        ['b.test', 39],
      ])
      const query = readQuery(text)
      const all = index.hits(query, {}, 1_000).map(({ pageId }) => pageId)
      const some = index.hits(
        query,
        {
          domains: ['a.test', 'b.test'],
          language: 'en',
          licences: ['cc-by-4.0'],
          types: ['html'],
          sinceDay: 9_000,
          untilDay: 15_000,
          minScore: 40,
        },
        1_000,
      )
      const fits = new Set(
        docs
          .filter(
            (doc) => doc.domain === 'a.test' && doc.language === 'en' && doc.licence !== '' && doc.type === 'html',
          )
          .filter((doc) => doc.day >= 9_000 && doc.day <= 15_000)
          .map((doc) => doc.pageId),
      )
      expect(some.map(({ pageId }) => pageId)).toEqual(all.filter((id) => fits.has(id)))
    }),
    { numRuns: 100 },
  )
})

test('any text can be tokenised, and every term is found again in a table of terms', () => {
  fc.assert(
    fc.property(fc.array(anyText()), (texts) => {
      const terms = [...new Set(texts.flatMap(tokenize))]
      const table = createTermTable(terms)
      terms.forEach((term, index) => {
        expect(findTerm(table, term)).toBe(index)
        expect(termAt(table, index)).toBe(term)
      })
      expect(findTerm(table, 'neverthere ')).toBe(-1)
    }),
  )
})

test('a word that occurs nowhere is not taken for another: what it may have meant is only suggested', () => {
  const index = createMatchIndex()
  const base = { domain: 'a.test', language: 'en', licence: '', type: 'html', day: 1, text: '' }
  index.add([
    { ...base, pageId: 1, title: 'Short squeeze data' },
    { ...base, pageId: 2, title: 'Agent payments' },
  ])
  for (const slip of ['squeze', 'sqeueze', 'squeexe', 'squeezze'])
    expect(index.search(readQuery(slip), {}, 5)).toEqual({
      candidates: [],
      unknown: [slip],
      suggestions: { [slip]: 'squeeze' },
    })
  expect(index.search(readQuery('zzzzzz'), {}, 5)).toEqual({ candidates: [], unknown: ['zzzzzz'], suggestions: {} })
})

test('the terms of a page are kept in reading order, through merges too', () => {
  fc.assert(
    fc.property(corpus, fc.integer({ min: 1, max: 20 }), (docs, size) => {
      const parts: Segment[] = []
      for (let at = 0; at < docs.length; at += size) parts.push(buildSegment(docs.slice(at, at + size)))
      const merged = mergeSegments(parts)
      const room = createTokenRoom()
      docs.forEach((doc, at) => {
        const read = Array.from(room.subarray(0, readTokens(merged, at, room)), (term) =>
          term < 0 ? '|' : termAt(merged.terms, term),
        )
        expect(read).toEqual([...tokenize(doc.title), '|', ...tokenize(doc.text)])
      })
    }),
    { numRuns: 60 },
  )
})

test('a quoted phrase is read as neighbouring terms', () => {
  const { phrases, terms } = readQuery('who said "short squeeze" or “token control”')
  expect(phrases).toEqual([tokenize('short squeeze'), tokenize('token control')])
  expect(terms.get('token')).toBe(1)
  expect(hasPhrase(tokenize('the short squeezes of 2021'), tokenize('short squeeze'))).toBe(true)
  expect(hasPhrase(tokenize('a squeeze that was short'), tokenize('short squeeze'))).toBe(false)
})

test('a segment is the same after being written and read, and a changed byte is noticed', () => {
  fc.assert(
    fc.property(corpus, fc.nat(), (docs, at) => {
      const segment = buildSegment(docs)
      const bytes = encodeSegment(segment)
      expect(decodeSegment(bytes)).toEqual(segment)
      const altered = bytes.slice()
      altered[at % altered.length] = (altered[at % altered.length] as number) ^ 1
      expect(decodeSegment(altered)).toBeUndefined()
      expect(decodeSegment(bytes.slice(0, at % bytes.length))).toBeUndefined()
    }),
    { numRuns: 60 },
  )
})
