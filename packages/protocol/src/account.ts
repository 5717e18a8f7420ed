import { type Address, parseAddress } from './address.ts'

/** An account always keeps its chain: a contract wallet can have other owners on another one. */
export type Account = { chainId: number; address: Address }

/** Someone who has proved to hold an account. The kind tells whether the proof says anything about other chains. */
export type ProvenAccount = Account & { kind: 'key' | 'contract' }

const caip10Pattern = /^eip155:([1-9][0-9]{0,14}):(0x[0-9a-fA-F]{40})$/

/** CAIP-10 in the one form used as a database key: lower case. */
export function formatAccount(account: Account): string {
  return `eip155:${account.chainId}:${account.address}`
}

export function parseAccount(text: string): Account | undefined {
  const [, chainId, raw] = caip10Pattern.exec(text) ?? []
  const address = parseAddress(raw)
  return chainId === undefined || address === undefined ? undefined : { chainId: Number(chainId), address }
}

export function didOfAccount(account: Account): string {
  return `did:pkh:${formatAccount(account)}`
}

export function parsePkhDid(did: string): Account | undefined {
  return did.startsWith('did:pkh:') ? parseAccount(did.slice(8)) : undefined
}

const keyIdPattern = /^erc8128:([1-9][0-9]{0,14}):(0x[0-9a-fA-F]{40})$/

/** The key id of ERC-8128, whose form is still under discussion: only this function knows it. */
export function parseKeyId(keyId: string): Account | undefined {
  const [, chainId, raw] = keyIdPattern.exec(keyId) ?? []
  const address = parseAddress(raw)
  return chainId === undefined || address === undefined ? undefined : { chainId: Number(chainId), address }
}

export function formatKeyId(account: Account): string {
  return `erc8128:${account.chainId}:${account.address}`
}
