export type PaidRoute = { url: string; method: string; from: string; others: number }

type Operation = { 'x-payment-info'?: { price?: { amount?: unknown; min?: unknown } } }

/** What a seller's own documents say it sells: the cheapest, asked for with GET where there is such a route. */
export function paidRouteIn(origin: string, documents: { openapi: unknown; manifest: unknown }): PaidRoute | undefined {
  const fromOpenApi = operationsOf(origin, documents.openapi)
  const found = fromOpenApi.length > 0 ? fromOpenApi : resourcesOf(origin, documents.manifest)
  const [best] = [...found].sort((a, b) => Number(a.method !== 'GET') - Number(b.method !== 'GET') || a.usd - b.usd)
  if (best === undefined) return undefined
  return { url: best.url, method: best.method, from: best.from, others: found.length - 1 }
}

type Candidate = { url: string; method: string; from: string; usd: number }

/** Paths with parameters are left out: a made-up parameter would be answered with 404. */
function operationsOf(origin: string, document: unknown): Candidate[] {
  const { paths } = (document ?? {}) as { paths?: Record<string, Record<string, Operation>> }
  if (typeof paths !== 'object' || paths === null) return []
  return Object.entries(paths).flatMap(([path, operations]) => {
    const url = ownUrl(origin, path)
    if (url === undefined || path.includes('{') || typeof operations !== 'object' || operations === null) return []
    return Object.entries(operations).flatMap(([method, operation]) => {
      if (!/^(get|post|put|delete)$/.test(method) || operation?.['x-payment-info'] === undefined) return []
      const { price } = operation['x-payment-info'] ?? {}
      return [{ url, method: method.toUpperCase(), from: '/openapi.json', usd: usdOf(price?.amount ?? price?.min) }]
    })
  })
}

function resourcesOf(origin: string, document: unknown): Candidate[] {
  const { resources } = (document ?? {}) as { resources?: unknown }
  if (!Array.isArray(resources)) return []
  return resources.flatMap((resource: unknown) => {
    const url = typeof resource === 'string' ? ownUrl(origin, resource) : undefined
    return url === undefined ? [] : [{ url, method: 'GET', from: '/.well-known/x402', usd: Number.POSITIVE_INFINITY }]
  })
}

/** Whatever a document says, the doctor checks the address it was given. */
function ownUrl(origin: string, text: string): string | undefined {
  if (!URL.canParse(text, origin)) return undefined
  const url = new URL(text, origin)
  return url.origin === origin ? url.href : undefined
}

function usdOf(amount: unknown): number {
  const usd = Number(amount)
  return amount !== undefined && Number.isFinite(usd) ? usd : Number.POSITIVE_INFINITY
}
