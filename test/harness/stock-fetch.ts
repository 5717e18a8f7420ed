import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** An unmodified @x402/fetch with a test wallet; the test dollar is not in its list of known assets. */
export function stockFetch(privateKey: Hex): typeof fetch {
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  })
  registerExactEvmScheme(client, { signer: privateKeyToAccount(privateKey) })
  return wrapFetchWithPayment(fetch, client)
}
