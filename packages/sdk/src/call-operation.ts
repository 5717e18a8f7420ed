import type { LocalAccount } from 'viem'
import type { AssayClient, BuyOptions } from './client.ts'
import type { AssayResult } from './context.ts'
import { AssayError } from './errors.ts'
import { type Operations, operations } from './operations.generated.ts'
import { readJson } from './read-json.ts'
import { signRequest } from './sign-request.ts'

export type OperationId = keyof Operations

export type AnswerOf<Id extends OperationId> = Operations[Id]['answer']
export type BodyOf<Id extends OperationId> = Operations[Id]['input'] extends { body: infer Body } ? Body : never
export type QueryOf<Id extends OperationId> = Operations[Id]['input'] extends { query?: infer Query }
  ? NonNullable<Query>
  : never
/** One row of an operation that answers a list. */
export type RowOf<Id extends OperationId> = AnswerOf<Id> extends { data: (infer Row)[] } ? Row : never

export type OperationOptions = BuyOptions & {
  /** The node; default: paths resolve against the client's own base address. */
  baseUrl?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

export type OperationResult<Id extends OperationId> = { data: AnswerOf<Id>; result: AssayResult }

type Fetching = Pick<AssayClient, 'fetch'>

/** Who signs a free call (ERC-8128), and for which node. */
export type Signer = { node: string; account: Pick<LocalAccount, 'address' | 'signMessage'>; chainId?: number }

/**
 * Calls any operation of a node by its name, with input and answer typed from the node's own OpenAPI document. A paid one
 * is paid within the client's policy; what the node refuses is thrown with its own words.
 */
export async function callOperation<Id extends OperationId>(
  client: Fetching,
  id: Id,
  input: Operations[Id]['input'],
  options: OperationOptions = {},
): Promise<OperationResult<Id>> {
  const { baseUrl, headers, signal, ...buying } = options
  const { target, init } = requestOf(id, input)
  const url = baseUrl === undefined ? target : new URL(target, baseUrl)
  const sent = { ...init, headers: { ...init.headers, ...headers }, ...(signal === undefined ? {} : { signal }) }
  const result = await client.fetch(url, sent, buying)
  return { data: await readJson<AnswerOf<Id>>(result), result }
}

/** The same for the answer alone. */
export async function ask<Id extends OperationId>(
  client: Fetching,
  node: string,
  id: Id,
  input: Operations[Id]['input'],
  options: BuyOptions = {},
): Promise<AnswerOf<Id>> {
  return (await callOperation(client, id, input, { ...options, baseUrl: node })).data
}

/** The same for a free operation that the wallet signs. */
export async function askSigned<Id extends OperationId>(
  client: Fetching,
  id: Id,
  input: Operations[Id]['input'],
  { node, account, chainId }: Signer,
): Promise<AnswerOf<Id>> {
  const { target, init } = requestOf(id, input)
  const signed = await signRequest(new URL(target, node), init, {
    account,
    ...(chainId === undefined ? {} : { chainId }),
  })
  const headers = Object.fromEntries(signed.headers)
  return readJson(await client.fetch(signed.url, { ...init, headers }))
}

const pagesMax = 1_000

/** All pages of a list. */
export async function allPages<T>(
  read: (cursor: string | undefined) => Promise<{ data: T[]; next_cursor: string | null }>,
): Promise<T[]> {
  const rows: T[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await read(cursor)
    rows.push(...page.data)
    cursor = page.next_cursor ?? undefined
    if (cursor === undefined) return rows
  }
  // Half a list would pass for a whole one.
  throw new AssayError('answer_too_large', { detail: `more than ${pagesMax} pages` })
}

/** Without what is undefined, as JSON leaves it out. */
export function given<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}

function requestOf<Id extends OperationId>(id: Id, input: Operations[Id]['input']) {
  const { params, query, body } = input as Partial<Record<'params' | 'query' | 'body', Record<string, unknown>>>
  const { method, path } = operations[id]
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return {
    target: `${fillPath(path, params ?? {})}${queryText(query ?? {})}`,
    init: { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
  }
}

function fillPath(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? '')).replaceAll('%3A', ':'),
  )
}

function queryText(query: Record<string, unknown>): string {
  const rows = Object.entries(query).filter(([, value]) => value !== undefined)
  return rows.length === 0
    ? ''
    : `?${new URLSearchParams(rows.map(([name, value]) => [name, String(value)] as [string, string]))}`
}
