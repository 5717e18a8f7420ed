import { Agent, request as httpsRequest } from 'node:https'

export type SignerExchange = (request: {
  method: 'GET' | 'POST'
  path: string
  body?: string
}) => Promise<{ code: number; body: string }>

export type SignerConnection = {
  /** Origin, https only. */
  url: string
  /** PEM: the authority of the signer, and the certificate and key that name this node to it. */
  ca: string
  cert: string
  key: string
  timeoutMs?: number
}

const answerBytesMax = 65_536

/** Requests over TLS 1.3 in which both sides prove who they are. */
export function signerExchange({ url, ca, cert, key, timeoutMs = 3_000 }: SignerConnection): SignerExchange {
  const agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 16, minVersion: 'TLSv1.3' })
  const origin = new URL(url).origin
  return ({ method, path, body }) =>
    new Promise((resolve, reject) => {
      const headers =
        body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const outgoing = httpsRequest(`${origin}${path}`, { agent, method, headers }, (incoming) => {
        const chunks: Buffer[] = []
        let size = 0
        incoming.on('data', (chunk: Buffer) => {
          size += chunk.byteLength
          if (size > answerBytesMax) outgoing.destroy(new Error('the answer is too large'))
          else chunks.push(chunk)
        })
        incoming.on('error', fail)
        incoming.on('end', () => {
          clearTimeout(timer)
          resolve({ code: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
        })
      })
      const timer = setTimeout(() => outgoing.destroy(new Error('timeout')), timeoutMs)
      const fail = (error: Error) => {
        clearTimeout(timer)
        reject(error)
      }
      outgoing.on('error', fail)
      outgoing.end(body)
    })
}
