import { verifyMessage } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signedHeaders } from '../../packages/node/src/shops/identity/identity.fixture.ts'
import { type SignedRequest, verifySignedRequest } from '../../packages/till/src/proofs/index.ts'
import { createTestDeps } from '../../packages/till/src/proofs/proof-deps.fixture.ts'

const proofs = 1_500
const viemProofs = 300

/** Request-bound proofs checked whole (times, cover, digest, signature, nonce in memory), beside viem's bare signature check. */
export async function measureProofs() {
  const account = privateKeyToAccount(generatePrivateKey())
  const deps = createTestDeps()
  const target = '/v1/agents/did:x402:0x0000000000000000000000000000000000000001/capabilities'
  const body = JSON.stringify({ capabilities: [{ id: 'citation.search' }] })
  const requests: SignedRequest[] = []
  for (let index = 0; index < proofs; index += 1) {
    const createdMs = deps.clock.nowMs()
    const headers = await signedHeaders(account, {
      method: 'PUT',
      target,
      body,
      createdMs,
      nonce: `nonce-${index}-bench`,
    })
    requests.push({
      method: 'PUT',
      authority: 'node.test:4020',
      path: target,
      query: '?',
      headers: new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      rawBody: Buffer.from(body),
    })
  }
  const ours = await perSecond(requests.length, async (index) => {
    await verifySignedRequest(deps, requests[index] as SignedRequest)
  })
  const message = 'x'.repeat(400)
  const signature = await account.signMessage({ message })
  const viem = await perSecond(viemProofs, async () => {
    if (!(await verifyMessage({ address: account.address, message, signature }))) throw new Error('not verified')
  })
  return { ours_per_second: ours, viem_per_second: viem, times_viem: Math.round((ours / viem) * 10) / 10 }
}

/** By CPU time: the machine is shared. */
async function perSecond(count: number, work: (index: number) => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < count; index += 1) await work(index)
  const used = process.cpuUsage(before)
  return Math.round((count * 1e6) / (used.user + used.system))
}
