// With a database, an address and an endpoint it sells for real; without them on an embedded chain, with a buyer to try it.
import { createTill, http, type Till } from '@assay/till'
import { testTill } from '@assay/till/testing'

export async function openTill(publicUrl: string): Promise<Till> {
  const { DATABASE_URL, PAY_TO, BASE_RPC_URLS, FACILITATOR_URL, PUBLIC_URL } = process.env
  if (DATABASE_URL === undefined) {
    const kit = await testTill({ publicUrl })
    const buyer = await kit.buyer(fetch)
    // Not on standard output, which belongs to the protocol where a seller speaks MCP over pipes.
    console.error(
      `Pay on ${kit.chain.url} (chain id 8453) with the test key ${buyer.privateKey}, USDC ${kit.chain.usdc}`,
    )
    return kit.till
  }
  return createTill({
    database: DATABASE_URL,
    networks: { base: { payTo: PAY_TO, rpc: BASE_RPC_URLS } },
    facilitator: http(FACILITATOR_URL),
    publicUrl: PUBLIC_URL ?? publicUrl,
  })
}
