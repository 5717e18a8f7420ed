import type { Clock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { createStreamTickets, ticketMs, ticketPattern } from './stream-ticket.ts'

let now = 1_000_000
const clock = { nowMs: () => now } as Clock
const tickets = createStreamTickets({ secret: Buffer.alloc(32, 1), clock })
const holder = { wallet: `0x${'ab'.repeat(20)}` as const, tokenSha256: 'cd'.repeat(32) }
const refused = (ticket: string) => {
  try {
    tickets.open(ticket)
    return 'opened'
  } catch (error) {
    return (error as { code?: string }).code
  }
}

test('a ticket names its holder, is valid for a minute and needs no escaping in a URL', () => {
  const { ticket, expiresAtMs } = tickets.issue(holder)
  expect(ticket).toMatch(ticketPattern)
  expect(encodeURIComponent(ticket)).toBe(ticket)
  expect(expiresAtMs - now).toBe(ticketMs)
  expect(tickets.open(ticket)).toEqual(holder)
  now += ticketMs
  expect(refused(ticket)).toBe('proof_invalid')
})

test('a ticket of another node, a changed one and a made-up one open nothing', () => {
  const { ticket } = tickets.issue(holder)
  const elsewhere = createStreamTickets({ secret: Buffer.alloc(32, 2), clock }).issue(holder).ticket
  const changed = `astk_A${ticket.slice('astk_A'.length)}`
  for (const wrong of [elsewhere, changed === ticket ? `astk_B${ticket.slice(6)}` : changed, 'astk_x.y', ''])
    expect(refused(wrong)).toBe('proof_invalid')
})
