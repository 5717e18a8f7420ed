import type { IncomingMessage, ServerResponse } from 'node:http'
import { isStream, type PlainResponse } from '@assay/till/selling'
import { isPulled } from './event-reader.ts'

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
    writeStream(response, plain, options)
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

function writeStream(response: ServerResponse, plain: PlainResponse, options: WriteOptions): void {
  const body = plain.body as AsyncIterable<Uint8Array | string>
  const source = pieceSource(body)
  let over = false
  let begun = false
  const stop = () => {
    if (over) return
    over = true
    offDrain()
    response.off('close', stop)
    source.leave()
  }
  const onDrain = () => {
    // Tells an event source to reconnect, to whichever process answers then.
    if (!response.writableEnded) response.end('retry: 1000\n\n')
    stop()
  }
  const finish = () => {
    stop()
    if (!response.writableEnded) response.end(() => !begun && !response.socket?.destroyed && plain.delivered?.())
  }
  const fail = () => {
    stop()
    // A broken source ends the stream visibly: a clean end would look complete.
    response.destroy()
  }
  const take = (step: Piece) => {
    if (over) return
    // Called from wherever the piece was made: nothing that breaks here may reach those who made it.
    try {
      if (step.done) finish()
      else write(step.value)
    } catch {
      fail()
    }
  }
  const write = (piece: Uint8Array | string) => {
    const room = begun ? writePiece(response, piece) : response.write(piece)
    // What a stream was bought with comes in its first piece; the rest is read for as long as somebody wishes.
    if (!begun && !response.socket?.destroyed) plain.delivered?.()
    begun = true
    // Opened while the node was already stopping.
    if (options.draining.aborted) onDrain()
    else if (room) source.pull(take, fail)
    else
      untilDrained(response)
        .then(() => !over && source.pull(take, fail))
        .catch(fail)
  }
  response.flushHeaders()
  response.once('close', stop)
  const offDrain = whenDraining(options.draining, onDrain)
  source.pull(take, fail)
}

type Piece = IteratorResult<Uint8Array | string>
type PieceSource = {
  pull(give: (step: Piece) => void, fail: (error: unknown) => void): void
  /** Nobody reads any more. */
  leave(): void
}

function pieceSource(body: AsyncIterable<Uint8Array | string>): PieceSource {
  const iterator = body[Symbol.asyncIterator]()
  const leave = () => {
    iterator.return?.()?.then(
      () => {},
      () => {},
    )
  }
  return isPulled(body)
    ? { pull: body.pull, leave }
    : { pull: (give, fail) => void iterator.next().then(give).catch(fail), leave }
}

const frames = new WeakMap<Uint8Array, Buffer>()
/** Larger ones are a reader's own, read from the store: nobody else wants them framed, and they would lie twice in memory. */
const framedBytesMax = 16_384

/**
 * Below the response where that is safe: the same event goes to thousands of readers, and framing it again for each costs
 * as much as sending it.
 */
function writePiece(response: ServerResponse, piece: Uint8Array | string): boolean {
  const { socket } = response
  const direct = typeof piece !== 'string' && response.chunkedEncoding && socket && !socket.destroyed
  if (!direct || piece.byteLength === 0 || piece.byteLength > framedBytesMax || response.writableEnded)
    return response.write(piece)
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
