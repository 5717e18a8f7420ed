import { anyText } from '@assay/protocol/any-text.fixture'
import { growthOf, linearAtMost } from '@assay/till/kernel/growth.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseLlmsTxt } from './crawl/llms-txt.ts'
import { isAllowed, parseRobots } from './crawl/robots.ts'
import { parseRsl } from './crawl/rsl.ts'
import { parseListing } from './crawl/sitemap.ts'
import { decodeText } from './page/decode-text.ts'
import { htmlTokens } from './page/html-tokens.ts'
import { readJsonLd } from './page/json-ld.ts'
import { readPage } from './page/read-page.ts'
import { normalText } from './page/text-digest.ts'
import { parseFile, parseMeta, parseTxt } from './proof/parse-proof.ts'
import { parseCursor } from './register/list-sources.ts'
import { parseLabels } from './score/evaluate-scores.ts'
import { parseRankLine } from './score/load-inputs.ts'
import { fillText, parsers, worstPieces } from './worst-inputs.fixture.ts'

const pieces = fc.constantFrom(
  '<',
  '>',
  '</',
  '<!--',
  '-->',
  '<script>',
  '</script>',
  '"',
  "'",
  '=',
  '&amp;',
  '&#x0;',
  '&',
  '<a href=',
  '<p',
  '<title>',
  '<![CDATA[',
  ']]>',
  '<?',
  '<!DOCTYPE',
  'User-agent: *',
  '\n',
  'Disallow: /*$',
  ':',
  ' ',
  'x',
  '\u0000',
  '\ud800',
  '{',
  '}',
  '[',
  ']',
  ',',
  'v=cm1; ',
  'tok=',
)
const noise = fc.oneof(
  anyText(),
  fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join('')),
)
const runs = { numRuns: 120 }

test('every parser of outside text gives a result for any text', () => {
  fc.assert(
    fc.property(noise, (text) => {
      for (const token of htmlTokens(text)) expect(token.kind).toBeTypeOf('string')
      const page = readPage(Buffer.from(text), 'https://example.com/a', new Map([['link', text.slice(0, 200)]]))
      expect('problem' in page || page.facts.textCharacters >= 0).toBe(true)
      const robots = parseRobots(text, 'assaybot')
      expect(isAllowed(robots, 'https://example.com/x?y=1')).toBeTypeOf('boolean')
      expect(parseListing(text).kind).toBeTypeOf('string')
      expect(parseRsl(text).status).toBeTypeOf('string')
      parseLlmsTxt(text, 'https://example.com/llms.txt')
      readJsonLd([text])
      expect(parseFile(text).status).toBeTypeOf('string')
      parseTxt(text)
      parseMeta(text)
      parseLabels(text)
      parseRankLine(text)
      parseCursor(text)
      expect(normalText(normalText(text))).toBe(normalText(text))
    }),
    runs,
  )
})

test('S24: no parser takes more than linear time on its worst input', () => {
  const slow: string[] = []
  for (const [name, parse] of Object.entries(parsers))
    for (const piece of worstPieces) {
      const growth = growthOf((length) => {
        const text = fillText(piece, length)
        return () => parse(text)
      }, 2_000)
      if (growth >= linearAtMost) slow.push(`${name} on ${JSON.stringify(piece)}: ${growth.toFixed(1)} times linear`)
    }
  expect(slow).toEqual([])
})

test('proof values survive the way they are published', () => {
  const token = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/)
  const account = fc.stringMatching(/^clm_[0-9a-hjkmnp-tv-z]{26}$/)
  fc.assert(
    fc.property(account, token, fc.stringMatching(/^0x[0-9a-f]{40}$/), (acct, tok, wallet) => {
      const pay = `eip155:8453:${wallet}`
      expect(parseTxt(`v=cm1; acct=${acct}; tok=${tok}; pay=${pay}`)).toMatchObject({ account: acct, token: tok, pay })
      expect(parseTxt(`pay=${pay};tok=${tok};v=cm1;acct=${acct}`)).toMatchObject({ account: acct, token: tok, pay })
      expect(parseMeta(`cm1 ${acct} ${tok}`)).toMatchObject({ account: acct, token: tok })
      expect(
        parseFile(JSON.stringify({ version: 'cm1', domain: 'X.com', claims: [{ account: acct, token: tok, pay }] })),
      ).toMatchObject({ status: 'ok', domain: 'x.com', claims: [{ account: acct, token: tok }] })
    }),
    runs,
  )
  expect(parseTxt('v=cm2; acct=a; tok=b')).toBeUndefined()
  expect(parseTxt('v=spf1 include:example.com ~all')).toBeUndefined()
})

test('S20, S21, S22: odd encodings, entity bombs and deep JSON are recorded, never followed', () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<title>x</title>', 'utf16le')])
  expect(decodeText(utf16, 'text/html')).toBe('<title>x</title>')
  expect(decodeText(Buffer.from([0xc3, 0x28]), 'text/html')).toBeUndefined()
  expect(decodeText(Buffer.from('a\u0000b'), 'text/html')).toBeUndefined()
  expect(decodeText(Buffer.from('+ADw-script+AD4-'), 'text/html; charset=utf-7')).toBeUndefined()
  expect(decodeText(Buffer.from([0xe4]), 'text/html; charset=iso-8859-1')).toBe('ä')
  const bomb =
    '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>https://x.com/&b;</loc></url></urlset>'
  expect(parseListing(bomb)).toMatchObject({ kind: 'malformed' })
  expect(parseListing('<!DOCTYPE x SYSTEM "file:///etc/passwd"><urlset/>')).toMatchObject({ kind: 'malformed' })
  expect(readJsonLd([`${'['.repeat(1_000_000)}`])).toMatchObject({ invalid: 1 })
  expect(parseFile(`${'['.repeat(20_000)}`)).toMatchObject({ status: 'malformed' })
})

test('a feed with a bracket in an attribute, references, CDATA and comments lists its pages', () => {
  const feed = `<?xml version="1.0"?><feed><link rel="license" title="a > b" href="https://x.com/l?a=1&amp;b=2"/>
    <entry><link href="https://x.com/a?c=1&#38;d=2"/><updated>2026-01-<!-- c -->02</updated></entry></feed>`
  expect(parseListing(feed)).toEqual({
    kind: 'feed',
    licences: ['https://x.com/l?a=1&b=2'],
    pages: [{ url: 'https://x.com/a?c=1&d=2', modifiedAt: '2026-01-02T00:00:00.000Z' }],
  })
  const rss =
    '<rss><channel><license>https://x.com/l?a=1&amp;b=2</license><item><link><![CDATA[https://x.com/b?c&d]]></link></item></channel></rss>'
  expect(parseListing(rss)).toMatchObject({
    licences: ['https://x.com/l?a=1&b=2'],
    pages: [{ url: 'https://x.com/b?c&d' }],
  })
})

test('robots.txt of RFC 9309: groups, longest match, wildcards, licences', () => {
  const robots = parseRobots(
    'User-agent: other\nDisallow: /\n\nUser-agent: AssayBot\nUser-agent: friend\nDisallow: /private/\nAllow: /private/open\nDisallow: /*.pdf$\nCrawl-delay: 2\n\nSitemap: https://x.com/s.xml\nLicense: https://x.com/l.xml # rsl',
    'assaybot',
  )
  expect(robots).toMatchObject({
    crawlDelaySeconds: 2,
    sitemaps: ['https://x.com/s.xml'],
    licences: ['https://x.com/l.xml'],
  })
  const allowed = (path: string) => isAllowed(robots, `https://x.com${path}`)
  expect(['/', '/private/open/a', '/a.pdf?x=1', '/robots.txt'].every(allowed)).toBe(true)
  expect(['/private/', '/private/a', '/a.pdf', '/%70rivate/a'].some(allowed)).toBe(false)
})

test('a page gives its main text, metadata, licence and citations', () => {
  const html = `<html lang="en"><head><title>T</title><meta name="author" content="A. Writer"><link rel="canonical" href="/a"><link rel="license" href="https://creativecommons.org/licenses/by-nc/4.0/deed.en">
    <script type="application/ld+json">{"@graph":[{"@type":"Article","publisher":{"name":"P"},"datePublished":"2026-01-02","correctionsPolicy":"/corrections"}]}</script></head>
    <body><nav>Home Menu About</nav><article><h1>Title</h1><p>The first paragraph says something &amp; ends.</p><section><p>The second one follows it <a href="https://other.org/x">here</a>.</p></section><p>The third is last.</p></article><footer>Footer</footer>
    <div class="comments"><p>A comment with <meta name="citation-market-verification" content="cm1 evil"></p></div></body></html>`
  const page = readPage(Buffer.from(html), 'https://example.com/a', new Map([['content-type', 'text/html']]))
  if ('problem' in page) throw new Error(page.detail)
  expect(page.text).toBe(
    'Title\nThe first paragraph says something & ends.\nThe second one follows it here.\nThe third is last.',
  )
  expect(page.facts).toMatchObject({
    authors: ['A. Writer'],
    publisher: 'P',
    corrections: true,
    canonical: 'https://example.com/a',
    citations: ['https://other.org/x'],
    verifications: [],
  })
  expect(page.facts.publishedAt).toBe('2026-01-02T00:00:00.000Z')
  expect(page.facts.licences).toMatchObject([{ kind: 'creative_commons', name: 'CC-BY-NC-4.0' }])
})
