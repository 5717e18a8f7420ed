import { decodeEntities } from '../page/entities.ts'

export type XmlEvent =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string }

export class XmlRefused extends Error {}

const depthMax = 32
// A sitemap of five thousand entries has a tenth of it.
const eventsMax = 400_000

/**
 * Elements, attributes and text. There are no entities but the five of XML: a document with a DOCTYPE is refused, which
 * ends entity bombs and external entities before they begin.
 */
export function* xmlEvents(text: string): Generator<XmlEvent> {
  let at = 0
  let depth = 0
  for (let count = 0; at < text.length; count += 1) {
    if (count > eventsMax) throw new XmlRefused('the document has too many elements')
    const open = text.indexOf('<', at)
    const stop = open < 0 ? text.length : open
    if (stop > at) yield { kind: 'text', text: decodeEntities(text.slice(at, stop)) }
    if (open < 0) return
    if (text.startsWith('<!--', open)) at = after(text, '-->', open + 4)
    else if (text.startsWith('<![CDATA[', open)) {
      const end = text.indexOf(']]>', open + 9)
      if (end < 0) throw new XmlRefused('a CDATA section does not end')
      yield { kind: 'text', text: text.slice(open + 9, end) }
      at = end + 3
    } else if (text.startsWith('<?', open)) at = after(text, '?>', open + 2)
    else if (text.startsWith('<!', open)) throw new XmlRefused('a document type declaration is not read')
    else {
      const end = text.indexOf('>', open + 1)
      if (end < 0) throw new XmlRefused('a tag does not end')
      const inner = text.slice(open + 1, end)
      at = end + 1
      if (inner.startsWith('/')) {
        depth -= 1
        yield { kind: 'close', name: localName(inner.slice(1).trim()) }
        continue
      }
      const selfClosing = inner.endsWith('/')
      const name = localName(/^[^\s/]{1,100}/.exec(inner)?.[0] ?? '')
      yield { kind: 'open', name, attributes: attributesOf(inner) }
      if (selfClosing) yield { kind: 'close', name }
      else {
        depth += 1
        if (depth > depthMax) throw new XmlRefused('elements are nested too deeply')
      }
    }
  }
}

function after(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from)
  if (end < 0) throw new XmlRefused('a comment or instruction does not end')
  return end + mark.length
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1).toLowerCase()

function attributesOf(inner: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single] of inner
    .slice(0, 8_192)
    .matchAll(/([A-Za-z_][\w.:-]{0,60})\s{0,8}=\s{0,8}(?:"([^"]{0,4096})"|'([^']{0,4096})')/g))
    if (!attributes.has(localName(name))) attributes.set(localName(name), decodeEntities(double ?? single ?? ''))
  return attributes
}
