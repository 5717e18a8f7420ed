/** Data cannot run or load anything once a browser believes its content type. */
export function dataSecurityHeaders(https: boolean): readonly [string, string][] {
  return [
    ['X-Content-Type-Options', 'nosniff'],
    ...(https ? [['Strict-Transport-Security', 'max-age=31536000'] as [string, string]] : []),
  ]
}

/** What a browser may show. A page may loosen the policy for itself; nothing else needs to load anything. */
export function pageSecurityHeaders(https: boolean): readonly [string, string][] {
  return [
    ...dataSecurityHeaders(https),
    ['Referrer-Policy', 'no-referrer'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ]
}

/** JSON in all its kinds; text and images count as something to show. */
export function isData(contentType: string): boolean {
  return contentType.startsWith('application/')
}

// Written by the seller's side alone; a handler that names one of these is ignored.
const reserved = new Set([
  'content-type',
  'content-length',
  'content-digest',
  'transfer-encoding',
  'connection',
  'signature',
  'signature-input',
  'payment-required',
  'payment-response',
  'payment-receipt',
  'www-authenticate',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'date',
])

export function isReserved(lowerName: string): boolean {
  return reserved.has(lowerName) || lowerName.startsWith('access-control-')
}

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/** Header text with everything that could end the line, or is no ASCII, percent-encoded. */
export function safeHeaderValue(value: string): string {
  // Through UTF-8 and back first: a lone surrogate cannot be percent-encoded.
  return Buffer.from(value)
    .toString()
    .replace(/[^\t\x20-\x7e]/gu, (unit) => encodeURIComponent(unit))
}

export function isHeaderName(name: string): boolean {
  return headerName.test(name)
}
