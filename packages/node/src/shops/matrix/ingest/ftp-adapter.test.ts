import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { fetchByFtp } from './ftp-adapter.ts'

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return (server.address() as { port: number }).port
}

type Answers = { says?: Record<string, string>; body?: Buffer; cutShort?: boolean }

/** A server with set replies; data go out when RETR comes. */
async function serve(answers: Answers = {}): Promise<{ port: number; said: string[] }> {
  const said: string[] = []
  let deliver: (socket: Socket) => void = () => {}
  const dataPort = await listen((socket) => deliver(socket))
  const port = await listen((control) => {
    const reply = (line: string) => control.write(`${line}\r\n`)
    reply('220-Welcome\r\n220 ready')
    const ready = new Promise<Socket>((resolve) => {
      deliver = resolve
    })
    control.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        said.push(line)
        const word = line.split(' ')[0] as string
        const own = answers.says?.[word]
        if (own !== undefined) reply(own)
        else if (word === 'USER') reply('331 password')
        else if (word === 'PASS') reply('230 in')
        else if (word === 'TYPE') reply('200 ok')
        else if (word === 'EPSV') reply(`229 passive (|||${dataPort}|)`)
        else if (word === 'PASV') reply(`227 (10,9,8,7,${dataPort >> 8},${dataPort & 255})`)
        else if (word === 'RETR') {
          reply('150 here it comes')
          ready.then((data) => {
            data.end(answers.body ?? Buffer.from('#BOF'))
            reply(answers.cutShort ? '426 broken off' : '226 done')
          })
        }
      }
    })
  })
  return { port, said }
}

const get = (port: number, limits = { maxBytes: 1000, totalMs: 2_000 }) =>
  fetchByFtp({ host: '127.0.0.1', port, user: 'shortstock', path: 'usa.txt' }, limits)

test('a file comes whole, under the public account with its empty password', async () => {
  const { port, said } = await serve({ body: Buffer.from('#BOF|2026\r\n#EOF|0') })
  expect(await get(port)).toMatchObject({ status: 'ok', bytes: Buffer.from('#BOF|2026\r\n#EOF|0') })
  expect(said.slice(0, 5)).toEqual(['USER shortstock', 'PASS ', 'TYPE I', 'EPSV', 'RETR usa.txt'])
})

test('a server without EPSV is asked for PASV, and the address it names is not believed', async () => {
  const { port } = await serve({ says: { EPSV: '500 what?' } })
  expect(await get(port)).toMatchObject({ status: 'ok', bytes: Buffer.from('#BOF') })
})

test('what is not there is missing, not broken', async () => {
  const { port } = await serve({ says: { RETR: '550 no such file' } })
  expect(await get(port)).toMatchObject({ status: 'missing' })
})

test('too many bytes, a transfer broken off, a port below 1024, a refusal and silence all fail with their reason', async () => {
  const large = await serve({ body: Buffer.alloc(5_000) })
  expect(await get(large.port)).toMatchObject({ status: 'failed', reason: 'too_large' })
  const cut = await serve({ cutShort: true })
  expect(await get(cut.port)).toMatchObject({ status: 'failed', reason: 'protocol' })
  const low = await serve({ says: { EPSV: '229 (|||22|)' } })
  expect(await get(low.port)).toMatchObject({ status: 'failed', reason: 'protocol' })
  const refusing = await serve({ says: { USER: '530 go away' } })
  expect(await get(refusing.port)).toMatchObject({ status: 'failed', reason: 'protocol' })
  const silent = await listen(() => {})
  expect(await get(silent, { maxBytes: 10, totalMs: 150 })).toMatchObject({ status: 'failed', reason: 'timeout' })
})
