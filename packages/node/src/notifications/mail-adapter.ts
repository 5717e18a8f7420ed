import type { Log } from '@assay/till/kernel/log'
import type { Channel, Outcome } from './channel.ts'

export type MailSettings = { url: string; from: string; log: Log; nodeUrl: string }

type Mail = { from: string; to: string; subject: string; text: string; messageId?: string }
type Transport = { sendMail(mail: Mail): Promise<unknown> }

const timeMs = 10_000

/** Plain text through the SMTP server of the operator. The library is loaded with the first mail. */
export function createMail(settings: MailSettings): Channel {
  let opened: Promise<Transport> | undefined
  const send = async (to: string, subject: string, text: string): Promise<Outcome> => {
    try {
      opened ??= openTransport(settings.url)
      await (await opened).sendMail({ from: settings.from, to, subject: oneLine(subject), text })
      return { status: 'sent' }
    } catch (error) {
      // The words of a mail server may hold addresses: they stay in the log of the operator.
      settings.log.warn({ error: String(error).slice(0, 300) }, 'a mail was not taken by the SMTP server')
      const code = (error as { responseCode?: unknown }).responseCode
      return { status: 'failed', detail: typeof code === 'number' ? `smtp ${code}` : 'smtp server not reached' }
    }
  }
  return {
    send: (to, { title, json }) =>
      send(to, title, `${oneLine(title)}\n\n${json}\n\nYou watch this at ${settings.nodeUrl}.\n`),
    challenge: (to, code) =>
      send(
        to,
        'Confirm your address',
        `Somebody wants notifications of ${settings.nodeUrl} to be sent here.\n\nCode: ${code}\n\nIf it was not you, ignore this mail: nothing else will be sent.\n`,
      ),
  }
}

async function openTransport(url: string): Promise<Transport> {
  const library = (await import('nodemailer')) as { createTransport(options: object): Transport }
  const limits = { connectionTimeout: timeMs, greetingTimeout: timeMs, socketTimeout: timeMs }
  return library.createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true })
}

const oneLine = (text: string) => text.replace(/[\r\n\t]+/g, ' ').slice(0, 150)
