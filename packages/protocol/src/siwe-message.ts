import type { Account } from './account.ts'
import { checksumAddress } from './address.ts'

/** The fields of CAIP-122 as x402's sign-in-with-x names them. */
export type SiwxInfo = {
  domain: string
  uri: string
  version: '1'
  nonce: string
  issuedAt: string
  expirationTime?: string
  notBefore?: string
  requestId?: string
  statement?: string
  resources?: readonly string[]
}

/** The EIP-4361 text a wallet shows and signs. */
export function siweMessage(info: SiwxInfo, account: Account): string {
  const lines = [
    `${info.domain} wants you to sign in with your Ethereum account:`,
    checksumAddress(account.address),
    '',
    ...(info.statement === undefined ? [''] : [info.statement, '']),
    `URI: ${info.uri}`,
    `Version: ${info.version}`,
    `Chain ID: ${account.chainId}`,
    `Nonce: ${info.nonce}`,
    `Issued At: ${info.issuedAt}`,
  ]
  if (info.expirationTime !== undefined) lines.push(`Expiration Time: ${info.expirationTime}`)
  if (info.notBefore !== undefined) lines.push(`Not Before: ${info.notBefore}`)
  if (info.requestId !== undefined) lines.push(`Request ID: ${info.requestId}`)
  if (info.resources !== undefined) lines.push('Resources:', ...info.resources.map((resource) => `- ${resource}`))
  return lines.join('\n')
}
