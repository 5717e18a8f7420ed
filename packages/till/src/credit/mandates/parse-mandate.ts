import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type Micro, microMax } from '@assay/protocol/money'
import { z } from 'zod'
import { addressText } from '../../kernel/address-text.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Mandate } from './mandate-statement.ts'

const micro = z.string().regex(/^[1-9][0-9]{0,18}$/, 'must be micro-USDC above zero')

export const mandateBody = z.strictObject({
  owner: addressText.describe('Whose credit is drawn on; it signs.'),
  delegate: addressText.describe('Who may draw: it signs its requests and names the mandate in Assay-Mandate.'),
  routes: z
    .array(z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must have 1 to 200 visible ASCII characters'))
    .min(1)
    .max(32)
    .describe('Route ids such as sandbox.echo.*, or paths such as /v1/report/* and /v1/** for all below.'),
  cap_per_call_micro: micro,
  cap_per_day_micro: micro.describe('In one UTC day.'),
  cap_total_micro: micro,
  expires_at: z.iso.datetime().describe('In whole seconds, at most 366 days ahead.'),
  nonce: z.string().regex(/^0x[0-9a-f]{64}$/, 'must be 32 bytes of lower-case hex'),
  chain_id: z
    .number()
    .int()
    .min(1)
    .describe('Chain in the domain of the signature; by default the first chain of the node.')
    .optional(),
  signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2}){1,8192}$/, 'must be hex'),
})

export type MandateBody = z.infer<typeof mandateBody>

const daysMax = 366
const starsMax = 8

/** What the body says, as the typed data that was signed. Whatever could mean more than it seems is refused. */
export function parseMandate(body: MandateBody, node: string, nowMs: number): Mandate {
  const refuse = (detail: string): never => {
    throw new Problem('mandate_invalid', { detail })
  }
  const owner = parseAddress(body.owner) ?? refuse('owner is not an address.')
  const delegate = parseAddress(body.delegate) ?? refuse('delegate is not an address.')
  if (owner === delegate) refuse('A wallet needs no mandate for its own credit; name another delegate.')
  const caps = [body.cap_per_call_micro, body.cap_per_day_micro, body.cap_total_micro].map(BigInt) as [
    Micro,
    Micro,
    Micro,
  ]
  const [perCall, perDay, total] = caps
  if (total > microMax) refuse('cap_total_micro is more than there is.')
  if (perCall > perDay || perDay > total) refuse('Caps must not fall: per call, per day, in total.')
  const expiresMs = Date.parse(body.expires_at)
  if (expiresMs % 1_000 !== 0) refuse('expires_at must be in whole seconds, for that is what is signed.')
  if (expiresMs <= nowMs) throw new Problem('mandate_expired', { detail: 'expires_at has passed.' })
  if (expiresMs > nowMs + daysMax * 86_400_000) refuse(`expires_at is more than ${daysMax} days ahead.`)
  for (const route of body.routes) requireRoute(route, refuse)
  return {
    owner: owner as Address,
    delegate: delegate as Address,
    node,
    routes: body.routes,
    capPerCallMicro: perCall,
    capPerDayMicro: perDay,
    capTotalMicro: total,
    expiresAt: expiresMs / 1_000,
    nonce: body.nonce as Hex,
  }
}

function requireRoute(route: string, refuse: (detail: string) => never): void {
  const isPath = route.startsWith('/')
  if (!(isPath ? /^\/[^?#\\]*$/ : /^[a-z0-9._*-]+$/).test(route))
    refuse(`routes: ${route} is neither a route id nor a path without query.`)
  if (route.split('*').length - 1 > starsMax) refuse(`routes: ${route} has more than ${starsMax} stars.`)
  const doubled = route.indexOf('**')
  if (doubled >= 0 && !(isPath && route.endsWith('/**') && doubled === route.length - 2))
    refuse(`routes: ${route}: two stars may only be the last segment of a path.`)
}
