import { Tokenizer } from 'htmlparser2'

export type HtmlToken =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string>; selfClosing: boolean }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string }

const noText = new Set(['style', 'iframe', 'noembed', 'noframes', 'xmp'])
const noContent = new Set(['noscript', 'template'])

// Five megabytes of the smallest tags would keep the process busy for a second; no page that people read has so many.
const tokensMax = 150_000
// More than the main text of a page may have in all.
const textCharactersMax = 400_000
const attributesMax = 64
const valueCharactersMax = 8_192
const noAttributes: ReadonlyMap<string, string> = new Map()

/** Tags and text of a page, without the content of elements that show none. Linear in the length of the page. */
export function htmlTokens(html: string): HtmlToken[] {
  const tokens: HtmlToken[] = []
  let text = ''
  let textHidden = false
  let skipped = ''
  let depth = 0
  let name = ''
  let attributes: Map<string, string> | undefined
  let attribute = ''
  let value = ''
  const nameAt = (start: number, end: number) => html.slice(start, end).toLowerCase()
  const pushText = () => {
    if (text !== '') tokens.push({ kind: 'text', text })
    text = ''
  }
  const push = (token: HtmlToken) => {
    pushText()
    tokens.push(token)
    if (tokens.length >= tokensMax) tokenizer.pause()
  }
  const addText = (piece: string) => {
    if (!textHidden && depth === 0 && text.length < textCharactersMax) text += piece.slice(0, textCharactersMax)
  }
  const open = (selfClosing: boolean) => {
    textHidden = !selfClosing && noText.has(name)
    if (depth === 0) {
      push({ kind: 'open', name, attributes: attributes ?? noAttributes, selfClosing })
      if (!noContent.has(name) || selfClosing) return
      skipped = name
      depth = 1
    } else if (name === 'template' && skipped === name) depth += 1
  }
  const close = (closed: string) => {
    textHidden = false
    if (closed === skipped && depth > 0) depth -= 1
    if (depth === 0) push({ kind: 'close', name: closed })
  }
  const ignore = () => {}
  const tokenizer: Tokenizer = new Tokenizer(
    // Looking for entities, it reads text one character at a time.
    { decodeEntities: html.includes('&') },
    {
      onopentagname: (start, end) => {
        name = nameAt(start, end)
        attributes = undefined
      },
      onattribname: (start, end) => {
        attribute = nameAt(start, end)
        value = ''
      },
      onattribdata: (start, end) => {
        value += html.slice(start, end)
      },
      onattribentity: (codePoint) => {
        value += String.fromCodePoint(codePoint)
      },
      onattribend: () => {
        attributes ??= new Map()
        if (attributes.size < attributesMax && !attributes.has(attribute))
          attributes.set(attribute, value.slice(0, valueCharactersMax))
      },
      onopentagend: () => open(false),
      onselfclosingtag: () => open(true),
      onclosetag: (start, end) => close(nameAt(start, end)),
      ontext: (start, end) => addText(html.slice(start, end)),
      ontextentity: (codePoint) => addText(String.fromCodePoint(codePoint)),
      onend: pushText,
      oncomment: ignore,
      oncdata: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return tokens
}
