import { sha256 } from '@assay/till/kernel/bytes'
import { isReserved } from '../crawl/tdm.ts'
import { decodeHtml } from './decode-text.ts'
import { headTags } from './document-head.ts'
import { type HtmlToken, htmlTokens } from './html-tokens.ts'
import { dateOf, readJsonLd, shortText } from './json-ld.ts'
import { type LicenceFinding, readLicence } from './licence.ts'
import { extractMainText } from './main-text.ts'
import { storable } from './storable.ts'
import { textDigest } from './text-digest.ts'
import { textSketch } from './text-sketch.ts'

/** What an address serves. */
export const contentTypes = ['html', 'text', 'pdf'] as const
export type ContentType = (typeof contentTypes)[number]

/** All that later steps know of a page: plain data, the same for the same bytes. */
export type PageFacts = {
  title: string
  language: string | undefined
  canonical: string | undefined
  /** The page in other languages, as it says itself (hreflang). */
  alternates: readonly string[]
  authors: readonly string[]
  publisher: string | undefined
  publishedAt: string | undefined
  modifiedAt: string | undefined
  jsonLd: { blocks: number; invalid: number; types: readonly string[] }
  openGraph: boolean
  /** Addresses outside of the site that its text or metadata cite. */
  citations: readonly string[]
  corrections: boolean
  ethics: boolean
  contact: boolean
  licences: readonly LicenceFinding[]
  textCharacters: number
  /** Sketch of the main text; see `textSketch`. */
  sketch: string
  retracted: boolean
  noIndex: boolean
  noSnippet: boolean
  /** `tdm-reservation` of the page itself; undefined: it says nothing. */
  tdmReserved: boolean | undefined
  type: ContentType
  /** There is next to no text, and scripts that would write one. */
  needsScript: boolean
  /** Values of `citation-market-verification` in the head as HTML defines it. */
  verifications: readonly string[]
}

export type ReadPage = {
  facts: PageFacts
  text: string
  contentSha256: Uint8Array
  textSha256: Uint8Array
  /** Same-site addresses, absolute and without fragment, in order. */
  links: readonly string[]
  feeds: readonly string[]
}

type Head = {
  title: string
  metas: Map<string, string[]>
  links: { rel: string; href: string; type: string; hreflang: string; inHead: boolean }[]
  jsonLd: string[]
  language: string | undefined
  anchors: { href: string; text: string }[]
  verifications: string[]
}

export type PageProblem = { problem: 'not_text' | 'needs_script'; detail: string }

/** Pure: bytes and headers in, facts out. `alias`: another host of the same site, whose addresses are its own. */
export function readPage(
  bytes: Uint8Array,
  url: string,
  headers: ReadonlyMap<string, string>,
  alias?: string,
): ReadPage | PageProblem {
  const contentType = headers.get('content-type')
  const html = decodeHtml(bytes, contentType)
  if (html === undefined) return { problem: 'not_text', detail: 'the bytes are not text in the encoding they claim' }
  if (/^\s*text\/(?:plain|markdown)\b/i.test(contentType ?? ''))
    return readPlain({ text: html, type: 'text' }, bytes, url, headers)
  const tokens = htmlTokens(html)
  const head = readHead(tokens)
  const found = extractMainText(tokens)
  const { text, needsScript } = chooseText(found.text, html, tokens, head)
  const main = { links: found.links, text: storable(text) }
  const site = new URL(url)
  const canonical = head.links.filter(({ rel, inHead }) => inHead && rel === 'canonical')
  const resolved = [...canonical, ...head.anchors].flatMap(({ href }) => resolve(href, site))
  resolved.push(...alternatesOf(head, site).map((href) => new URL(href)))
  for (const target of resolved) if (target.host === alias) target.host = site.host
  const links = [...new Set(resolved.filter((target) => target.host === site.host).map((target) => target.href))]
  return {
    facts: storable({ ...factsOf(head, main, site, headers), needsScript }),
    text: main.text,
    contentSha256: sha256(bytes),
    textSha256: textDigest(main.text),
    links: links.slice(0, 500),
    feeds: head.links
      .filter(({ rel, type }) => rel.split(/\s+/).includes('alternate') && /(?:rss|atom)\+xml/.test(type))
      .flatMap(({ href }) => resolve(href, site))
      .map((target) => target.href)
      .slice(0, 5),
  }
}

export type PlainDocument = {
  text: string
  type: ContentType
  title?: string | undefined
  authors?: readonly string[]
  publishedAt?: string | undefined
  modifiedAt?: string | undefined
}

/** A document without markup: a text file, or what a PDF says. Its terms are in the headers. */
export function readPlain(
  document: PlainDocument,
  bytes: Uint8Array,
  url: string,
  headers: ReadonlyMap<string, string>,
): ReadPage {
  const text = storable(document.text.slice(0, plainCharactersMax))
  const nothing = { metas: new Map(), links: [], jsonLd: [], language: undefined, anchors: [], verifications: [] }
  const title = shortText(document.title ?? '') || shortText(text.split('\n').find((line) => line.trim() !== '') ?? '')
  const facts = factsOf({ ...nothing, title }, { text, links: [] }, new URL(url), headers)
  const { type, authors = [], publishedAt, modifiedAt } = document
  return {
    facts: storable({
      ...facts,
      type,
      authors: authors.map(shortText).filter(Boolean).slice(0, 20),
      publishedAt,
      modifiedAt,
    }),
    text,
    contentSha256: sha256(bytes),
    textSha256: textDigest(text),
    links: [],
    feeds: [],
  }
}

const plainCharactersMax = 400_000
const readableCharacters = 200
const mountPoint =
  /<(?:div|main|app-root)\b[^>]{0,300}\bid\s*=\s*["']?(?:root|app|__next|__nuxt|___gatsby|svelte|main-app)\b|<app-root\b/i
const asksForScript = /<noscript[^>]{0,200}>(?:(?!<\/noscript)[\s\S]){0,2000}?javascript/i

/**
 * The main text. A page that writes its text by scripts has next to none; where its JSON-LD carries the article, that
 * is the text.
 */
function chooseText(
  text: string,
  html: string,
  tokens: readonly HtmlToken[],
  head: Head,
): { text: string; needsScript: boolean } {
  if (text.length >= readableCharacters) return { text, needsScript: false }
  const article = readJsonLd(head.jsonLd).articleBody
  if (article !== undefined && article.length >= readableCharacters) return { text: article, needsScript: false }
  const scripted = tokens.some((token) => token.kind === 'open' && token.name === 'script')
  return { text, needsScript: scripted && (mountPoint.test(html) || asksForScript.test(html)) }
}

const alternatesOf = ({ links }: Head, site: URL): string[] =>
  links
    .filter(({ rel, hreflang, inHead }) => inHead && hreflang !== '' && rel.split(/\s+/).includes('alternate'))
    .flatMap(({ href }) => resolve(href, site))
    .map(({ href }) => href)

function readHead(tokens: readonly HtmlToken[]): Head {
  const head: Head = {
    title: '',
    metas: new Map(),
    links: [],
    jsonLd: [],
    language: undefined,
    anchors: [],
    verifications: readVerifications(tokens),
  }
  let inside: 'title' | 'json_ld' | 'anchor' | undefined
  let bodyStarted = false
  for (const token of tokens) {
    if (token.kind === 'text') {
      if (inside === 'title' && head.title === '') head.title = shortText(token.text)
      else if (inside === 'json_ld') head.jsonLd.push(token.text)
      else if (inside === 'anchor') {
        const anchor = head.anchors.at(-1)
        if (anchor && anchor.text.length < 200) anchor.text += token.text
      }
      continue
    }
    if (token.kind === 'close') {
      if (token.name === 'head') bodyStarted = true
      inside = token.name === 'a' || token.name === 'title' || token.name === 'script' ? undefined : inside
      continue
    }
    const { name, attributes } = token
    if (name === 'body') bodyStarted = true
    if (name === 'html') head.language = attributes.get('lang')?.slice(0, 20)
    else if (name === 'title') inside = 'title'
    else if (name === 'script')
      inside = attributes.get('type')?.trim().toLowerCase() === 'application/ld+json' ? 'json_ld' : undefined
    else if (name === 'a') {
      inside = 'anchor'
      if (head.anchors.length < 2_000) head.anchors.push({ href: attributes.get('href') ?? '', text: '' })
    } else if (name === 'link' && head.links.length < 200)
      head.links.push({
        rel: (attributes.get('rel') ?? '').toLowerCase(),
        href: attributes.get('href') ?? '',
        type: (attributes.get('type') ?? '').toLowerCase(),
        hreflang: attributes.get('hreflang') ?? '',
        inHead: !bodyStarted,
      })
    // Looser than for proofs: a robots tag counts even where a stray element ended the head.
    else if (name === 'meta' && !bodyStarted) addMeta(head, attributes)
  }
  return head
}

function readVerifications(tokens: readonly HtmlToken[]): string[] {
  const found: string[] = []
  for (const { name, attributes } of headTags(tokens))
    if (
      name === 'meta' &&
      found.length < 10 &&
      attributes.get('name')?.trim().toLowerCase() === 'citation-market-verification'
    )
      found.push(attributes.get('content') ?? '')
  return found
}

function addMeta(head: Head, attributes: ReadonlyMap<string, string>): void {
  const key = (attributes.get('name') ?? attributes.get('property') ?? '').toLowerCase()
  if (key === '' || head.metas.size > 200) return
  const values = head.metas.get(key) ?? []
  if (values.length < 20) values.push(attributes.get('content') ?? '')
  head.metas.set(key, values)
}

function factsOf(
  head: Head,
  main: { text: string; links: readonly { href: string }[] },
  site: URL,
  headers: ReadonlyMap<string, string>,
): PageFacts {
  const linked = readJsonLd(head.jsonLd)
  const meta = (...names: string[]) =>
    names
      .flatMap((name) => head.metas.get(name) ?? [])
      .map(shortText)
      .filter(Boolean)
  const cited = main.links.flatMap(({ href }) => resolve(href, site)).filter((target) => target.host !== site.host)
  const directives = [...meta('robots', 'assaybot'), ...directivesForUs(headers.get('x-robots-tag') ?? '')]
  const policy = (pattern: RegExp) =>
    head.anchors.some((anchor) => pattern.test(anchor.text) || pattern.test(anchor.href))
  // It decides who is paid for a citation, so a comment in the body must not set it.
  const canonicalLink = head.links.find(({ rel, inHead }) => inHead && rel === 'canonical')?.href
  return {
    title: meta('og:title')[0] ?? head.title,
    language: head.language,
    canonical: canonicalLink === undefined ? undefined : resolve(canonicalLink, site)[0]?.href,
    alternates: alternatesOf(head, site).slice(0, 50),
    authors: [
      ...new Set([...linked.authors, ...meta('author', 'article:author', 'dc.creator', 'citation_author')]),
    ].slice(0, 20),
    publisher: linked.publisher ?? meta('og:site_name', 'dc.publisher', 'citation_publisher')[0],
    publishedAt:
      linked.publishedAt ??
      meta('article:published_time', 'dc.date', 'date', 'citation_publication_date').map(dateOf).find(Boolean),
    modifiedAt: linked.modifiedAt ?? meta('article:modified_time', 'last-modified').map(dateOf).find(Boolean),
    jsonLd: { blocks: linked.blocks, invalid: linked.invalid, types: linked.types },
    openGraph: head.metas.has('og:title'),
    citations: [
      ...new Set([
        ...cited.map((target) => target.href),
        ...linked.citations.filter((url) => URL.canParse(url) && new URL(url).host !== site.host),
      ]),
    ].slice(0, 100),
    corrections: linked.policies.includes('correctionsPolicy') || policy(/\bcorrections?\b/i),
    ethics:
      linked.policies.some((name) => name === 'ethicsPolicy' || name === 'publishingPrinciples') ||
      policy(/\b(?:ethics|editorial (?:policy|guidelines|standards)|publishing principles)\b/i),
    contact: linked.contact || policy(/^(?:mailto:|.*\bcontact\b)/i),
    licences: licencesOf(head, linked.licence, site, headers),
    textCharacters: main.text.length,
    sketch: textSketch(main.text),
    retracted: linked.retracted,
    noIndex: directives.some((value) => /\b(?:noindex|none)\b/i.test(value)),
    noSnippet: directives.some((value) => /\bnosnippet\b|\bmax-snippet\s*:\s*0\b/i.test(value)),
    tdmReserved: isReserved(headers.get('tdm-reservation')) ?? isReserved(meta('tdm-reservation')[0]),
    type: 'html',
    needsScript: false,
    verifications: head.verifications.map(shortText).filter(Boolean),
  }
}

/** `X-Robots-Tag` may name a crawler before its directives; what is meant for another one is not ours. */
function directivesForUs(header: string): string[] {
  let ours = true
  return header
    .slice(0, 2_000)
    .split(',')
    .filter((part) => {
      const [, agent] = /^\s*([a-z][a-z0-9_-]*)\s*:(?!\s*\d)/i.exec(part) ?? []
      if (
        agent !== undefined &&
        !/^(?:max-snippet|max-image-preview|max-video-preview|unavailable_after)$/i.test(agent)
      )
        ours = agent.toLowerCase() === 'assaybot'
      return ours
    })
}

function licencesOf(
  head: Head,
  jsonLd: string | undefined,
  site: URL,
  headers: ReadonlyMap<string, string>,
): LicenceFinding[] {
  const found: (LicenceFinding | undefined)[] = []
  for (const { rel, href, type } of head.links)
    if (rel.split(/\s+/).includes('license'))
      for (const target of resolve(href, site))
        found.push(readLicence(target.href, 'link_element', type === 'application/rsl+xml'))
  for (const [, href = '', parameters = ''] of (headers.get('link') ?? '')
    .slice(0, 8_192)
    .matchAll(/<([^<>]{1,2000})>([^,<]{0,500})/g))
    if (/;\s*rel="?license"?/i.test(parameters))
      for (const target of resolve(href, site))
        found.push(readLicence(target.href, 'link_header', /rsl\+xml/i.test(parameters)))
  if (jsonLd !== undefined)
    for (const target of resolve(jsonLd, site)) found.push(readLicence(target.href, 'json_ld', false))
  return found.filter((finding) => finding !== undefined).slice(0, 10)
}

/** Absolute http(s) address without fragment, or nothing. */
function resolve(href: string, site: URL): URL[] {
  const text = href.trim()
  if (text === '' || text.length > 2_048 || !URL.canParse(text, site.href)) return []
  const url = new URL(text, site)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return []
  url.hash = ''
  return url.href.length <= 2_048 ? [url] : []
}
