/** A request as it is written to a socket. */
export function httpRequest(request: {
  url: URL
  method: string
  body: string | undefined
  headers: Record<string, string>
}): string {
  const { url, method, body, headers } = request
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}
