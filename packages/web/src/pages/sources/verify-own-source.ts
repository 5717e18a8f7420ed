import { createAssayClient, type Source, verifySource } from '@assay/sdk'
import { privateKeyToAccount } from 'viem/accounts'
import type { NodeIndex } from '../../node/node-index.ts'
import { accountOf } from '../../wallet/account.ts'
import type { Wallet } from '../../wallet/wallet-store.ts'

/** Has the proof looked for. With the payout wallet its statement is signed and sent too. */
export async function verifyOwnSource(index: NodeIndex, wallet: Wallet | undefined, source: Source): Promise<Source> {
  const account = wallet === undefined ? undefined : accountOf(index, wallet)
  // The route is free: a client that may spend nothing cannot be made to pay.
  const client = createAssayClient({
    account: account ?? nobody(),
    baseUrl: index.api_url,
    maxPerCallUsd: '0.000001',
    maxTotalUsd: '0',
  })
  return verifySource(
    client,
    index.api_url,
    source.domain,
    account === undefined ? { wallet: source.claim?.wallet ?? '' } : { account },
  )
}

function nobody() {
  const key = crypto.getRandomValues(new Uint8Array(32))
  return privateKeyToAccount(`0x${Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('')}`)
}
