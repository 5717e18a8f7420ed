import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../kernel/problem.ts'
import { tooLarge } from '../selling/body-limit.ts'

/** Collects the body of a request; stops at the first chunk that would pass the limit and keeps nothing of it. */
export function readWholeBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Uint8Array> {
  // Only now is the caller asked to continue: a refused body is never sent at all.
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (finish: () => void) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      finish()
    }
    const onData = (chunk: Buffer) => {
      bytes += chunk.byteLength
      if (bytes <= maxBytes) chunks.push(chunk)
      else
        settle(() => {
          request.pause()
          reject(tooLarge(maxBytes))
        })
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, bytes)))
    const onClose = () => settle(() => reject(new Problem('bad_request', { detail: 'The body ended early.' })))
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}
