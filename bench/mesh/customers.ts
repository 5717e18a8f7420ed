import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { createAssayClient, type PayableNetwork, readDemoNetworks } from '../../packages/sdk/src/index.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'

/** People who ask and buy all the time at nodes that are up; every answer but the right one counts. */
export type Customers = {
  end(): Promise<{ asked: number; bought: number; failures: readonly string[] }>
}

const askEveryMs = 50
const buyEveryMs = 500

export async function sendCustomers(up: () => readonly string[], chain: Devnet): Promise<Customers> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.control.fund(account.address.toLowerCase() as Address, { microUsdc: 1_000_000n, wei: 0n })
  const networks: PayableNetwork[] = (await readDemoNetworks(up()[0] ?? '')).filter(
    ({ network }) => network === 'eip155:8453',
  )
  let stopped = false
  let asked = 0
  let bought = 0
  let turn = 0
  const failures: string[] = []
  const next = () => {
    const origins = up()
    turn += 1
    return origins[turn % origins.length] ?? ''
  }
  const attempt = async (what: string, origin: string, work: () => Promise<boolean>) => {
    const fine = await work().catch((error: unknown) => {
      failures.push(`${what} ${origin}: ${String(error)}`)
      return undefined
    })
    if (fine === false) failures.push(`${what} ${origin}: wrong answer`)
    return fine === true
  }
  const asking = repeat(askEveryMs, async () => {
    const origin = next()
    const fine = await attempt('ask', origin, async () => (await fetch(`${origin}/v1/sandbox/echo`)).status === 402)
    if (fine) asked += 1
  })
  const buying = repeat(buyEveryMs, async () => {
    const origin = next()
    const client = createAssayClient({ account, networks, baseUrl: origin, maxPerCallUsd: '0.01' })
    const fine = await attempt('buy', origin, async () => {
      const { response, payment } = await client.fetch('/v1/sandbox/echo?message=mesh')
      return response.status === 200 && payment.status === 'settled'
    })
    if (fine) bought += 1
  })
  async function repeat(everyMs: number, work: () => Promise<void>) {
    while (!stopped) {
      await work()
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  return {
    end: async () => {
      stopped = true
      await Promise.all([asking, buying])
      return { asked, bought, failures }
    },
  }
}
