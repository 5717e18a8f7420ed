import { createHash } from 'node:crypto'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Channel, Outcome } from './channel.ts'

export type MailSettings = {
  url: string
  from: string
  nodeUrl: string
  clock: Clock
  log: Log
  metrics: Metrics
  totalMs?: number
}

type Mail = { from: string; to: string; subject: string; text: string; messageId?: string }
type Transport = { sendMail(mail: Mail): Promise<unknown> }

const [silenceMs, wholeMailMs] = [10_000, 20_000]

/** Plain text through the SMTP server of the operator. The library is loaded with the first mail. */
export function createMail(settings: MailSettings): Channel {
  const { url, from, clock, log, metrics, nodeUrl, totalMs = wholeMailMs } = settings
  let opened: Promise<Transport> | undefined
  let reached = true
  const send = async (to: string, subject: string, text: string, id?: string): Promise<Outcome> => {
    try {
      opened ??= openTransport(url)
      const named = id === undefined ? {} : { messageId: messageIdOf(id, nodeUrl) }
      await within(clock, totalMs, (await opened).sendMail({ from, to, subject: oneLine(subject), text, ...named }))
      reached = true
      return { status: 'sent' }
    } catch (error) {
      // The words of a mail server may hold addresses: they stay in the log of the operator.
      log.warn({ error: String(error).slice(0, 300) }, 'a mail was not taken by the SMTP server')
      const outcome = outcomeOf(error)
      if (outcome.status === 'unavailable' && reached) metrics.count('alarms', { alarm: 'smtp_unavailable' })
      reached = outcome.status !== 'unavailable'
      return outcome
    }
  }
  return {
    send: (to, { id, title, json }) =>
      send(to, title, `${oneLine(title)}\n\n${json}\n\nYou watch this at ${nodeUrl}.\n`, id),
    challenge: (to, code) =>
      send(
        to,
        'Confirm your address',
        `Somebody wants notifications of ${nodeUrl} to be sent here.\n\nCode: ${code}\n\nIf it was not you, ignore this mail: nothing else will be sent.\n`,
      ),
  }
}

/** What the server says of the recipient or the mail is about them; everything before that is about the server. */
function outcomeOf(error: unknown): Outcome {
  const { responseCode: code, command } = error as { responseCode?: unknown; command?: unknown }
  if (typeof code !== 'number') return { status: 'unavailable', detail: 'smtp server not reached' }
  const detail = `smtp ${code}`
  if (command !== 'RCPT TO' && command !== 'DATA') return { status: 'unavailable', detail }
  return { status: code >= 500 ? 'rejected' : 'failed', detail }
}

/** A server that sends a byte now and then never falls silent. */
async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const ended = new AbortController()
  const late = clock.sleep(ms, ended.signal).then(() => {
    throw new Error(`the SMTP server took longer than ${ms} ms`)
  })
  for (const either of [work, late]) either.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    ended.abort()
  }
}

async function openTransport(url: string): Promise<Transport> {
  const library = (await import('nodemailer')) as { createTransport(options: object): Transport }
  const limits = { connectionTimeout: silenceMs, greetingTimeout: silenceMs, socketTimeout: silenceMs }
  return library.createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true })
}

const oneLine = (text: string) => text.replace(/[\r\n\t]+/g, ' ').slice(0, 150)

/** The same in every attempt: mail programs show a second copy once. */
const messageIdOf = (id: string, nodeUrl: string) =>
  `<${createHash('sha256').update(id).digest('hex').slice(0, 32)}@${new URL(nodeUrl).hostname}>`
