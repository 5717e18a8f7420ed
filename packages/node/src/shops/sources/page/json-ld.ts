import { jsonDepth } from '@assay/protocol/canonical-json'
import { parseJson } from '@assay/protocol/json-object'

export type JsonLdFacts = {
  blocks: number
  invalid: number
  types: readonly string[]
  authors: readonly string[]
  publisher: string | undefined
  publishedAt: string | undefined
  modifiedAt: string | undefined
  licence: string | undefined
  citations: readonly string[]
  policies: readonly string[]
  contact: boolean
  retracted: boolean
  /** The text of an article, where the block carries it. */
  articleBody: string | undefined
}

const depthMax = 32
const bytesMax = 200_000
const nodesMax = 500

type Node = Record<string, unknown>

const policyKeys = [
  'correctionsPolicy',
  'ethicsPolicy',
  'publishingPrinciples',
  'verificationFactCheckingPolicy',
  'ownershipFundingInfo',
] as const

/** What schema.org blocks of a page say. Text of theirs is data: it is kept short and never acted upon. */
export function readJsonLd(blocks: readonly string[]): JsonLdFacts {
  const nodes: Node[] = []
  let invalid = 0
  for (const block of blocks) {
    const parsed = parseBlock(block)
    if (parsed === undefined) invalid += 1
    else collect(parsed, nodes)
  }
  const first = (key: string) => nodes.map((node) => textOf(node[key])).find((text) => text !== undefined)
  return {
    blocks: blocks.length,
    invalid,
    types: unique(nodes.flatMap((node) => list(node['@type']).map(textOf))),
    authors: unique(nodes.flatMap((node) => list(node['author']).map(nameOf))),
    publisher: nodes.flatMap((node) => list(node['publisher']).map(nameOf)).find((name) => name !== undefined),
    publishedAt: dateOf(first('datePublished')),
    modifiedAt: dateOf(first('dateModified')),
    licence: nodes.flatMap((node) => list(node['license']).map(urlOf)).find((url) => url !== undefined),
    citations: unique(nodes.flatMap((node) => [...list(node['citation']), ...list(node['isBasedOn'])].map(urlOf))),
    policies: policyKeys.filter((key) => nodes.some((node) => urlOf(node[key]) !== undefined)),
    contact: nodes.some(
      (node) =>
        node['contactPoint'] !== undefined ||
        textOf(node['email']) !== undefined ||
        textOf(node['telephone']) !== undefined,
    ),
    articleBody: nodes
      .map((node) => node['articleBody'])
      .find((body): body is string => typeof body === 'string' && body.trim() !== ''),
    retracted:
      nodes.some((node) =>
        list(node['@type']).some(
          (type) => textOf(type) === 'CorrectionComment' && /retract/i.test(String(node['text'] ?? '')),
        ),
      ) || nodes.some((node) => /retracted/i.test(String(textOf(node['creativeWorkStatus']) ?? ''))),
  }
}

function parseBlock(block: string): unknown {
  const text = block.trim().replace(/^\s*(?:<!--|\/\/<!\[CDATA\[)|(?:-->|\/\/\]\]>)\s*$/g, '')
  if (text.length > bytesMax || jsonDepth(text) > depthMax) return undefined
  const value = parseJson(text)
  return typeof value === 'object' && value !== null ? value : undefined
}

/** Nodes at the top, in arrays and in @graph; what hangs deeper is read through its owner. */
function collect(value: unknown, nodes: Node[]): void {
  if (nodes.length >= nodesMax || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) collect(item, nodes)
    return
  }
  const node = value as Node
  nodes.push(node)
  if (node['@graph'] !== undefined) collect(node['@graph'], nodes)
  for (const key of ['mainEntity', 'mainEntityOfPage', 'publisher']) collect(node[key], nodes)
}

const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, 100) : value === undefined ? [] : [value]

export const shortText = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 300)

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? shortText(value) : undefined
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return textOf(value)
  return textOf((value as Node)['name'])
}

function urlOf(value: unknown): string | undefined {
  const raw = typeof value === 'object' && value !== null ? ((value as Node)['url'] ?? (value as Node)['@id']) : value
  return typeof raw === 'string' && URL.canParse(raw, 'https://any.example/') ? raw.slice(0, 2_048) : undefined
}

const unique = (texts: readonly (string | undefined)[]) =>
  [...new Set(texts.filter((text) => text !== undefined))].slice(0, 50)

/** ISO 8601 alone: what other notations mean depends on where one reads them. */
export function dateOf(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}(?:-\d{2})?(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(text))
    return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}
