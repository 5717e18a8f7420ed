import type { Offer } from '@assay/sdk'
import { type Address, type Hex, isAddressEqual, keccak256, type LocalAccount, stringToHex } from 'viem'
import { inSeconds, type Time } from '../time.ts'
import type { Answer } from './send.ts'
import { type SignDeps, signAuthorization, windowSecondsMax } from './sign-payment.ts'

/** A challenge of the Payment authentication scheme (MPP), method `evm`, intent `charge`. */
export type MppChallenge = Record<string, string> & { id: string; realm: string; request: string }

/** What a challenge asks for. */
export type MppRequest = {
  amount: string
  currency: string
  recipient: string
  methodDetails: { chainId: number }
}

/** How a credential differs from what the challenge asks for: what is signed follows what is written. */
export type CredentialChange = {
  account?: LocalAccount
  challenge?: Record<string, string>
  request?: Partial<MppRequest>
  authorization?: Partial<Record<'to' | 'value' | 'validBefore' | 'nonce', string>>
  signature?(signature: Hex): Hex
}

const parameterPattern = /([a-z][a-z0-9-]*)="((?:[^"\\]|\\.)*)"/gi

/** Every challenge of an answer that takes an authorization for the offer, in order. */
export function readChallenges({ headers }: Pick<Answer, 'headers'>, offer: Offer): MppChallenge[] {
  const header = headers['www-authenticate']
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '')
  return text
    .split(/(?:^|,)\s*Payment\s+/i)
    .slice(1)
    .map((part) => Object.fromEntries([...part.matchAll(parameterPattern)].map(([, name, value]) => [name, value])))
    .filter((one): one is MppChallenge => one['method'] === 'evm' && one['intent'] === 'charge' && !!one['id'])
    .filter((one) => fits(requestOf(one), offer))
}

export function requestOf({ request }: MppChallenge): MppRequest | undefined {
  try {
    return JSON.parse(Buffer.from(request, 'base64url').toString('utf8')) as MppRequest
  } catch {
    return undefined
  }
}

function fits(request: MppRequest | undefined, { network, asset }: Offer): boolean {
  try {
    return (
      `eip155:${request?.methodDetails.chainId}` === network &&
      isAddressEqual(request?.currency as Address, asset as Address)
    )
  } catch {
    return false
  }
}

export const secondsLeft = (time: Time, { expires }: MppChallenge): number =>
  expires === undefined ? windowSecondsMax : Math.floor((Date.parse(expires) - time.nowMs()) / 1000)

/** Signs for a challenge, right or wrong: the value of Authorization. */
export async function signCredential(
  deps: Omit<SignDeps, 'required'>,
  original: MppChallenge,
  change: CredentialChange = {},
): Promise<string> {
  const asked = { ...(requestOf(original) as MppRequest), ...change.request }
  const request = change.request
    ? Buffer.from(JSON.stringify(asked)).toString('base64url')
    : (change.challenge?.['request'] ?? original.request)
  const challenge: MppChallenge = { ...original, ...change.challenge, request }
  const latest = inSeconds(deps.time, windowSecondsMax)
  const ends = challenge['expires'] === undefined ? latest : secondsOf(challenge['expires'])
  const { signature, authorization } = await signAuthorization(
    deps,
    {
      ...{ to: asked.recipient, value: asked.amount, validAfter: '0' },
      // Whatever the challenge allows: what is signed here is worthless after a minute.
      validBefore: Number(ends) > Number(latest) ? latest : ends,
      nonce: keccak256(stringToHex(`${challenge.id}${challenge.realm}`)),
      ...change.authorization,
    },
    change,
  )
  const chainId = asked.methodDetails.chainId
  const credential = {
    challenge,
    payload: { type: 'authorization', ...authorization, signature },
    source: `did:pkh:eip155:${chainId}:${authorization.from}`,
  }
  return `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`
}

const secondsOf = (time: string) => String(Math.floor(Date.parse(time) / 1000))

export type CredentialDocument = {
  challenge: MppChallenge
  payload: Record<string, string> & { signature: Hex; nonce: Hex; from: string }
}

export const decodeCredential = (credential: string): CredentialDocument =>
  JSON.parse(Buffer.from(credential.slice('Payment '.length), 'base64url').toString('utf8')) as CredentialDocument

/** Longer than this a run does not wait for a challenge to come within the longest window. */
const waitSecondsMax = 45
const batch = 30
const usableSeconds = 20

export type Challenges = {
  /** The first one of the run, as old as the run. */
  first: MppChallenge | undefined
  /** Takes a batch, beside whatever else goes on. */
  prepare(): void
  /** One that was never used, and that can be paid by an authorization of a minute. */
  next(): Promise<MppChallenge>
}

/**
 * Challenges are taken in batches: where they are valid for longer than anything may be signed for, a batch is kept until
 * it is not, and only once for several cases.
 */
export function keepChallenges(
  first: MppChallenge | undefined,
  ask: () => Promise<MppChallenge | undefined>,
  time: Time,
): Challenges {
  let kept: Promise<MppChallenge[]> | undefined
  const fill = async (): Promise<MppChallenge[]> => {
    const given = (await Promise.all(Array.from({ length: batch }, ask))).filter((one) => one !== undefined)
    if (given.length === 0) throw new Error('the seller gives no more challenges')
    const waitSeconds = Math.max(...given.map((one) => secondsLeft(time, one))) - windowSecondsMax + 1
    if (waitSeconds > 0 && waitSeconds <= waitSecondsMax) await time.waitUntil(time.nowMs() + waitSeconds * 1_000)
    return given
  }
  return {
    first,
    prepare: () => {
      kept ??= fill()
      kept.catch(() => {})
    },
    next: async () => {
      for (let attempt = 0; attempt < 2; attempt += 1) {
        kept ??= fill()
        const given = await kept
        for (let one = given.shift(); one !== undefined; one = given.shift())
          if (secondsLeft(time, one) >= usableSeconds) return one
        kept = undefined
      }
      throw new Error(`challenges of the seller are valid for less than ${usableSeconds} s`)
    },
  }
}
