import { type AssayClientOptions, createAssayClient } from '../client.ts'
import type { AssayResult } from '../context.ts'
import type { FoundNode } from './look-at.ts'

export type BuyInput = {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

/** Buys once from a node that was found: at its host alone, and for no more than it was found to ask. */
export async function buyFrom(
  node: FoundNode,
  options: Omit<AssayClientOptions, 'baseUrl' | 'hosts' | 'maxPerCallUsd'> & { maxPerCallUsd?: string },
  input: BuyInput = {},
): Promise<AssayResult> {
  const url = fillIn(node.url, input)
  const client = createAssayClient({
    ...options,
    hosts: [url.host],
    maxPerCallUsd: options.maxPerCallUsd ?? node.priceUsd,
  })
  return client.fetch(url, {
    method: node.method,
    ...(input.body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(input.body) }),
  })
}

/** A template with its parameters; throws when one is missing. */
export function fillIn(template: string, { params = {}, query = {} }: BuyInput): URL {
  const filled = template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new RangeError(`the parameter ${name} is missing`)
    // A browser's URL would take these as steps to another route.
    if (value === '.' || value === '..') throw new RangeError(`the parameter ${name} is not a value of a path`)
    return encodeURIComponent(value)
  })
  const url = new URL(filled)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}
