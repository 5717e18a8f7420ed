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
  let begun = false
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
  const forget = whenDraining(options.draining, onDrain)
  try {
    while (!over) {
      const next = await iterator.next()
      if (over || next.done) break
      const room = begun ? writePiece(response, next.value) : response.write(next.value)
      // What a stream was bought with comes in its first piece; the rest is read for as long as somebody wishes.
      if (!begun && !response.socket?.destroyed) plain.delivered?.()
      begun = true
      if (!room) await untilDrained(response)
    }
    if (!response.writableEnded) response.end(() => !begun && !response.socket?.destroyed && plain.delivered?.())
  } catch {
    // A broken source ends the stream visibly: a clean end would look complete.
    response.destroy()
  } finally {
    over = true
    forget()
    response.off('close', stop)
  }
}

const frames = new WeakMap<Uint8Array, Buffer>()

/**
 * Below the response where that is safe: the same event goes to thousands of readers, and framing it anew for each costs
 * as much as sending it.
 */
function writePiece(response: ServerResponse, piece: Uint8Array | string): boolean {
  const { socket } = response
  const direct = typeof piece !== 'string' && response.chunkedEncoding && socket && !socket.destroyed
  if (!direct || piece.byteLength === 0 || response.writableEnded) return response.write(piece)
  let framed = frames.get(piece)
  if (!framed) {
    framed = Buffer.concat([Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
    frames.set(piece, framed)
  }
  return socket.write(framed)
}

const drainers = new WeakMap<AbortSignal, Set<() => void>>()

/** One listener for all open streams: a signal looks through all it has for each that comes or goes. */
function whenDraining(signal: AbortSignal, onDrain: () => void): () => void {
  let all = drainers.get(signal)
  if (!all) {
    const fresh = new Set<() => void>()
    all = fresh
    drainers.set(signal, fresh)
    signal.addEventListener('abort', () => fresh.forEach((drain) => void drain()), { once: true })
  }
  all.add(onDrain)
  return () => all.delete(onDrain)
}

/** Waits while the reader catches up; one who stays more than the buffer behind for too long is cut. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = response
    const done = () => {
      clearTimeout(timer)
      socket?.off('drain', done)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(
      () => {
        response.destroy()
        done()
      },
      response.writableLength > streamBufferBytesMax ? slowReaderMsMax : 3 * slowReaderMsMax,
    )
    // Of the socket, for not all that waits in it was written through the response.
    socket?.once('drain', done)
    response.once('close', done)
  })
}
