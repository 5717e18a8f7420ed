import { createServer } from 'node:net'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'

/** `drips`: a greeting without end, a few bytes at a time. `defers`: try again later. `busy`: refuses everybody at once. */
type Manner = 'takes' | 'refuses' | 'defers' | 'busy' | 'hangs' | 'drips'

export type SmtpServer = {
  url: string
  mails: string[]
  behave(as: Manner): void
  close(): Promise<void>
}

const rcptAnswers: Partial<Record<Manner, string>> = { refuses: '550 no such mailbox', defers: '451 try again later' }

/** Speaks enough SMTP to take a mail, to refuse one, or to keep silent. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: string[] = []
  let mode: Manner = 'takes'
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (mode === 'hangs') return
    if (mode === 'drips') {
      const dripping = setInterval(() => socket.write('220-wait\r\n'), 100)
      socket.on('close', () => clearInterval(dripping))
      return
    }
    if (mode === 'busy') return void socket.end('421 too busy\r\n')
    let body: string | undefined
    let pending = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    say('220 mail.test')
    socket.on('data', (chunk) => {
      pending += chunk.toString('utf8')
      for (let end = pending.indexOf('\r\n'); end >= 0; end = pending.indexOf('\r\n')) {
        const line = pending.slice(0, end)
        pending = pending.slice(end + 2)
        if (body !== undefined) {
          if (line === '.') {
            mails.push(body)
            body = undefined
            say('250 taken')
          } else body += `${line}\n`
        } else if (/^EHLO|^HELO/.test(line)) say('250 mail.test')
        else if (/^RCPT/.test(line)) say(rcptAnswers[mode] ?? '250 ok')
        else if (line === 'DATA') {
          body = ''
          say('354 go on')
        } else if (line === 'QUIT') {
          say('221 bye')
          socket.end()
        } else say('250 ok')
      }
    })
  })
  const { port, close } = await onLoopback(server)
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    behave: (as) => {
      mode = as
    },
    close,
  }
}
