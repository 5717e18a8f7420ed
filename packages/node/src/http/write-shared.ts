import type { ServerResponse } from 'node:http'

/** A finished answer that only has to be written, and at once: the next request that finds it overwrites its last headers. */
export type SharedResponse = {
  status: number
  headers: string[]
  /** How many headers at the end differ from caller to caller. */
  changing: number
  /** A string where the bytes are ASCII: node then writes head and body in one piece. */
  body: Uint8Array | string
  /** When it is given. */
  atMs: number
  head?: WrittenHead | undefined
}

/** The head of an answer as node:http wrote it, cut where the headers are that differ from caller to caller. */
type WrittenHead = { before: string; after: string; writtenAtMs: number }

/** A head carries the time in seconds. */
const headMsMax = 1_000

type WithHead = ServerResponse & { _header?: unknown }

/**
 * A third of what an answer costs is that node:http checks and joins its headers, and those of a shared answer are the same
 * for seconds. So it writes the head once in a second, and until then the same text with the values of this caller stands for
 * it. Where a connection ends with this answer, or the field is not as we know it, node:http writes the head.
 */
export function writeShared(response: ServerResponse, answer: SharedResponse): void {
  const { head, atMs, body } = answer
  const stays = response.shouldKeepAlive && response.req.httpVersionMinor > 0
  if (head && stays && atMs - head.writtenAtMs < headMsMax) {
    response.statusCode = answer.status
    ;(response as WithHead)._header = head.before + changingLines(answer) + head.after
  } else {
    response.writeHead(answer.status, answer.headers)
    if (stays) answer.head = cutHead(response, answer)
  }
  if (typeof body === 'string') response.end(body, 'latin1')
  else response.end(body)
}

function changingLines({ headers, changing }: SharedResponse): string {
  let lines = ''
  for (let i = headers.length - 2 * changing; i < headers.length; i += 2)
    lines += `${headers[i]}: ${headers[i + 1]}\r\n`
  return lines
}

function cutHead(response: ServerResponse, answer: SharedResponse): WrittenHead | undefined {
  const { _header: head } = response as WithHead
  const lines = changingLines(answer)
  const at = typeof head === 'string' && head.endsWith('\r\n\r\n') ? head.indexOf(`\r\n${lines}`) : -1
  if (typeof head !== 'string' || at < 0) return undefined
  return { before: head.slice(0, at + 2), after: head.slice(at + 2 + lines.length), writtenAtMs: answer.atMs }
}
