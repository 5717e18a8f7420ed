import { expect, test } from 'vitest'
import { citePage } from './cite-page.ts'

const page = {
  url: 'https://example.com/short-squeeze',
  title: 'What a short squeeze is',
  authors: ['Ada Maria Lovelace', 'Example News Desk'],
  publisher: 'Example News',
  publishedAt: '2026-01-05T10:00:00.000Z',
  accessedAt: '2026-02-01T00:00:00.000Z',
}

test('the usual styles name author, date, title, site and address', () => {
  const { apa, mla, bibtex, markdown } = citePage(page)
  expect(apa).toBe(
    'Lovelace, A. M., & Example News Desk. (2026, January 5). What a short squeeze is. Example News. https://example.com/short-squeeze',
  )
  expect(mla).toBe(
    'Lovelace, Ada Maria, and Example News Desk. “What a short squeeze is.” Example News, 5 Jan. 2026, example.com/short-squeeze. Accessed 1 Feb. 2026.',
  )
  expect(bibtex).toBe(
    [
      '@misc{lovelace2026what,',
      '  author = {Ada Maria Lovelace and {Example News Desk}},',
      '  title = {{What a short squeeze is}},',
      '  year = {2026},',
      '  month = {1},',
      '  publisher = {Example News},',
      '  url = {https://example.com/short-squeeze},',
      '  urldate = {2026-02-01}',
      '}',
    ].join('\n'),
  )
  expect(markdown).toBe(
    '[What a short squeeze is](https://example.com/short-squeeze), Ada Maria Lovelace, Example News Desk, Example News, 2026-01-05',
  )
})

test('what a page does not say is left out', () => {
  const bare = { ...page, authors: [], publisher: undefined, publishedAt: undefined }
  expect(citePage(bare).apa).toBe('What a short squeeze is. (n.d.). https://example.com/short-squeeze')
  expect(citePage(bare).mla).toBe('“What a short squeeze is.” example.com/short-squeeze. Accessed 1 Feb. 2026.')
})

test('a title cannot break out of BibTeX or Markdown', () => {
  const hostile = { ...page, title: 'A } , note = {x} ](https://evil.test) \\end', url: 'https://example.com/a(b)c' }
  expect(
    citePage(hostile).markdown.startsWith(
      '[A } , note = {x} \\](https://evil.test) \\\\end](https://example.com/a%28b%29c)',
    ),
  ).toBe(true)
  const title = /title = \{(.*)\},\n {2}year/s.exec(citePage(hostile).bibtex)?.[1] ?? ''
  const depth = [...title.replaceAll(/\\[{}]/g, '')].map((letter) => (letter === '{' ? 1 : letter === '}' ? -1 : 0))
  let open = 0
  for (const step of depth) {
    open += step
    expect(open).toBeGreaterThanOrEqual(0)
  }
  expect(open).toBe(0)
})
