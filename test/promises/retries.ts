import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type { PrivateKeyAccount } from 'viem/accounts'
import { signRequest } from '../../packages/sdk/src/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { buy, encodePayload, quote, send, signPayment } from '../harness/till-fixture.ts'
import { tokenBalance } from '../harness/token-balance.ts'
import { together } from '../harness/until.ts'
import { createDice, createFaults, type Dice, type Faults, type Proof } from './proof.ts'
import { openProofNode, type ProofNode, proofPath, proofPriceMicro } from './proof-node.ts'

const perKey = 100
const dayMs = 86_400_000

/** A key sent again and again, half of the connections cut: one effect, the same bytes, 409 for another request. */
export const proveRetries: Proof = async ({ count, say }) => {
  let aheadMs = 0
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
  const proofNode = await openProofNode({ ownShops: 'till', clock })
  try {
    const faults = createFaults()
    const dice = createDice(count)
    const tally = { keys: 0, sent: 0, same: 0, cut: 0, conflicts: 0 }
    const keys = Math.max(2, Math.ceil(count / perKey))
    const kept: (() => Promise<void>)[] = []
    for (let index = 0; index < keys; index += 1) {
      kept.push(await (index % 2 === 0 ? retryPayment : retryDraw)(proofNode, index, { dice, tally, faults }))
      tally.keys += 1
      say(`  ${tally.keys} of ${keys} keys, ${tally.sent} requests`)
    }
    // A day later the same keys still have the same answers.
    aheadMs = 25 * 3_600_000
    say(`  ${aheadMs / dayMs} days later ...`)
    for (const again of kept) await again()
    return {
      seen: `${tally.keys} keys, ${tally.sent} requests, ${tally.cut} cut off: ${tally.same} answers with the same bytes, ${tally.conflicts} conflicts reported, each charged once, kept after 25 hours; ${faults.count()} wrong`,
      faults: faults.all(),
    }
  } finally {
    aheadMs = 0
    await proofNode.till.close()
  }
}

type Trying = {
  dice: Dice
  tally: { sent: number; same: number; cut: number; conflicts: number }
  faults: Faults
}

/** By payment-identifier; every try is its own payment, of which one at most is taken. */
async function retryPayment({ till }: ProofNode, index: number, trying: Trying): Promise<() => Promise<void>> {
  const { faults, tally } = trying
  const buyer = await till.newBuyer()
  const before = await tokenBalance(till.base, buyer.address)
  const url = `${till.node.url}${proofPath}?of=k${index}`
  const offer = await quote(url)
  const identifier = `retried-${index}-${'0'.repeat(16)}`
  const headers = async (validForSeconds = 55) => ({
    'payment-signature': encodePayload(
      await signPayment(buyer, offer, {
        identifier,
        validBefore: BigInt(Math.floor(Date.now() / 1000) + validForSeconds),
      }),
    ),
  })
  const bytes = await retryMany(url, headers, trying)
  const spent = before - (await tokenBalance(till.base, buyer.address))
  if (spent !== proofPriceMicro) faults.note(`key ${index} was charged ${spent}`)
  const other = await buy(buyer, `${till.node.url}${proofPath}?of=other${index}`, { identifier })
  await other.text()
  if (other.status === 409) tally.conflicts += 1
  else faults.note(`key ${index} for another request: ${other.status}`)
  return async () => {
    const response = await send(url, (await headers(25 * 3_600 + 55))['payment-signature'])
    const again = await response.text()
    if (again !== bytes) faults.note(`key ${index} a day later: ${response.status} ${again.slice(0, 100)}`)
  }
}

/** By Idempotency-Key; the calls are drawn from credit. */
async function retryDraw({ till }: ProofNode, index: number, trying: Trying): Promise<() => Promise<void>> {
  const { faults, tally } = trying
  const buyer = await till.newBuyer()
  const topUp = await buy(buyer, `${till.node.url}/v1/credit/topup?usd=1`)
  await topUp.text()
  if (topUp.status !== 200) faults.note(`a top-up was answered with ${topUp.status}`)
  const url = `${till.node.url}/v1/sandbox/echo?message=k${index}`
  const headers = (target = url, aheadMs = 0) => signed(buyer, target, `draw-${index}`, aheadMs)
  const bytes = await retryMany(url, () => headers(), trying)
  const left = await creditOf(till.db.owner, buyer.address)
  if (left !== 1_000_000n - proofPriceMicro) faults.note(`draw ${index} left ${left}`)
  const elsewhere = `${till.node.url}/v1/sandbox/echo?message=other${index}`
  const other = await fetch(elsewhere, { headers: await headers(elsewhere) })
  await other.text()
  if (other.status === 409) tally.conflicts += 1
  else faults.note(`draw ${index} for another request: ${other.status}`)
  return async () => {
    const response = await fetch(url, { headers: await headers(url, 25 * 3_600_000) })
    const again = await response.text()
    if (again !== bytes) faults.note(`draw ${index} a day later: ${response.status} ${again.slice(0, 100)}`)
  }
}

async function signed(account: PrivateKeyAccount, url: string, key: string, aheadMs: number) {
  const request = await signRequest(
    url,
    { headers: { 'idempotency-key': key } },
    { account, cover: ['idempotency-key'], platform: { nowMs: () => Date.now() + aheadMs, randomBytes } },
  )
  return Object.fromEntries(request.headers)
}

async function creditOf(owner: ProofNode['till']['db']['owner'], wallet: string): Promise<bigint> {
  const { rows } = await owner.query<{ micro: bigint }>(
    `select coalesce(-sum(e.amount_micro), 0)::bigint as micro from ledger_entry e
     join ledger_account a on a.id = e.account_id where a.name like $1`,
    [`credit:${wallet.toLowerCase()}@%`],
  )
  return rows[0]?.micro ?? 0n
}

/** Returns the one answer; every other that differs is a fault. */
async function retryMany(url: string, headers: () => Promise<Record<string, string>>, trying: Trying): Promise<string> {
  const { dice, tally, faults } = trying
  let bytes: string | undefined
  await together(perKey, 10, async () => {
    const given = await headers()
    tally.sent += 1
    if (dice.below(2) === 0) {
      tally.cut += 1
      return cutOff(url, given, dice.below(60))
    }
    const response = await fetch(url, { headers: given })
    const body = await response.text()
    if (response.status === 200) {
      bytes ??= body
      if (body === bytes) tally.same += 1
      else faults.note(`${url}: other bytes: ${body.slice(0, 100)}`)
    } else if (![402, 409, 429, 503].includes(response.status)) faults.note(`${url}: ${response.status}`)
  })
  const last = await fetch(url, { headers: await headers() })
  const body = await last.text()
  if (last.status !== 200 || (bytes !== undefined && body !== bytes)) faults.note(`${url} at last: ${last.status}`)
  return bytes ?? body
}

function cutOff(url: string, headers: Record<string, string>, afterMs: number): Promise<void> {
  const { hostname, port, pathname, search, host } = new URL(url)
  const lines = Object.entries({ ...headers, host }).map(([name, value]) => `${name}: ${value}`)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      setTimeout(() => {
        socket.destroy()
        resolve()
      }, afterMs)
    })
    socket.on('error', () => resolve())
  })
}
