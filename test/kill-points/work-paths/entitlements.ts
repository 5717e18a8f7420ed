import type { PrivateKeyAccount } from 'viem/accounts'
import { requireExactly } from '../../harness/broken.ts'
import { postJson } from '../../harness/post-json.ts'
import type { WorkPath } from '../die-at-work.ts'
import type { JobHarness } from '../job-harness.ts'
import { countOf, creditOf, rowOf, sendSigned } from './support.ts'

const toppedUp = 5_000_000n
const bonded = 1_000_000n

type Info = { balance: string; sign: { nonce: string; issued_at: string; expires_at: string; typed_data: never } }

async function pointsOf(origin: string, wallet: string): Promise<bigint> {
  const info = (await (await fetch(`${origin}/redeem/info?wallet=${wallet}&reward=pull&points=1000`)).json()) as Info
  return BigInt(info.balance)
}

async function signRedemption(origin: string, owner: PrivateKeyAccount) {
  const asked = `${origin}/redeem/info?wallet=${owner.address}&reward=pull&points=1000`
  const { sign } = (await (await fetch(asked)).json()) as Info
  const { nonce, issued_at, expires_at, typed_data } = sign
  const signature = await owner.signTypedData(typed_data)
  return { wallet: owner.address, points: '1000', reward: 'pull', nonce, issued_at, expires_at, signature }
}

async function ownerOfPoints(harness: JobHarness): Promise<PrivateKeyAccount> {
  const owner = await harness.till.newBuyer(10_000_000n)
  for (const n of [1, 2]) await harness.paid(owner, `/test/feed/vip?n=${n}`)
  await harness.untilFinal(owner.address)
  return owner
}

async function redeem(origin: string, body: unknown): Promise<string> {
  const response = await fetch(`${origin}/redeem`, postJson(body))
  const answer = (await response.json()) as { pass?: { token: string } }
  if (response.status !== 200) throw new Error(`redeemed with ${response.status} ${JSON.stringify(answer)}`)
  return answer.pass?.token ?? ''
}

/** Points for a pass: asked for again with the same words, it is the same pass. */
const redemption: WorkPath = {
  name: 'redemption of points',
  variant: 'shops',
  jobs: ['rewards.holds'],
  owe: async (harness) => {
    const owner = await ownerOfPoints(harness)
    const origin = harness.till.node.address
    const before = await pointsOf(origin, owner.address)
    const body = await signRedemption(origin, owner)
    let answered = false
    return {
      ask: async (at) => {
        await redeem(at, body)
        answered = true
      },
      done: async () => answered,
      check: async () => {
        requireExactly('passes', await countOf(harness, 'pass where wallet = $1', [owner.address.toLowerCase()]), 1)
        requireExactly('points taken', before - (await pointsOf(origin, owner.address)), 1_000n)
        if ((await redeem(origin, body)) === '') throw new Error('the pass has no token')
      },
    }
  },
}

/** A call paid with a pass, under its own name. */
const passDraw: WorkPath = {
  name: 'call from a pass',
  variant: 'shops',
  jobs: ['rewards.holds'],
  owe: async (harness) => {
    const owner = await ownerOfPoints(harness)
    const token = await redeem(harness.till.node.address, await signRedemption(harness.till.node.address, owner))
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': `kill-${owner.address}` }
    let answered = false
    return {
      ask: async (origin) => {
        await endHolds(harness)
        await harness.run('rewards.holds')
        const response = await fetch(`${origin}/test/feed/live?n=9`, { headers })
        await response.arrayBuffer()
        if (response.status !== 200) throw new Error(`answered with ${response.status}`)
        answered = true
      },
      done: async () => answered,
      check: async () => {
        const pass = await rowOf<{ used: number }>(harness, 'select used from pass where wallet = $1', [
          owner.address.toLowerCase(),
        ])
        requireExactly('calls used', pass?.used ?? 0, 1)
      },
    }
  },
}

/** Forty seconds pass: what a dead process held for a call is given back by the next round. */
const endHolds = ({ till }: JobHarness) =>
  till.db.owner.query(`update entitled_call set expires_at = now() where state = 'held'`)

/** Credit locked as a bond, asked back, and given back when its time has come. */
const bond: WorkPath = {
  name: 'bond locked and released',
  variant: 'shops',
  jobs: ['bonds.release'],
  owe: async (harness) => {
    const owner = await harness.till.newBuyer(20_000_000n)
    const wallet = owner.address.toLowerCase()
    await harness.paid(owner, '/v1/credit/topup', postJson({ usd: '5' }))
    await harness.untilFinal(owner.address)
    const bondsAt = async (origin: string) =>
      (
        (await (await fetch(`${origin}/v1/credit/${owner.address}/bonds`)).json()) as {
          data: { id: string; state: string }[]
        }
      ).data
    return {
      ask: async (origin) => {
        // Anyone who lost the answer looks before asking again.
        if ((await bondsAt(origin)).length === 0)
          await requireOk(sendSigned(owner, `${origin}/v1/credit/bond`, { usd: '1', days: 1 }))
        const [made] = await bondsAt(origin)
        if (made?.state === 'released') return
        await requireOk(sendSigned(owner, `${origin}/v1/credit/bond/release`, { bond_id: made?.id }))
        await harness.till.db.owner.query(
          `update agent_bond set release_at = now() - interval '1 second' where wallet = $1 and state = 'releasing'`,
          [wallet],
        )
      },
      done: async () => (await countOf(harness, `agent_bond where wallet = $1 and state = 'released'`, [wallet])) > 0,
      check: async () => {
        requireExactly(
          'bonds',
          await countOf(harness, 'agent_bond where wallet = $1 and micro = $2', [wallet, bonded]),
          1,
        )
        requireExactly('credit', await creditOf(harness, wallet), toppedUp)
      },
    }
  },
}

async function requireOk(sent: Promise<{ status: number; body: Record<string, unknown> }>): Promise<void> {
  const { status, body } = await sent
  if (status !== 200) throw new Error(`answered with ${status} ${JSON.stringify(body)}`)
}

export const entitlementPaths: readonly WorkPath[] = [redemption, passDraw, bond]
