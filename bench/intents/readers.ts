import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerCommands } from '../process/commands.ts'

type Plan = { url: string; token: string; healthy: number; slow: number }

/** What healthy readers saw: how often each event arrived, and how long it took. */
const arrivals = new Map<number, number>()
/** How often each delay was seen, by its whole milliseconds: an hour of single ones would fill the memory. */
const delays = new Map<number, number>()
let opened = 0
let refused = 0
let cut = 0
let measuring = false
const sockets: Socket[] = []

const headEnd = Buffer.from('\r\n\r\n')
const idMark = Buffer.from('id: 0-')
const timeMark = Buffer.from('"time":"')

function request({ url, token }: Plan, slow: boolean): string {
  const { host } = new URL(url)
  return [
    'GET /v1/market/intent-stream HTTP/1.1',
    `Host: ${host}`,
    'Accept: text/event-stream',
    `Authorization: Bearer ${token}`,
    // Slow readers ask for all that is kept, and leave it lying.
    ...(slow ? ['Last-Event-ID: 0-0'] : []),
    '\r\n',
  ].join('\r\n')
}

/** False when the server asked it to come back. */
function openOne(plan: Plan, slow: boolean): Promise<boolean> {
  const { hostname, port } = new URL(plan.url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    sockets.push(socket)
    let begun = false
    let rest: Buffer = Buffer.alloc(0)
    socket.setNoDelay(true)
    socket.once('connect', () => socket.write(request(plan, slow)))
    let isOpen = false
    socket.on('error', () => resolve(false))
    socket.on('close', () => {
      if (isOpen) cut += 1
      resolve(false)
    })
    socket.on('data', (piece: Buffer) => {
      const data = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      if (!begun) {
        if (data.indexOf(headEnd) < 0) {
          rest = data
          return
        }
        begun = true
        isOpen = data.subarray(0, 12).toString() === 'HTTP/1.1 200'
        if (isOpen) opened += 1
        else refused += 1
        resolve(isOpen)
        if (!isOpen) return void socket.destroy()
        if (slow) socket.pause()
      }
      rest = slow ? Buffer.alloc(0) : readEvents(data)
    })
  })
}

/** Notes every whole event, and gives what is left of a cut one. */
function readEvents(data: Buffer): Buffer {
  let at = 0
  for (;;) {
    const id = data.indexOf(idMark, at)
    if (id < 0)
      return at === 0 && data.length < 65_536 ? data.subarray(Math.max(0, data.length - 8)) : data.subarray(data.length)
    const time = data.indexOf(timeMark, id)
    if (time < 0 || data.length < time + timeMark.length + 24) return data.subarray(id)
    at = time
    if (!measuring) continue
    const seq = Number.parseInt(data.toString('latin1', id + idMark.length, id + idMark.length + 12), 10)
    arrivals.set(seq, (arrivals.get(seq) ?? 0) + 1)
    const sentMs = Date.parse(data.toString('latin1', time + timeMark.length, time + timeMark.length + 24))
    const delayMs = Date.now() - sentMs
    delays.set(delayMs, (delays.get(delayMs) ?? 0) + 1)
  }
}

const together = 50

answerCommands(
  {
    open: async (given: never) => {
      const plan = given as Plan
      let left = plan.healthy + plan.slow
      let slow = plan.slow
      const work = async () => {
        while (left > 0) {
          left -= 1
          const isSlow = slow > 0 && left % 10 === 0
          if (isSlow) slow -= 1
          // A reader that is asked to come back, for there are too many at once, does.
          for (let tries = 0; tries < 20 && !(await openOne(plan, isSlow)); tries += 1) await sleep(500)
        }
      }
      await Promise.all(Array.from({ length: together }, work))
      return { opened, refused }
    },
    measure: () => {
      measuring = true
    },
    result: () => ({ arrivals: [...arrivals], delays: [...delays], cut, opened }),
  },
  async () => {
    for (const socket of sockets) socket.destroy()
  },
)
