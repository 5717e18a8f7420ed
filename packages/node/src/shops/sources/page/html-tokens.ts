import { decodeEntities } from './entities.ts'

export type HtmlToken =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string>; selfClosing: boolean }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string }

// Their content is text up to the matching end tag, whatever it looks like.
const rawText = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'noscript',
  'template',
  'iframe',
  'noembed',
  'noframes',
  'xmp',
])
const noText = new Set(['style', 'noscript', 'template', 'iframe', 'noembed', 'noframes', 'xmp'])

// Five megabytes of the smallest tags would keep the process busy for a second; no page that people read has so many.
const tokensMax = 150_000
// More than the main text of a page may have in all.
const textCharactersMax = 400_000

/** Tags and text of a page in one pass over its characters; every input, however broken, gives tokens and ends. */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0
  let look = 0
  for (let count = 0; at < html.length && count < tokensMax; count += 1) {
    let open = html.indexOf('<', look)
    // A sign that opens nothing is text like any other.
    while (open >= 0 && !opensTag(html.charCodeAt(open + 1))) open = html.indexOf('<', open + 1)
    const stop = open < 0 ? html.length : open
    if (stop > at) yield { kind: 'text', text: decodeEntities(html.slice(at, Math.min(stop, at + textCharactersMax))) }
    if (open < 0) return
    const next = html.charCodeAt(open + 1)
    if (isLetter(next)) {
      const tag = readTag(html, open + 1)
      at = tag.end
      yield { kind: 'open', name: tag.name, attributes: tag.attributes, selfClosing: tag.selfClosing }
      if (rawText.has(tag.name) && !tag.selfClosing) {
        const end = findEnd(html, tag.name, at)
        if (!noText.has(tag.name)) yield* rawTextOf(tag.name, html.slice(at, end))
        at = end
      }
    } else at = yield* skipOther(html, open, next)
    look = at
  }
}

/** A letter, or one of `/`, `!` and `?`. */
const opensTag = (unit: number) => isLetter(unit) || unit === 47 || unit === 33 || unit === 63
const isLetter = (unit: number) => (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)

function* rawTextOf(name: string, raw: string): Generator<HtmlToken> {
  if (raw !== '') yield { kind: 'text', text: name === 'script' ? raw : decodeEntities(raw) }
}

/** End tags, comments, doctypes. Returns where reading goes on. */
function* skipOther(html: string, open: number, next: number): Generator<HtmlToken, number> {
  if (next === 33 && html.startsWith('--', open + 2)) {
    return commentEnd(html, open + 4)
  }
  const end = html.indexOf('>', open + 2)
  const stop = end < 0 ? html.length : end
  if (next === 47 && isLetter(html.charCodeAt(open + 2))) {
    const [name = ''] = html
      .slice(open + 2, Math.min(stop, open + 66))
      .toLowerCase()
      .split(/[\s/>]/)
    yield { kind: 'close', name }
  }
  return end < 0 ? html.length : end + 1
}

/** A comment ends with `-->` or `--!>`, or at once with `>` or `->`. */
function commentEnd(html: string, from: number): number {
  if (html.charCodeAt(from) === 62) return from + 1
  if (html.startsWith('->', from)) return from + 2
  for (let at = html.indexOf('--', from); at >= 0; at = html.indexOf('--', at + 1)) {
    if (html.charCodeAt(at + 2) === 62) return at + 3
    if (html.charCodeAt(at + 2) === 33 && html.charCodeAt(at + 3) === 62) return at + 4
  }
  return html.length
}

/** The matching end tag, found without a pattern made from the page. Only templates nest. */
function findEnd(html: string, name: string, from: number): number {
  let depth = 1
  for (let at = html.indexOf('<', from); at >= 0; at = html.indexOf('<', at + 1)) {
    if (html.charCodeAt(at + 1) !== 47) {
      if (name === 'template' && isTagName(html, at + 1, name)) depth += 1
    } else if (isTagName(html, at + 2, name)) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return html.length
}

const isTagName = (html: string, at: number, name: string) =>
  isBreak(html.charCodeAt(at + name.length)) && html.slice(at, at + name.length).toLowerCase() === name

const attributesMax = 64
const valueCharactersMax = 8_192

const noAttributes = new Map<string, string>()

function readTag(html: string, start: number) {
  let at = start
  while (at < html.length && !isBreak(html.charCodeAt(at))) at += 1
  const name = html.slice(start, Math.min(at, start + 64)).toLowerCase()
  let attributes = noAttributes
  let selfClosing = false
  while (at < html.length) {
    const unit = html.charCodeAt(at)
    if (unit === 62) return { name, attributes, selfClosing, end: at + 1 }
    if (unit === 47) selfClosing = html.charCodeAt(at + 1) === 62
    if (unit === 47 || isSpace(unit)) {
      at += 1
      continue
    }
    const attribute = readAttribute(html, at)
    at = attribute.end
    if (attributes === noAttributes) attributes = new Map()
    if (attribute.name !== '' && attributes.size < attributesMax && !attributes.has(attribute.name))
      attributes.set(attribute.name, decodeEntities(attribute.value.slice(0, valueCharactersMax)))
  }
  return { name, attributes, selfClosing, end: html.length }
}

function readAttribute(html: string, start: number): { name: string; value: string; end: number } {
  // A stray equals sign begins a name, so that every call moves on.
  let at = start + 1
  while (at < html.length && html.charCodeAt(at) !== 61 && !isBreak(html.charCodeAt(at))) at += 1
  const name = html.slice(start, Math.min(at, start + 128)).toLowerCase()
  let look = at
  while (isSpace(html.charCodeAt(look))) look += 1
  if (html.charCodeAt(look) !== 61) return { name, value: '', end: at }
  at = look + 1
  while (isSpace(html.charCodeAt(at))) at += 1
  const quote = html.charCodeAt(at)
  if (quote === 34 || quote === 39) {
    const end = html.indexOf(quote === 34 ? '"' : "'", at + 1)
    const stop = end < 0 ? html.length : end
    return { name, value: html.slice(at + 1, stop), end: end < 0 ? html.length : end + 1 }
  }
  const from = at
  while (at < html.length && html.charCodeAt(at) !== 62 && !isSpace(html.charCodeAt(at))) at += 1
  return { name, value: html.slice(from, at), end: at }
}

const isSpace = (unit: number) => unit === 32 || (unit >= 9 && unit <= 13)
const isBreak = (unit: number) => unit === 62 || unit === 47 || isSpace(unit)
