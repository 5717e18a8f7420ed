import { connect } from 'node:net'
import { createAnswerReader } from '../load/answer-reader.ts'

/** One connection, one request at a time, each timed from its first byte out to its last byte in. */
export async function createColdReader(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let answered: ((status: number) => void) | undefined
  socket.on(
    'data',
    createAnswerReader((status) => answered?.(status)),
  )
  return {
    read: (request: Buffer): Promise<number> =>
      new Promise((resolve, reject) => {
        const startedMs = performance.now()
        answered = (status) =>
          status === 200 ? resolve(performance.now() - startedMs) : reject(new Error(`status ${status}`))
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}
