import { refuse } from './refused.ts'

/** An element with its text; children by name in order. Enough for RSS, and nothing more. */
export type XmlElement = { name: string; text: string; children: XmlElement[] }

const depthMax = 16
const elementsMax = 200_000
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * Reads XML without document types: no entities can be declared, so none can expand or reach outside.
 * Attributes are skipped. One pass, linear in the text.
 */
export function readXml(text: string): XmlElement {
  const root: XmlElement = { name: '', text: '', children: [] }
  const open: XmlElement[] = [root]
  let count = 0
  let at = 0
  while (at < text.length) {
    const next = text.indexOf('<', at)
    const end = next < 0 ? text.length : next
    const current = open[open.length - 1] as XmlElement
    if (end > at) current.text += decodeEntities(text.slice(at, end))
    if (next < 0) break
    if (text.startsWith('<!--', next)) at = after(text, '-->', next + 4)
    else if (text.startsWith('<![CDATA[', next)) {
      const close = after(text, ']]>', next + 9)
      current.text += text.slice(next + 9, close - 3)
      at = close
    } else if (text.startsWith('<?', next)) at = after(text, '?>', next + 2)
    else if (text.startsWith('<!', next)) refuse('xml', 'document types are not read')
    else {
      const close = after(text, '>', next + 1)
      const tag = text.slice(next + 1, close - 1)
      at = close
      if (tag.startsWith('/')) {
        if (open.length === 1 || current.name !== tag.slice(1).trim()) refuse('xml', 'elements are not nested properly')
        open.pop()
      } else {
        const element = { name: nameOf(tag), text: '', children: [] }
        current.children.push(element)
        count += 1
        if (count > elementsMax) refuse('xml', 'too many elements')
        if (!tag.endsWith('/')) open.push(element)
        if (open.length > depthMax) refuse('xml', 'nested too deeply')
      }
    }
  }
  const [top] = root.children
  if (open.length > 1 || !top || root.children.length !== 1 || root.text.trim() !== '')
    return refuse('xml', 'the document is cut off or has no single root')
  return top
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  if (found < 0) refuse('xml', 'the document is cut off')
  return found + mark.length
}

function nameOf(tag: string): string {
  const match = /^[A-Za-z_][\w:.-]{0,63}/.exec(tag)
  return match ? match[0] : refuse('xml', 'an element has no name')
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w{1,8});/g, (whole, name: string) => {
    if (name.startsWith('#x')) return codePoint(Number.parseInt(name.slice(2), 16))
    if (name.startsWith('#')) return codePoint(Number(name.slice(1)))
    return entities[name] ?? refuse('xml', `the entity ${whole} is not known`)
  })
}

function codePoint(code: number): string {
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCodePoint(code)
    : refuse('xml', 'a character reference names no character')
}
