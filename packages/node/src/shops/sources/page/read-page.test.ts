import { expect, test } from 'vitest'
import { readPage } from './read-page.ts'

const read = (head: string, body: string) => {
  const html = `<html><head>${head}</head><body><article><p>${body}</p></article></body></html>`
  const page = readPage(Buffer.from(html), 'https://a.test/', new Map())
  if ('problem' in page) throw new Error(page.detail)
  return page
}
// JSON shows half a character, and a NUL, as an escape; PostgreSQL refuses either in jsonb.
const unstorable = /\\u(?:d[89a-f][0-9a-f]{2}|0000)/

test('a title or text that is cut in the middle of a character can be stored', () => {
  const page = read(`<title>${'t'.repeat(299)}\u{1f600}</title>`, `${'x'.repeat(399_999)}\u{1f600} y`)
  expect(page.facts.title).toHaveLength(300)
  expect(JSON.stringify([page.facts, page.text])).not.toMatch(unstorable)
})

test('escapes of JSON-LD that are no characters can be stored', () => {
  const block = { '@type': 'NewsArticle', author: { name: 'A\u0000B \ud83d' }, publisher: { name: '\udc00' } }
  const page = read(`<script type="application/ld+json">${JSON.stringify(block)}</script>`, 'Words.')
  expect(page.facts.authors).toEqual(['AB \ufffd'])
  expect(JSON.stringify(page.facts)).not.toMatch(unstorable)
})

test('every character reference of HTML is read, and a soft hyphen does not divide a word', () => {
  expect(read('', 'caf&eacute; &Scaron;koda &notin;&nbsp;&#x1F600;&#x80; co&shy;operate AT&T &unknown;').text).toBe(
    'café Škoda ∉ \u{1f600}€ cooperate AT&T &unknown;',
  )
})

test('the encoding comes from BOM, header, meta tag, and only then from what the bytes can be', () => {
  const text = (bytes: Buffer, type = 'text/html') => {
    const page = readPage(bytes, 'https://a.test/', new Map([['content-type', type]]))
    return 'problem' in page ? page.problem : page.text
  }
  const html = (head: string, body: Buffer) =>
    Buffer.concat([Buffer.from(`<html><head>${head}</head><body><p>`), body, Buffer.from('</p></body></html>')])
  const cafe = Buffer.from('caf\u00e9', 'latin1')
  expect(text(html('', Buffer.from('café')))).toBe('café')
  expect(text(html('', cafe))).toBe('café')
  expect(text(html('<meta charset="iso-8859-1">', cafe))).toBe('café')
  expect(
    text(html('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">', Buffer.from([0xea]))),
  ).toBe('к')
  expect(text(html('<meta charset="shift_jis">', Buffer.from([0x93, 0xfa, 0x96, 0x7b])))).toBe('日本')
  // The header goes before the tag, a comment is no tag, and what is named must be true.
  expect(text(html('<meta charset="iso-8859-1">', Buffer.from('café')), 'text/html; charset=utf-8')).toBe('café')
  expect(text(html('<!-- <meta charset="iso-8859-5"> -->', cafe))).toBe('café')
  expect(text(html('<meta charset="utf-8">', cafe))).toBe('not_text')
})
