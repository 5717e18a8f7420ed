import { systemClock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { makePdf } from '../../make-pdf.ts'
import { createPdfReader } from './pdf-process-adapter.ts'
import { readDocument } from './read-document.ts'
import { isNearCopy, parseSketch, type Sketch, textSketch } from './text-sketch.ts'

const readPdf = createPdfReader(systemClock)
const headers = (type: string, more: Record<string, string> = {}) =>
  new Map(Object.entries({ 'content-type': type, ...more }))

test('the text of a PDF is read in its own process, and its headers carry its terms', async () => {
  const bytes = await makePdf('Yearly report', new Date('2026-02-03T00:00:00Z'), (pdf) =>
    pdf.text('Short interest rose by nine percent. '.repeat(20)),
  )
  const read = await readDocument(
    readPdf,
    { bytes, headers: headers('application/pdf', { 'x-robots-tag': 'noindex' }) },
    'https://a.org/r.pdf',
  )
  expect(read).toMatchObject({
    facts: { title: 'Yearly report', type: 'pdf', noIndex: true, publishedAt: '2026-02-03T00:00:00.000Z' },
  })
  expect('text' in read && read.text).toContain('Short interest rose by nine percent.')
})

test('a PDF that is broken, or takes longer than its limit, ends with its process and says so', async () => {
  const broken = { bytes: Buffer.from('%PDF-1.7 nothing'), headers: headers('application/pdf') }
  expect(await readDocument(readPdf, broken, 'https://a.org/b.pdf')).toEqual({
    problem: 'not_text',
    detail: 'the PDF cannot be read',
  })
  const hasty = createPdfReader(systemClock, { ms: 1 })
  expect(await hasty(await makePdf('Late', new Date(0), (pdf) => pdf.text('x')))).toEqual({
    problem: 'the PDF took longer than 0.001 s to read',
  })
})

test('plain text is text, whatever it looks like', async () => {
  const bytes = Buffer.from('Notes\n\nA <b> is no tag here, and 1 < 2.\n')
  expect(
    await readDocument(readPdf, { bytes, headers: headers('text/plain; charset=utf-8') }, 'https://a.org/n.txt'),
  ).toMatchObject({
    facts: { title: 'Notes', type: 'text' },
    text: 'Notes\n\nA <b> is no tag here, and 1 < 2.\n',
  })
})

test('a copy with another date is a near copy, another text is not', () => {
  const words = (seed: number) =>
    Array.from({ length: 300 }, (_, n) => `word${(n * n * 7 + seed * n * 13) % 4_001}`).join(' ')
  const sketch = (text: string) => parseSketch(textSketch(text)) as Sketch
  expect(isNearCopy(sketch(words(1)), sketch(`${words(1)} printed on 3 May`))).toBe(true)
  expect(isNearCopy(sketch(words(1)), sketch(words(2)))).toBe(false)
  expect(textSketch('too short to say')).toBe('')
})
