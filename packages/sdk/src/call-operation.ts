import type { AssayClient, BuyOptions } from './client.ts'
import type { AssayResult } from './context.ts'
import { type Operations, operations } from './operations.generated.ts'
import { readJson } from './read-json.ts'

export type OperationId = keyof Operations

export type OperationOptions = BuyOptions & {
  /** The node; default: paths resolve against the client's own base address. */
  baseUrl?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

export type OperationResult<Id extends OperationId> = { data: Operations[Id]['answer']; result: AssayResult }

/**
 * Calls any operation of a node by its name, with input and answer typed from the node's own OpenAPI document. A paid one
 * is paid within the client's policy; what the node refuses is thrown with its own words.
 */
export async function callOperation<Id extends OperationId>(
  client: AssayClient,
  id: Id,
  input: Operations[Id]['input'],
  options: OperationOptions = {},
): Promise<OperationResult<Id>> {
  const { baseUrl, headers, signal, ...buying } = options
  const { params, query, body } = input as Partial<Record<'params' | 'query' | 'body', Record<string, unknown>>>
  const { method, path } = operations[id]
  const target = `${fillPath(path, params ?? {})}${queryText(query ?? {})}`
  const init: RequestInit = {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
  const result = await client.fetch(baseUrl === undefined ? target : new URL(target, baseUrl), init, buying)
  return { data: await readJson<Operations[Id]['answer']>(result), result }
}

function fillPath(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? '')).replaceAll('%3A', ':'),
  )
}

function queryText(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string]))}`
}
