import { vetUrl } from '../../outbound/vet-url.ts'
import { parseLlmsTxt } from './crawl/llms-txt.ts'
import { isAllowed, parseRobots } from './crawl/robots.ts'
import { parseRsl } from './crawl/rsl.ts'
import { parseListing } from './crawl/sitemap.ts'
import { canonicalDomain } from './domain/canonical-domain.ts'
import { decodeText } from './page/decode-text.ts'
import { readJsonLd } from './page/json-ld.ts'
import { readLicence } from './page/licence.ts'
import { readPage } from './page/read-page.ts'
import { normalText } from './page/text-digest.ts'
import { parseFile, parseMeta, parseTxt } from './proof/parse-proof.ts'
import { parseCursor } from './register/list-sources.ts'
import { parseLabels } from './score/evaluate-scores.ts'
import { parseRankLine } from './score/load-inputs.ts'

const at = 'https://example.com/'
const bytesOf = (text: string) => Buffer.from(text)
/** Everything that reads text from outside, each alone. */
export const parsers: Record<string, (text: string) => unknown> = {
  page: (text) => readPage(bytesOf(text), at, new Map()),
  linkHeader: (text) => readPage(bytesOf('<p>x</p>'), at, new Map([['link', text]])),
  contentType: (text) => decodeText(bytesOf('x'), text),
  jsonLd: (text) => readJsonLd([text]),
  listing: (text) => parseListing(text),
  rsl: (text) => parseRsl(text),
  llms: (text) => parseLlmsTxt(`# t\n${text}`, at),
  robots: (text) => isAllowed(parseRobots(`User-agent: *\n${text}`, 'assaybot'), `${at}${'a'.repeat(1_000)}`),
  robotsPath: (text) =>
    isAllowed(parseRobots('User-agent: *\nDisallow: /*a*b*c$', 'assaybot'), `${at}${text.slice(0, 2_000)}`),
  normalText: (text) => normalText(text),
  proofTxt: (text) => parseTxt(text),
  proofMeta: (text) => parseMeta(text),
  proofFile: (text) => parseFile(text),
  domain: (text) => canonicalDomain(text, { ownHosts: new Set(), demoHosts: new Set() }),
  url: (text) =>
    vetUrl(text, { plainHttp: true, ownHosts: new Set(), mapped: { hosts: new Set(), origins: new Set() } }),
  licence: (text) => readLicence(`https://creativecommons.org/licenses/${text}`, 'link_element', false),
  labels: (text) => parseLabels(text),
  rank: (text) => parseRankLine(text),
  cursor: (text) => parseCursor(text),
}

/** Repeated, these keep a parser looking for an end that never comes. */
export const worstPieces = [
  '<',
  '<a ',
  '&#',
  '<!--',
  '<div>',
  '[x](',
  'Disallow: /*a*a*a*a*a$\n',
  ' \n',
  ' ',
  '\t',
  'a',
  '-',
  '.',
  '0',
  '=',
  ';',
  '"',
  "'",
  '{',
  '[',
  '"a":',
  '<![CDATA[',
  '<a href="',
  'charset=',
  '</',
  '<script>',
  '%41',
  '*',
  '%',
  'a=b;',
  '\u00e9',
  '/',
]

export function fillText(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
}
