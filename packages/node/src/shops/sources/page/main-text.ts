import type { HtmlToken } from './html-tokens.ts'
import { oneSpaced } from './text-digest.ts'

export type MainText = {
  /** Paragraphs joined by newlines; the text that quotes are checked against, before normalising. */
  text: string
  /** Links inside it that lead away from the site are its citations. */
  links: readonly { href: string; text: string; rel: string }[]
}

/** What a block holds directly or through its inline children. */
type Block = {
  depth: number
  weight: number
  parts: (string | Block)[]
  characters: number
  linkCharacters: number
  links: Link[]
  parent: Block | undefined
  bonus: number
}
type Link = { href: string; text: string; rel: string }

const containers = new Set(['body', 'main', 'article', 'section', 'div', 'td', 'blockquote', 'center', 'form'])
const paragraphs = new Set(['p', 'pre', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'dd', 'dt', 'figcaption', 'tr', 'br'])
const never = new Set([
  'nav',
  'footer',
  'aside',
  'header',
  'script',
  'style',
  'button',
  'select',
  'svg',
  'dialog',
  'menu',
  'head',
])
const unlikely =
  /\b(?:comment|sidebar|nav|menu|footer|header|breadcrumb|cookie|banner|promo|share|social|related|advert|ads?|newsletter|subscribe|popup|modal)\b/i
const likely = /\b(?:article|content|main|post|entry|story|body|text)\b/i
const voidTags = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
])
const depthMax = 200
const charactersMax = 400_000

/**
 * The text of a page without its frame. In the spirit of readability: each block is scored by how much running text it
 * holds and how little of it is links, a block passes most of its weight to its parent, and the heaviest one wins.
 */
export function extractMainText(tokens: Iterable<HtmlToken>): MainText {
  const root = newBlock(undefined, 0, 0)
  const blocks: Block[] = [root]
  let current = root
  let hidden = 0
  let total = 0
  let link: Link | undefined
  const open: { name: string; hides: boolean; block: Block | undefined }[] = []
  for (const token of tokens) {
    if (token.kind === 'text') {
      if (hidden > 0 || total > charactersMax) continue
      // A soft hyphen is no part of the word that it may divide.
      const words = oneSpaced(token.text.replaceAll('\u00ad', ''))
      total += words.length
      addText(current, words, link)
    } else if (token.kind === 'open') {
      const hides = isHidden(token.name, token.attributes)
      if (token.name === 'a')
        link = { href: token.attributes.get('href') ?? '', text: '', rel: token.attributes.get('rel') ?? '' }
      if (paragraphs.has(token.name)) current.parts.push('\n')
      if (voidTags.has(token.name) || token.selfClosing || open.length >= depthMax) continue
      const block =
        !hides && containers.has(token.name)
          ? newBlock(current, open.length, bonusOf(token.name, token.attributes))
          : undefined
      if (block) {
        blocks.push(block)
        current.parts.push('\n', block, '\n')
        current = block
      }
      if (hides) hidden += 1
      open.push({ name: token.name, hides, block })
    } else {
      if (token.name === 'a' && link) {
        if (hidden === 0) current.links.push(link)
        link = undefined
      }
      if (paragraphs.has(token.name)) current.parts.push('\n')
      const index = open.findLastIndex((entry) => entry.name === token.name)
      if (index < 0) continue
      for (const entry of open.splice(index)) {
        if (entry.hides) hidden -= 1
        if (entry.block) current = entry.block.parent ?? root
      }
    }
  }
  return chosenText(blocks)
}

function newBlock(parent: Block | undefined, depth: number, bonus: number): Block {
  return { depth, weight: 0, parts: [], characters: 0, linkCharacters: 0, links: [], parent, bonus }
}

function isHidden(name: string, attributes: ReadonlyMap<string, string>): boolean {
  if (never.has(name)) return true
  if (attributes.size === 0) return false
  if (attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true
  if (!containers.has(name) && name !== 'ul' && name !== 'ol') return false
  if (name === 'body' || name === 'main' || name === 'article') return false
  const hint = `${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''} ${attributes.get('role') ?? ''}`
  return unlikely.test(hint) && !likely.test(hint)
}

function bonusOf(name: string, attributes: ReadonlyMap<string, string>): number {
  if (name === 'article' || name === 'main' || attributes.get('role') === 'main') return 1.5
  if (attributes.size === 0) return 1
  const hint = `${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`
  return likely.test(hint) ? 1.25 : 1
}

function addText(block: Block, words: string, link: Link | undefined): void {
  if (words === '') return
  block.parts.push(words)
  block.characters += words.length
  if (link) {
    block.linkCharacters += words.length
    if (link.text.length < 300) link.text += words
  }
}

/** Most of a block's weight counts for its parent: an article in many sections is one text. */
function chosenText(blocks: readonly Block[]): MainText {
  for (const block of [...blocks].reverse()) {
    const linkShare = block.characters === 0 ? 0 : block.linkCharacters / block.characters
    block.weight += block.characters * (1 - linkShare) * (block.bonus || 1)
    if (block.parent) block.parent.weight += block.weight * 0.7
  }
  const best = blocks.reduce((heaviest, block) => (block.weight > heaviest.weight ? block : heaviest))
  const inside = new Set<Block>([best])
  for (const block of blocks) if (block.parent && inside.has(block.parent)) inside.add(block)
  const chosen = blocks.filter((block) => inside.has(block))
  const text = render(best)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('\n')
  return { text, links: chosen.flatMap((block) => block.links).slice(0, 500) }
}

/** As deep as tags were followed, so never deeper than `depthMax`. */
function render(block: Block): string {
  return block.parts.map((part) => (typeof part === 'string' ? part : render(part))).join('')
}
