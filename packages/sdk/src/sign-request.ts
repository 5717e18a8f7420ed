import { formatKeyId } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { toBase64 } from '@assay/protocol/base64'
import { type CoveredComponent, contentDigest, signatureBase } from '@assay/protocol/signatures/signature-base'
import type { LocalAccount } from 'viem'
import { bytesToHex, hexToBytes } from 'viem/utils'
import { AssayError } from './errors.ts'
import { bodyBytesMax, prepareRequest } from './exchange.ts'
import { defaultPlatform, type Platform } from './platform.ts'

export type SignRequestOptions = {
  account: Pick<LocalAccount, 'address' | 'signMessage'>
  /** Where the account lives; it matters for contract wallets, which can have other owners elsewhere. */
  chainId?: number
  /** Headers of the request that change what it means, and are therefore signed too. */
  cover?: readonly string[]
  /** At most 60, which is what nodes accept. */
  validitySeconds?: number
  platform?: Pick<Platform, 'nowMs' | 'randomBytes'>
}

const label = 'eth'

/**
 * Signs one request with a wallet (ERC-8128 on RFC 9421): method, authority, path, query and body are covered, and a
 * fresh nonce makes it count once. Returns the request to send; nothing of it may be changed afterwards.
 */
export async function signRequest(
  url: string | URL,
  init: RequestInit | undefined,
  options: SignRequestOptions,
): Promise<Request> {
  const { account, chainId = 8453, validitySeconds = 60, platform = defaultPlatform } = options
  const { method, headers, body, url: absolute } = await prepareRequest(url, init)
  if (body.byteLength > bodyBytesMax) throw new AssayError('body_too_large')
  const target = new URL(absolute)
  const covered: CoveredComponent[] = [
    { id: '"@authority"', value: target.host },
    { id: '"@method"', value: method },
    { id: '"@path"', value: target.pathname },
  ]
  if (target.search !== '') covered.push({ id: '"@query"', value: target.search })
  if (body.byteLength > 0) {
    const digest = contentDigest(new Uint8Array(await crypto.subtle.digest('SHA-256', body)))
    headers.set('Content-Digest', digest)
    covered.push({ id: '"content-digest"', value: digest })
  }
  for (const name of options.cover ?? []) {
    const value = headers.get(name)
    if (value !== null) covered.push({ id: `"${name.toLowerCase()}"`, value: value.trim() })
  }
  const created = Math.floor(platform.nowMs() / 1000)
  const nonce = bytesToHex(platform.randomBytes(16)).slice(2)
  const names = covered.map(({ id }) => id).join(' ')
  const keyId = formatKeyId({ chainId, address: account.address.toLowerCase() as Address })
  const params = `(${names});created=${created};expires=${created + validitySeconds};nonce="${nonce}";keyid="${keyId}"`
  const signature = await account.signMessage({ message: signatureBase(covered, params) })
  headers.set('Signature-Input', `${label}=${params}`)
  headers.set('Signature', `${label}=:${toBase64(hexToBytes(signature))}:`)
  const signal = init?.signal
  return new Request(absolute, {
    method,
    headers,
    // A redirect would carry the proof to a place it was not made for.
    redirect: 'error',
    ...(body.byteLength > 0 ? { body } : {}),
    ...(signal ? { signal } : {}),
  })
}
