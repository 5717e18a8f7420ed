import type { IncomingMessage, ServerResponse } from 'node:http'
import { isStream, type PlainResponse } from './plain.ts'

/** Bytes a slow reader may leave in our memory before its stream is cut. */
export const streamBufferBytesMax = 64 * 1024
const slowReaderMsMax = 10_000
const lingerMs = 1_000

export type WriteOptions = {
  draining: AbortSignal
  /** No further request on this connection. */
  close: boolean
}

export function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  plain: PlainResponse,
  options: WriteOptions,
): void {
  const { socket } = request
  if (socket.destroyed) {
    if (isStream(plain.body)) void plain.body[Symbol.asyncIterator]().return?.()
    return
  }
  const bodyLeft = !request.complete && announcesBody(request)
  if (bodyLeft || options.close || options.draining.aborted) plain.headers.push('Connection', 'close')
  response.writeHead(plain.status, plain.headers)
  if (isStream(plain.body)) {
    void writeStream(response, plain, options)
    return
  }
  const { body, delivered } = plain
  if (delivered || bodyLeft)
    response.end(body, () => {
      if (delivered && !socket.destroyed) delivered()
      if (bodyLeft) endUnread(request)
    })
  // ASCII goes out with the head in one piece, without being encoded.
  else if (typeof body === 'string' && Buffer.byteLength(body) === body.length) response.end(body, 'latin1')
  else response.end(body)
}

/** `complete` alone is not enough: a request without a body is not complete either while its first listener runs. */
function announcesBody({ rawHeaders }: IncomingMessage): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const { length } = rawHeaders[i] as string
    if (length !== 14 && length !== 17) continue
    const name = rawHeaders[i]?.toLowerCase()
    if (name === 'transfer-encoding' || (name === 'content-length' && rawHeaders[i + 1] !== '0')) return true
  }
  return false
}

/** The caller is still sending what nobody will read. Closing at once could lose our answer on its way, so it gets a moment. */
function endUnread(request: IncomingMessage): void {
  request.socket.end()
  setTimeout(() => request.socket.destroy(), lingerMs).unref()
}

async function writeStream(response: ServerResponse, plain: PlainResponse, options: WriteOptions): Promise<void> {
  const iterator = (plain.body as AsyncIterable<Uint8Array | string>)[Symbol.asyncIterator]()
  let over = false
  const stop = () => {
    if (over) return
    over = true
    iterator.return?.()?.then(
      () => {},
      () => {},
    )
  }
  const onDrain = () => {
    // Tells an event source to reconnect, to whichever process answers then.
    if (!response.writableEnded) response.end('retry: 1000\n\n')
    stop()
  }
  response.flushHeaders()
  response.once('close', stop)
  options.draining.addEventListener('abort', onDrain, { once: true })
  try {
    while (!over) {
      const next = await iterator.next()
      if (over || next.done) break
      if (!response.write(next.value)) await untilDrained(response)
    }
    if (!response.writableEnded) response.end(() => !response.socket?.destroyed && plain.delivered?.())
  } catch {
    // A broken source ends the stream visibly: a clean end would look complete.
    response.destroy()
  } finally {
    over = true
    options.draining.removeEventListener('abort', onDrain)
    response.off('close', stop)
  }
}

/** Waits while the reader catches up; one who stays more than the buffer behind for too long is cut. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      response.off('drain', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(
      () => {
        response.destroy()
        done()
      },
      response.writableLength > streamBufferBytesMax ? slowReaderMsMax : 3 * slowReaderMsMax,
    )
    response.once('drain', done).once('close', done)
  })
}
