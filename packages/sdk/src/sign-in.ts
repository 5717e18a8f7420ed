import { encodeHeader, isRecord } from '@assay/protocol/json-object'
import { type SiwxInfo, siweMessage } from '@assay/protocol/siwe-message'
import type { LocalAccount } from 'viem'
import { getAddress } from 'viem/utils'
import { AssayError } from './errors.ts'
import { defaultPlatform, type Platform } from './platform.ts'

/** A CAIP-122 challenge as x402's sign-in-with-x carries it: in a 402, or from POST /v1/auth/challenge. */
export type SignInChallenge = {
  info: Record<string, unknown>
  supportedChains: readonly { chainId: string; type: string }[]
}

/** The request header that carries the proof. */
export const signInHeader = 'SIGN-IN-WITH-X'

export type SignInOptions = {
  account: Pick<LocalAccount, 'address' | 'signMessage'>
  /** Where the proof is meant to go. A challenge for any other site is refused: that is how phishing looks. */
  origin: string
  chainId?: number
  platform?: Pick<Platform, 'nowMs'>
}

/** Asks a node for a challenge. */
export async function requestChallenge(
  origin: string,
  platform: Pick<Platform, 'fetch'> = defaultPlatform,
): Promise<SignInChallenge> {
  const url = new URL('/v1/auth/challenge', origin)
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await platform.fetch(new Request(url, { method: 'POST', headers, body: '{}', redirect: 'error' }))
    const challenge = readChallenge(await response.json())
    if (response.ok && challenge !== undefined) return challenge
    throw new Error(`status ${response.status}`)
  } catch (error) {
    throw new AssayError('request_failed', { detail: url.href }, error)
  }
}

export function readChallenge(value: unknown): SignInChallenge | undefined {
  if (!isRecord(value) || !isRecord(value.info) || !Array.isArray(value.supportedChains)) return undefined
  const chains = value.supportedChains.filter(
    (chain): chain is { chainId: string; type: string } =>
      isRecord(chain) && typeof chain.chainId === 'string' && typeof chain.type === 'string',
  )
  return { info: value.info, supportedChains: chains }
}

/** Signs a challenge and gives the value of SIGN-IN-WITH-X. It proves the account once and moves no money. */
export async function signIn(challenge: SignInChallenge, options: SignInOptions): Promise<string> {
  const { account, origin, platform = defaultPlatform } = options
  const chainId = options.chainId ?? 8453
  const chain = `eip155:${chainId}`
  const supported = challenge.supportedChains.some(({ chainId, type }) => chainId === chain && type === 'eip191')
  if (!supported) throw refused(`accounts of ${chain} are not asked for`)
  const info = readInfo(challenge.info)
  if (info === undefined) throw refused('a field is missing or not one line of text')
  checkPlaceAndTime(info, origin, platform.nowMs())
  const address = getAddress(account.address)
  const signature = await account.signMessage({ message: siweMessage(info, { address, chainId }) })
  return encodeHeader({ ...info, address, chainId: chain, type: 'eip191', signature })
}

const requiredFields = ['domain', 'uri', 'version', 'nonce', 'issuedAt'] as const
const optionalFields = ['statement', 'expirationTime', 'notBefore', 'requestId'] as const

// A line break inside a field would let one field pose as another in the text that is signed.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const oneLine = /^[^\u0000-\u001f\u007f]{0,2048}$/
const isLine = (value: unknown): value is string => typeof value === 'string' && oneLine.test(value)

function readInfo(raw: Record<string, unknown>): SiwxInfo | undefined {
  const info: Record<string, unknown> = {}
  for (const name of requiredFields) {
    if (!isLine(raw[name]) || raw[name] === '') return undefined
    info[name] = raw[name]
  }
  for (const name of optionalFields) {
    if (raw[name] === undefined) continue
    if (!isLine(raw[name])) return undefined
    info[name] = raw[name]
  }
  if (raw.resources !== undefined) {
    if (!Array.isArray(raw.resources) || raw.resources.length > 16 || !raw.resources.every(isLine)) return undefined
    info.resources = raw.resources
  }
  return info.version === '1' ? (info as SiwxInfo) : undefined
}

function checkPlaceAndTime(info: SiwxInfo, origin: string, nowMs: number): void {
  const meant = new URL(origin)
  if (info.domain !== meant.host) throw refused(`it is for ${info.domain}`)
  if (!URL.canParse(info.uri) || new URL(info.uri).origin !== meant.origin) throw refused(`it is for ${info.uri}`)
  if (info.expirationTime !== undefined && !(Date.parse(info.expirationTime) > nowMs)) throw refused('it has expired')
}

function refused(detail: string): AssayError {
  return new AssayError('challenge_refused', { detail })
}
