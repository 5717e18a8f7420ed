import { Problem } from '../kernel/problem.ts'
import { type ArgumentPlace, isJson, type Tool } from './describe-tools.ts'

export type ToolRequest = { method: string; target: string; accept: string; body: Uint8Array | undefined }

/** The request that a tool call stands for. Values are checked by the route itself; only what cannot be written is refused here. */
export function buildRequest(tool: Tool, given: Readonly<Record<string, unknown>>): ToolRequest {
  const known = new Map(tool.places.map((place) => [place.name, place]))
  const unknown = Object.keys(given).filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new Problem('input_invalid', {
      detail: `${unknown.map((name) => name.slice(0, 128)).join(', ')} is not a known argument.`,
      extra: { arguments: [...known.keys()] },
    })
  const at = (place: ArgumentPlace['place']) =>
    tool.places.flatMap(({ name, field, place: where }) => {
      const value = where === place ? given[name] : undefined
      return value === undefined ? [] : [[field, value] as const]
    })
  const params = new Map(at('params'))
  const path = tool.route.path.replace(/:([^/]+)/g, (_, name: string) => pathSegment(name, params.get(name)))
  const query = new URLSearchParams(
    at('query').map(([name, value]) => [name, plainText(value)] as [string, string]),
  ).toString()
  const [whole] = at('whole_body')
  const body = tool.route.body ? JSON.stringify(whole ? whole[1] : Object.fromEntries(at('body'))) : undefined
  return {
    method: tool.route.method,
    target: query === '' ? path : `${path}?${query}`,
    accept: tool.route.representations?.find(isJson) ?? 'application/json',
    body: body === undefined ? undefined : Buffer.from(body),
  }
}

// Half of a surrogate pair has no UTF-8.
const halfPair = /\p{Surrogate}/u

function pathSegment(name: string, value: unknown): string {
  const writable = typeof value === 'string' && value !== '' && value !== '.' && value !== '..' && !halfPair.test(value)
  if (!writable)
    throw new Problem('input_invalid', { detail: `The argument ${name} is needed, a text that an address can hold.` })
  // A colon is no delimiter inside a path, and identifiers such as DIDs are routed with it.
  return encodeURIComponent(value).replaceAll('%3A', ':')
}

function plainText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
