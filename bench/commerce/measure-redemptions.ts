import * as curve from 'tiny-secp256k1'
import { hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { rewardAccounts } from '../../packages/node/src/shops/rewards/accounts.ts'
import { parseRewardsPolicy, type Reward } from '../../packages/node/src/shops/rewards/policy.ts'
import { createRedeemPoints } from '../../packages/node/src/shops/rewards/redeem-points.ts'
import {
  type RedeemMessage,
  redeemDigest,
  redeemStatement,
} from '../../packages/node/src/shops/rewards/redeem-statement.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type Hex, toHex } from '../../packages/protocol/src/bytes.ts'
import { fromHex, sha256 } from '../../packages/till/src/kernel/bytes.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { credit, debit, owedTo, post } from '../../packages/till/src/ledger/index.ts'
import { checkAccountSignature, statementTypedData } from '../../packages/till/src/proofs/index.ts'
import { createTokenMaker } from '../../packages/till/src/signing/index.ts'
import { openStore } from '../../packages/till/src/store/open-store.ts'
import { allOwners } from '../../packages/till/src/store/testing.ts'

const node = 'http://127.0.0.1:4020'
const payable = 137n
/** Less than any reward costs, so it stays. */
const rest = 999n

/** Many redemptions at once against one balance, on the embedded PostgreSQL with fsync on. */
export async function measureRedemptions(home: string, attempts = 10_000) {
  const store = await openStore({
    home,
    migrations: (await allOwners()).slice(1),
    port: 0,
    clock: systemClock,
    log: silentLog,
    rng: systemRng,
    onProgress: () => {},
    onLockLost: () => {},
  })
  try {
    const { database } = store
    const policy = parseRewardsPolicy()
    const reward = policy.rewards.find(({ id }) => id === 'pull') as Reward
    const tokens = createTokenMaker(systemRng, 'apass')
    const redeem = createRedeemPoints({
      database,
      clock: systemClock,
      ids: createIds(systemClock, systemRng),
      tokens,
      policy,
    })
    const run = async (withSignature: boolean) => {
      const secret = sha256(`redeemer ${withSignature}`)
      const wallet = privateKeyToAccount(toHex(secret)).address.toLowerCase() as Address
      const balance = payable * reward.points + rest
      await post(database, [
        {
          reference: `give:${wallet}:${systemClock.nowMs()}`,
          kind: 'points',
          lines: [debit(rewardAccounts.pointsIssued(), balance), credit(rewardAccounts.points(wallet), balance)],
        },
      ])
      const requests = Array.from({ length: attempts }, () => draft(wallet, reward, withSignature ? secret : undefined))
      const startedMs = performance.now()
      const outcomes = await Promise.all(
        requests.map(async ({ request, message, signature }) => {
          if (signature !== undefined)
            await checkAccountSignature(async () => 'invalid', {
              account: { chainId: 8453, address: wallet },
              digest: redeemDigest(message, node, 8453),
              signature,
            })
          return redeem.redeem(request)
        }),
      )
      const seconds = (performance.now() - startedMs) / 1000
      return {
        attempts,
        per_second: Math.round(attempts / seconds),
        succeeded: outcomes.filter(({ status }) => status === 'redeemed').length,
        expected: Number(payable),
        left: (await owedTo(database, rewardAccounts.points(wallet))).toString(),
        left_expected: rest.toString(),
      }
    }
    return {
      without_signature: { ...(await run(false)), required_per_second: 2_000 },
      with_signature: { ...(await run(true)), required_per_second: 500 },
    }
  } finally {
    await store.stop()
  }
}

function draft(wallet: Address, reward: Reward, secret: Uint8Array | undefined) {
  const nonce = Buffer.from(systemRng.bytes(16)).toString('hex')
  const now = Math.floor(systemClock.nowMs() / 1000)
  const message: RedeemMessage = {
    wallet,
    points: reward.points,
    reward: reward.id,
    nonce,
    issuedAt: now,
    expiresAt: now + 300,
  }
  return {
    request: { nonce, requestHash: sha256(nonce), wallet, points: reward.points, reward },
    message,
    signature: secret && sign(message, secret),
  }
}

/** Signing is the client's work, so it is done before the clock runs, and with a fast curve. */
function sign(message: RedeemMessage, secret: Uint8Array): Hex {
  const digest = fromHex(hashTypedData(statementTypedData(redeemStatement(message), node, 8453) as never))
  const { signature, recoveryId } = curve.signRecoverable(digest, secret)
  return toHex(Buffer.concat([signature, Buffer.from([27 + recoveryId])]))
}
