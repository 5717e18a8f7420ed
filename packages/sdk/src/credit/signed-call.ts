import type { LocalAccount } from 'viem'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'
import { signRequest } from '../sign-request.ts'

type Signing = { node: string; account: Pick<LocalAccount, 'address' | 'signMessage'>; chainId?: number }

/** A free call that the wallet signs (ERC-8128), and its answer. */
export async function signedCall<T>(
  client: AssayClient,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { node, account, chainId }: Signing,
  body?: Record<string, unknown>,
): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const signed = await signRequest(
    new URL(path, node),
    { method, ...sent },
    { account, ...(chainId === undefined ? {} : { chainId }) },
  )
  const headers = Object.fromEntries(signed.headers)
  return readJson<T>(await client.fetch(signed.url, { method, headers, ...(sent.body ? { body: sent.body } : {}) }))
}
