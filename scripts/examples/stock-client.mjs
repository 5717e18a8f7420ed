import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

/** The stock client with a test wallet; the test dollar is not in its list of known assets. */
export function stockClient(key) {
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  })
  registerExactEvmScheme(client, { signer: privateKeyToAccount(key) })
  return client
}
