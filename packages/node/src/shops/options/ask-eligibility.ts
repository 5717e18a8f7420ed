import { checksumAddress } from '@assay/protocol/address'
import { readJsonObject } from '@assay/protocol/json-object'
import type { Log } from '@assay/till/kernel/log'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import {
  createBotAuth,
  createDnsResolver,
  createOutbound,
  type LoopbackTarget,
  type Outbound,
  publicAddresses,
} from '../../outbound/index.ts'
import type { ShopContext } from '../shop.ts'
import type { OptionDeps } from './deps.ts'

/** What the node's configuration says about the way out. */
export type OutboundSetup = {
  dnsServers: readonly string[]
  demoHosts: ReadonlyMap<string, LoopbackTarget>
  contactEmail: string
}

/** Well within the time in which an answer is prepared, so that a slow hook costs a refusal and no payment. */
const totalMs = 5_000
const maxBytes = 4_096

const verdict = z.object({ eligible: z.boolean() })

/**
 * The operator's own rule, asked again for every purchase and every offer, so that a wallet it takes off is off at once.
 * An answer that is not a clear yes or no lets nobody in.
 */
export function createAskEligibility(outbound: Outbound, log: Log, url: string): NonNullable<OptionDeps['isEligible']> {
  return async (wallet, action) => {
    const answer = await outbound.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ wallet: checksumAddress(wallet), action }),
      accept: ['application/json'],
      maxBytes,
      totalMs,
      redirectsMax: 0,
    })
    const body = answer.status === 'ok' && answer.httpStatus === 200 ? readJsonObject(answer.bytes) : undefined
    const said = verdict.safeParse(body).data?.eligible
    if (said !== undefined) return said
    const reason = answer.status === 'ok' ? `http_${answer.httpStatus}` : answer.reason
    log.warn({ reason }, 'the eligibility hook of the options exchange failed: wallets are refused until it answers')
    throw new Problem('upstream_unavailable', {
      detail: 'The eligibility check for this wallet gave no answer.',
      retryAfterSeconds: 30,
    })
  }
}

/** The safe fetcher, with requests signed by the node's key, so that the hook can tell who asks. */
export function openHookOutbound(context: ShopContext, setup: OutboundSetup): Outbound {
  const { clock, rng, log, metrics, mode, apiUrl, baseUrl, keyring } = context
  return createOutbound({
    resolvers: setup.dnsServers.map((server) => createDnsResolver({ server, clock, rng })),
    clock,
    log,
    metrics,
    userAgent: `AssayOptions/1.0 (+${apiUrl}; ${setup.contactEmail})`,
    sign: createBotAuth({ keyring, clock, rng, directoryOrigin: apiUrl }),
    ownHosts: [baseUrl, apiUrl].map((url) => new URL(url).hostname),
    ownAddresses: publicAddresses(),
    mode,
    ...(mode === 'demo' ? { loopbackHosts: setup.demoHosts } : {}),
  })
}
