import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Address, parseAddress } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'

/** Who may open the stream, by which token of the subscription. */
export type TicketHolder = { wallet: Address; tokenSha256: string }

export type StreamTickets = {
  issue(holder: TicketHolder): { ticket: string; expiresAtMs: number }
  /** Throws a Problem for a ticket that is not ours or has run out. No I/O: whether the token is still valid is for the caller. */
  open(ticket: string): TicketHolder
}

/** Long enough to open a connection with, too short to be worth stealing from a log. */
export const ticketMs = 60_000

export const ticketPattern = /^astk_[A-Za-z0-9_-]{60,220}\.[A-Za-z0-9_-]{43}$/

/** A ticket carries its own terms under a secret that all processes share, so none is stored. */
export function createStreamTickets({ secret, clock }: { secret: Uint8Array; clock: Clock }): StreamTickets {
  const seal = (text: string) => createHmac('sha256', secret).update(`stream ticket ${text}`).digest()
  const refused = (detail: string) => new Problem('proof_invalid', { detail })
  return {
    issue: ({ wallet, tokenSha256 }) => {
      const expiresAtMs = clock.nowMs() + ticketMs
      const text = Buffer.from([wallet, tokenSha256, expiresAtMs].join('|')).toString('base64url')
      return { ticket: `astk_${text}.${seal(text).toString('base64url')}`, expiresAtMs }
    },
    open: (ticket) => {
      const [text = '', mac = ''] = ticketPattern.test(ticket) ? ticket.slice('astk_'.length).split('.') : []
      const given = Buffer.from(mac, 'base64url')
      const expected = seal(text)
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw refused('This ticket is not valid. It was not issued by this node.')
      const [wallet = '', tokenSha256 = '', expires] = Buffer.from(text, 'base64url').toString().split('|')
      if (clock.nowMs() >= Number(expires)) throw refused('This ticket has run out. Request a new one.')
      return { wallet: parseAddress(wallet) as Address, tokenSha256 }
    },
  }
}
