import { connect, type Socket } from 'node:net'

export type FtpFile = { host: string; port: number; user: string; path: string }

export type FtpOutcome =
  | { status: 'ok'; bytes: Buffer; address: string }
  | { status: 'missing'; detail: string }
  | { status: 'failed'; reason: 'connect' | 'timeout' | 'protocol' | 'too_large'; detail: string }

class FtpFailure extends Error {
  readonly reason: 'connect' | 'timeout' | 'protocol' | 'too_large'
  constructor(reason: FtpFailure['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** One file by FTP, read only, with the empty password of a public account. The whole exchange has one time limit. */
export async function fetchByFtp(file: FtpFile, limits: { maxBytes: number; totalMs: number }): Promise<FtpOutcome> {
  const signal = AbortSignal.timeout(limits.totalMs)
  const open: Socket[] = []
  const dial = (port: number) => {
    const socket = connect({ host: file.host, port })
    open.push(socket)
    // Emitted by the reader of the socket; without a listener it would end the process.
    socket.on('error', () => {})
    return socket
  }
  const giveUp = () => {
    for (const socket of open) socket.destroy(new FtpFailure('timeout', `no end after ${limits.totalMs} ms`))
  }
  signal.addEventListener('abort', giveUp)
  try {
    return await exchange(file, dial, limits.maxBytes)
  } catch (error) {
    if (signal.aborted) return { status: 'failed', reason: 'timeout', detail: `no end after ${limits.totalMs} ms` }
    const reason = error instanceof FtpFailure ? error.reason : 'connect'
    return { status: 'failed', reason, detail: error instanceof Error ? error.message : String(error) }
  } finally {
    signal.removeEventListener('abort', giveUp)
    for (const socket of open) socket.destroy()
  }
}

async function exchange(file: FtpFile, dial: (port: number) => Socket, maxBytes: number): Promise<FtpOutcome> {
  const control = dial(file.port)
  const replies = readReplies(control)
  const expect = async (...codes: number[]) => {
    const { value: reply, done } = await replies.next()
    if (done || !codes.includes(reply.code)) throw new FtpFailure('protocol', done ? 'the server hung up' : reply.text)
    return reply
  }
  const say = (line: string) => control.write(`${line}\r\n`)
  await expect(220)
  say(`USER ${file.user}`)
  if ((await expect(230, 331)).code === 331) {
    say('PASS ')
    await expect(230, 202)
  }
  say('TYPE I')
  await expect(200)
  say('EPSV')
  let passive = await expect(229, 500, 501, 502, 522)
  if (passive.code !== 229) {
    say('PASV')
    passive = await expect(227)
  }
  const data = dial(dataPort(passive))
  const arriving = readAll(data, maxBytes)
  // Waited for below; an early failure must not count as unhandled until then.
  arriving.catch(() => {})
  say(`RETR ${file.path}`)
  const answer = await expect(125, 150, 550)
  if (answer.code === 550) return { status: 'missing', detail: answer.text }
  const bytes = await arriving
  // Only this says that the file was sent to its end.
  await expect(226, 250)
  const address = control.remoteAddress ?? ''
  say('QUIT')
  return { status: 'ok', bytes, address }
}

/** The address a server names is ignored: data come from the host that was asked, or not at all. */
function dataPort({ code, text }: Reply): number {
  const match = code === 229 ? /\(\|\|\|(\d{1,5})\|\)/.exec(text) : /\d+,\d+,\d+,\d+,(\d{1,3}),(\d{1,3})/.exec(text)
  const port = match ? (code === 229 ? Number(match[1]) : Number(match[1]) * 256 + Number(match[2])) : 0
  if (port < 1024 || port > 65_535) throw new FtpFailure('protocol', `no data port in: ${text}`)
  return port
}

type Reply = { code: number; text: string }
const replyBytesMax = 64 * 1024

/** A reply ends with a line of its code and a space; lines before it may say anything. */
async function* readReplies(control: Socket): AsyncGenerator<Reply, undefined> {
  let waiting = ''
  let seen = 0
  for await (const chunk of control as AsyncIterable<Buffer>) {
    seen += chunk.length
    if (seen > replyBytesMax) throw new FtpFailure('protocol', 'the server talks without end')
    waiting += chunk.toString('latin1')
    for (let end = waiting.indexOf('\n'); end >= 0; end = waiting.indexOf('\n')) {
      const line = waiting.slice(0, end).trimEnd()
      waiting = waiting.slice(end + 1)
      const match = /^(\d{3}) /.exec(`${line} `)
      if (match) yield { code: Number(match[1]), text: line.slice(0, 200) }
    }
  }
  return undefined
}

async function readAll(data: Socket, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of data as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new FtpFailure('too_large', `more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
