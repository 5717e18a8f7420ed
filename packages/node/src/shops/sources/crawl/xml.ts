import { Parser } from 'htmlparser2'

export type XmlEvent =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string }

export class XmlRefused extends Error {}

const depthMax = 32
// A sitemap of five thousand entries has a tenth of it.
const eventsMax = 400_000
const valueCharactersMax = 4_096
const chunkCharacters = 65_536

/**
 * Elements, attributes and text. There are no entities but the five of XML: a document with a DOCTYPE is refused, which
 * ends entity bombs and external entities before they begin. Read in pieces, so that a reader may stop early.
 */
export function* xmlEvents(text: string): Generator<XmlEvent> {
  let events: XmlEvent[] = []
  let count = 0
  let depth = 0
  let held = ''
  const push = (...added: XmlEvent[]) => {
    if (held !== '') events.push({ kind: 'text', text: held })
    held = ''
    events.push(...added)
    count += 1
    if (count > eventsMax) throw new XmlRefused('the document has too many elements')
  }
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1
        if (depth > depthMax) throw new XmlRefused('elements are nested too deeply')
        push({ kind: 'open', name: localName(name), attributes: attributesOf(attributes) })
      },
      onclosetag: (name) => {
        depth -= 1
        push({ kind: 'close', name: localName(name) })
      },
      ontext: (piece) => {
        held += piece
      },
      onprocessinginstruction: (name) => {
        if (name.startsWith('!')) throw new XmlRefused('a document type declaration is not read')
      },
      onend: () => push(),
    },
    { xmlMode: true },
  )
  for (let at = 0; at < text.length; at += chunkCharacters) {
    parser.write(text.slice(at, at + chunkCharacters))
    yield* events
    events = []
  }
  parser.end()
  yield* events
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1).toLowerCase()

// Where a name comes twice, with and without a prefix, the first counts.
const attributesOf = (attributes: Readonly<Record<string, string>>) =>
  new Map(
    Object.entries(attributes)
      .reverse()
      .map(([name, value]) => [localName(name), value.slice(0, valueCharactersMax)]),
  )
