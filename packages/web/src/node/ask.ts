import { readJson } from '@assay/protocol/json-object'
import { problemFrom } from './problem.ts'

/** An answer with all that is needed to check its signature. */
export type Answer<T> = { body: T; exchange: Exchange }
export type Exchange = { method: string; url: string; status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> }

export type AskOptions = { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal }

/** A free question. What the node refuses is thrown with the node's own words. */
export async function ask<T>(url: string, options: AskOptions = {}): Promise<Answer<T>> {
  const method = options.method ?? (options.body === undefined ? 'GET' : 'POST')
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const body = readJson(bytes)
  if (!response.ok) throw problemFrom(response.status, body)
  return { body: body as T, exchange: { method, url, status: response.status, headers: response.headers, bytes } }
}
