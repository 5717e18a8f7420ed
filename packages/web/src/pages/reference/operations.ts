import { usd } from '../../ui/format.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  format?: string
}

type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> }
type Price = { mode: string; amount?: string; min?: string; max?: string }

export type RawOperation = {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: {
    name: string
    in: string
    required?: boolean
    description?: string
    schema?: Schema
    example?: unknown
  }[]
  requestBody?: { content?: Record<string, Media> }
  responses?: Record<string, { description?: string; content?: Record<string, Media> }>
  security?: Record<string, unknown>[]
  'x-payment-info'?: { price: Price }
}

export type OpenApi = {
  paths: Record<string, Record<string, RawOperation>>
  components?: { schemas?: Record<string, Schema> }
}

export type Operation = {
  id: string
  method: string
  path: string
  summary: string
  tag: string
  price: string | undefined
  raw: RawOperation
}

const methods = new Set(['get', 'post', 'put', 'delete'])

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, raw]) => ({
        id: raw.operationId ?? `${method} ${path}`,
        method,
        path,
        summary: raw.summary ?? '',
        tag: raw.tags?.[0] ?? 'Others',
        price: priceText(raw['x-payment-info']?.price),
        raw,
      })),
  )
}

function priceText(price: Price | undefined): string | undefined {
  if (price === undefined) return undefined
  if (price.amount !== undefined) return usd(price.amount)
  return price.min === undefined ? 'paid' : `from ${usd(price.min)}`
}

export function tagsOf(operations: readonly Operation[]): [string, Operation[]][] {
  const tags = new Map<string, Operation[]>()
  for (const operation of operations) tags.set(operation.tag, [...(tags.get(operation.tag) ?? []), operation])
  return [...tags]
}

/** What a reference into the document points at, one step; others stay as they are. */
export function resolve<T extends object>(part: T & { $ref?: string }, document: OpenApi): T {
  const path = /^#\/(components\/.+)$/.exec(part.$ref ?? '')?.[1]?.split('/')
  const found = path?.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined),
    document,
  )
  return typeof found === 'object' && found !== null ? (found as T) : part
}

export function typeText(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return [...new Set(union.map(typeText))].join(' | ')
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'object'
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeText(schema.items)}`
  return [schema.type].flat().filter(Boolean).join(' | ') || 'anything'
}

export function exampleOf(media: Media | undefined): unknown {
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value
}
