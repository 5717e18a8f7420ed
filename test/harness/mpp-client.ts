import { Credential } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import type { PrivateKeyAccount } from 'viem/accounts'

/** The client of mppx as its documentation has it, for the test dollar of the embedded chains. */
export const mppClient = (account: PrivateKeyAccount, send: typeof globalThis.fetch = globalThis.fetch) =>
  Mppx.create({
    fetch: send,
    methods: [evm({ account, authorization: { name: 'USD Coin', version: '2' }, maxAtomicAmount: '20000' })],
    polyfill: false,
  })

/** A credential for the 402 at this address, with every part open to being altered. */
export async function signCredential(account: PrivateKeyAccount, url: string, init: RequestInit = {}): Promise<string> {
  return mppClient(account).createCredential(await fetch(url, init))
}

export const sendCredential = (url: string, credential: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), authorization: credential } })

type Wire = { challenge: Record<string, string>; payload: Record<string, string>; source?: string }
/** Members to replace, or to leave out where they are undefined. */
export type CredentialChange = {
  challenge?: (challenge: Wire['challenge']) => Record<string, unknown>
  payload?: (payload: Wire['payload']) => Record<string, unknown>
  root?: Record<string, unknown>
}

export const decodeJson = (text = '') => JSON.parse(Buffer.from(text, 'base64url').toString())
export const encodeJson = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function changeCredential(credential: string, { challenge, payload, root }: CredentialChange): string {
  const wire: Wire = decodeJson(credential.slice('Payment '.length))
  return `Payment ${encodeJson({
    ...wire,
    challenge: { ...wire.challenge, ...challenge?.(wire.challenge) },
    payload: { ...wire.payload, ...payload?.(wire.payload) },
    ...root,
  })}`
}

/** The same authorization in the words of x402. */
export function asX402(credential: string, resource: { url: string }): Record<string, unknown> {
  const { challenge, payload } = Credential.deserialize(credential)
  const request = challenge.request as {
    amount: string
    currency: string
    recipient: string
    methodDetails: { chainId: number }
  }
  const { signature, type: _, ...authorization } = payload as Record<string, string>
  return {
    x402Version: 2,
    resource,
    accepted: {
      scheme: 'exact',
      network: `eip155:${request.methodDetails.chainId}`,
      amount: request.amount,
      asset: request.currency,
      payTo: request.recipient,
      maxTimeoutSeconds: 90,
      extra: { name: 'USD Coin', version: '2' },
    },
    payload: { signature, authorization },
  }
}
