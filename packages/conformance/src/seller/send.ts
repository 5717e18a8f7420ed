import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

export type SendOptions = {
  method?: string
  /** The request target, when it is not that of the route. */
  path?: string
  headers?: Record<string, string>
  body?: string | undefined
  /**
   * The connection is half closed this long after the request was written. A seller that was faster is heard to the end:
   * bytes on their way when the line is cut would be an answer for it and nothing for us.
   */
  hangUpMs?: number
  /** The connection is destroyed after so many bytes of the answer, and what was read is lost. */
  cutAfterBytes?: number
}

const answerMsMax = 60_000
const answerBytesMax = 8 * 1024 * 1024
const noAnswer: Answer = { status: 0, headers: {}, body: '' }

/** Sockets take IPv6 addresses without the brackets that URLs need. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Sent as written: no client library corrects the path or the host. Resolves with status 0 when nothing came back. */
export function send(url: URL, options: SendOptions & { method: string }): Promise<Answer> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const sent = request(
      {
        host: hostOf(url),
        port: url.port,
        path: options.path ?? `${url.pathname}${url.search}`,
        method: options.method,
        headers: { host: url.host, ...options.headers },
        timeout: answerMsMax,
        agent: false,
        maxHeaderSize: 256 * 1024,
      },
      (answer) => {
        const chunks: Buffer[] = []
        let bytes = 0
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          bytes += chunk.byteLength
          const max = options.cutAfterBytes ?? answerBytesMax
          if (bytes >= max) sent.destroy()
        })
        answer.on('error', () => resolve(noAnswer))
        answer.on('close', () => resolve(noAnswer))
        answer.on('end', () => {
          const body = Buffer.concat(chunks).toString('utf8')
          const isLost = options.cutAfterBytes !== undefined
          resolve(isLost ? noAnswer : { status: answer.statusCode ?? 0, headers: answer.headers, body })
        })
      },
    )
    sent.on('error', () => resolve(noAnswer))
    sent.on('timeout', () => sent.destroy())
    const { hangUpMs, cutAfterBytes } = options
    if (hangUpMs !== undefined) sent.once('finish', () => setTimeout(() => sent.socket?.end(), hangUpMs))
    if (cutAfterBytes === 0) sent.once('response', () => sent.destroy())
    sent.end(options.body)
  })
}
