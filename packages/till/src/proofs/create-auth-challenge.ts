import type { Account } from '@assay/protocol/account'
import { type SiwxInfo, siweMessage } from '@assay/protocol/siwe-message'
import { z } from 'zod'
import { addressText } from '../kernel/address-text.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import type { ProofDeps } from './proof-deps.ts'

export const challengeTtlMs = 300_000

export type SiwxChallenge = {
  info: SiwxInfo
  supportedChains: { chainId: string; type: 'eip191' }[]
}

/** A fresh sign-in-with-x challenge for one of our origins, as a 402 or a route of its own offers it. */
export function createChallenge(deps: Pick<ProofDeps, 'clock' | 'nonces' | 'chainIds'>, origin: string): SiwxChallenge {
  const { nonce, expiresAtMs } = deps.nonces.issue(origin, challengeTtlMs)
  return {
    info: {
      domain: new URL(origin).host,
      uri: origin,
      version: '1',
      nonce,
      issuedAt: toRfc3339(deps.clock.nowMs()),
      expirationTime: toRfc3339(expiresAtMs),
      statement: 'Sign in to this Assay node. This moves no money.',
    },
    supportedChains: deps.chainIds.map((chainId) => ({ chainId: `eip155:${chainId}`, type: 'eip191' })),
  }
}

export const authChallengeBody = z.strictObject({
  address: addressText.optional(),
  chain_id: z
    .string()
    .regex(/^eip155:[1-9][0-9]{0,14}$/)
    .optional(),
})

const siwxInfoSchema = z.object({
  domain: z.string(),
  uri: z.string(),
  version: z.literal('1'),
  nonce: z.string(),
  issuedAt: z.string(),
  expirationTime: z.string(),
  statement: z.string(),
})

export const authChallengeAnswer = z.object({
  header: z.literal('SIGN-IN-WITH-X'),
  expires_at: z.string(),
  info: siwxInfoSchema,
  supportedChains: z.array(z.object({ chainId: z.string(), type: z.literal('eip191') })),
  /** Ready to sign with personal_sign, when the account was named. */
  message: z.string().optional(),
})

export type AuthChallengeAnswer = z.infer<typeof authChallengeAnswer>

export function createAuthChallenge(
  deps: Pick<ProofDeps, 'clock' | 'nonces' | 'chainIds'>,
  input: { origin: string; account?: Account },
): AuthChallengeAnswer {
  const challenge = createChallenge(deps, input.origin)
  return {
    header: 'SIGN-IN-WITH-X',
    expires_at: challenge.info.expirationTime ?? '',
    info: siwxInfoSchema.parse(challenge.info),
    supportedChains: challenge.supportedChains,
    ...(input.account === undefined ? {} : { message: siweMessage(challenge.info, input.account) }),
  }
}
